// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QSocketNotifier;

namespace tw::cli {

/// SIGINT, SIGTERM and SIGHUP as signals of the event loop (through a pipe: a handler may do no more than
/// write). A SIGHUP that is ignored already (nohup) stays ignored. One object at a time.
class Interrupts : public QObject
{
    Q_OBJECT
public:
    explicit Interrupts(QObject *parent = nullptr);
    ~Interrupts() override;

Q_SIGNALS:
    void interrupted(); ///< SIGINT
    void terminated();  ///< SIGTERM
    void hungUp();      ///< SIGHUP: the terminal is gone

private:
    void readPipe();

    QSocketNotifier *m_notifier = nullptr;
};

} // namespace tw::cli

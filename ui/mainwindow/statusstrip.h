// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/mainwindow/jobcontroller.h"

#include <QWidget>

class QLabel;
class QProgressBar;

namespace tw {

/// Right side of the status bar: device, memory, job, progress, epoch, images/s, time left.
class StatusStrip : public QWidget
{
    Q_OBJECT
public:
    explicit StatusStrip(QWidget *parent = nullptr);
    void setDevice(const QString &text);
    void showFigures(const RunFigures &figures);

private:
    void showMemory();
    QLabel *addField(const QString &name);

    QLabel *m_job, *m_epoch, *m_rate, *m_left, *m_memory, *m_device;
    QProgressBar *m_progress;
};

} // namespace tw

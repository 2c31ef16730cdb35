// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/options.h"

#include <QObject>
#include <QTimer>

namespace tw {

class MainWindow;

/// Waits until the window has loaded what it shows, writes its picture and leaves the event loop
/// (0, or 1 when the file could not be written).
class WindowGrab : public QObject
{
    Q_OBJECT
public:
    WindowGrab(MainWindow &window, const GuiOptions &options);

private:
    void look();
    void write();

    MainWindow &m_window;
    GuiOptions m_options;
    QTimer m_timer;
    qint64 m_points = -1;
    int m_calm = 0, m_looks = 0;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QDockWidget;

namespace tw {

/// Title bar of a dock: name and a cross, in the theme's colours. Dragging and double click to
/// float are the dock's own.
class DockTitle : public QWidget
{
    Q_OBJECT
public:
    explicit DockTitle(QDockWidget *dock);
};

} // namespace tw

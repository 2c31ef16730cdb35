// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

namespace tw {

class ActionRegistry;

/// Every action with its keys, by group, and the mouse gestures of the canvas.
class ShortcutsDialog : public QDialog
{
    Q_OBJECT
public:
    ShortcutsDialog(const ActionRegistry &actions, QWidget *parent);
};

} // namespace tw

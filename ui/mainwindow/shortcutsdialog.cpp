// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow/shortcutsdialog.h"

#include "ui/common/actionregistry.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace tw {

static QTreeWidgetItem *groupItem(QTreeWidget *tree, const QString &text)
{
    auto *item = new QTreeWidgetItem(tree, {text});
    QFont font = item->font(0);
    font.setBold(true);
    item->setFont(0, font);
    return item;
}

ShortcutsDialog::ShortcutsDialog(const ActionRegistry &actions, QWidget *parent) : QDialog(parent)
{
    setWindowTitle(tr("Keyboard shortcuts"));
    auto *tree = new QTreeWidget;
    tree->setAccessibleName(windowTitle());
    tree->setHeaderLabels({tr("Command"), tr("Keys")});
    tree->setRootIsDecorated(false);
    tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    tree->header()->setStretchLastSection(false);
    tree->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    const std::pair<const char *, QString> groups[] = {{"file", tr("File")}, {"edit", tr("Edit")},
                                                       {"view", tr("View")}, {"theme", tr("Theme")},
                                                       {"run", tr("Run")},   {"help", tr("Help")}};
    for (const auto &[name, title] : groups) {
        QTreeWidgetItem *group = groupItem(tree, title);
        for (const QAction *action : actions.group(QLatin1String(name))) {
            const QString keys = QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText);
            if (!keys.isEmpty())
                new QTreeWidgetItem(group, {plainActionText(action), keys});
        }
        if (group->childCount() == 0)
            delete group;
    }
    QTreeWidgetItem *canvas = groupItem(tree, tr("On the canvas"));
    const std::pair<QString, QString> gestures[] = {
        {tr("Palette at the cursor"), tr("Tab, or double click on empty canvas")},
        {tr("Zoom"), tr("Wheel")},
        {tr("Pan"), tr("Middle button drag, or Space and drag")},
        {tr("Move the selection"), tr("Arrow keys; Shift: farther")},
        {tr("Cancel a drag"), tr("Esc")},
        {tr("Take a wire off an input"), tr("Drag its end away")}};
    for (const auto &[what, how] : gestures)
        new QTreeWidgetItem(canvas, {what, how});
    tree->expandAll();
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto *layout = new QVBoxLayout(this);
    layout->addWidget(tree);
    layout->addWidget(buttons);
    resize(560, 620);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QHash>
#include <QObject>

namespace tw {

/// Describes one action; everything that shows actions reads it.
struct ActionSpec
{
    QString id;   ///< "edit.undo": the part before the dot is the group
    QString text; ///< with mnemonic, translated
    QString icon; ///< resources/icons name, may be empty
    QList<QKeySequence> shortcuts;
    QString help; ///< status tip, translated, may be empty
    bool checkable = false;
};

/// The program's one list of actions: menus, toolbar, context menus, the command list and the
/// shortcut help are all built from it.
class ActionRegistry : public QObject
{
    Q_OBJECT
public:
    explicit ActionRegistry(QWidget *window);
    QAction *add(const ActionSpec &spec);
    /// Never null for an id that was added; asserts otherwise.
    QAction *action(const QString &id) const;
    QList<QAction *> all() const { return m_order; }
    QList<QAction *> group(const QString &name) const;

private:
    QWidget *m_window;
    QHash<QString, QAction *> m_byId;
    QList<QAction *> m_order;
};

/// "Fit the pipeline" without mnemonic and dots.
QString plainActionText(const QAction *action);

} // namespace tw

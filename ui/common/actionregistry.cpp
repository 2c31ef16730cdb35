// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/actionregistry.h"

#include "ui/common/icons.h"

#include <QWidget>

namespace tw {

ActionRegistry::ActionRegistry(QWidget *window) : QObject(window), m_window(window) {}

QAction *ActionRegistry::add(const ActionSpec &spec)
{
    Q_ASSERT(!m_byId.contains(spec.id));
    auto *action = new QAction(themedIcon(spec.icon), spec.text, this);
    action->setObjectName(spec.id);
    QList<QKeySequence> keys = spec.shortcuts;
    keys.removeAll(QKeySequence());
    action->setShortcuts(keys);
    action->setShortcutContext(Qt::WindowShortcut);
    action->setCheckable(spec.checkable);
    action->setStatusTip(spec.help);
    QString tip = plainActionText(action);
    if (!keys.isEmpty())
        tip += QStringLiteral(" (%1)").arg(keys.first().toString(QKeySequence::NativeText));
    action->setToolTip(tip);
    m_window->addAction(action);
    m_byId.insert(spec.id, action);
    m_order.append(action);
    return action;
}

QAction *ActionRegistry::action(const QString &id) const
{
    QAction *found = m_byId.value(id);
    Q_ASSERT_X(found, "ActionRegistry", qPrintable(id));
    return found;
}

QList<QAction *> ActionRegistry::group(const QString &name) const
{
    QList<QAction *> found;
    for (QAction *action : m_order) {
        if (action->objectName().section(u'.', 0, 0) == name)
            found.append(action);
    }
    return found;
}

QString plainActionText(const QAction *action)
{
    QString text = action->text();
    text.replace(QStringLiteral("&&"), QStringLiteral("\x01"));
    text.remove(u'&');
    text.replace(u'\x01', u'&');
    if (text.endsWith(u'…'))
        text.chop(1);
    return text;
}

} // namespace tw

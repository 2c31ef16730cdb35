// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/docktitle.h"

#include "ui/common/icons.h"

#include <QDockWidget>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace tw {

DockTitle::DockTitle(QDockWidget *dock) : QWidget(dock)
{
    setObjectName(QStringLiteral("dockTitle"));
    setAttribute(Qt::WA_StyledBackground);
    auto *label = new QLabel(dock->windowTitle());
    label->setTextFormat(Qt::PlainText);
    QFont bold = label->font();
    bold.setBold(true);
    label->setFont(bold);
    auto *close = new QToolButton;
    close->setIcon(themedIcon(QStringLiteral("close")));
    close->setIconSize(QSize(12, 12));
    close->setAutoRaise(true);
    close->setFocusPolicy(Qt::TabFocus);
    close->setToolTip(tr("Close (it comes back in the View menu)"));
    close->setAccessibleName(tr("Close %1").arg(dock->windowTitle()));
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 4, 6, 4);
    layout->addWidget(label, 1);
    layout->addWidget(close);
    connect(close, &QToolButton::clicked, dock, &QWidget::close);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/infobar.h"

#include "ui/common/icons.h"
#include "ui/common/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

namespace tw {

InfoBar::InfoBar(QWidget *parent) : QFrame(parent), m_text(new QLabel), m_buttons(new QHBoxLayout)
{
    setObjectName(QStringLiteral("infoBar"));
    setAutoFillBackground(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setWordWrap(true);
    auto *close = new QToolButton;
    close->setIcon(themedIcon(QStringLiteral("close")));
    close->setAutoRaise(true);
    close->setIconSize(QSize(14, 14));
    close->setAccessibleName(tr("Close the message"));
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 6, 8, 6);
    layout->setSpacing(8);
    layout->addWidget(m_text, 1);
    layout->addLayout(m_buttons);
    layout->addWidget(close);
    connect(&Theme::instance(), &Theme::changed, this, &InfoBar::paintKind);
    hide();
}

QString InfoBar::message() const
{
    return isHidden() ? QString() : m_text->text();
}

void InfoBar::paintKind()
{
    const ThemeColors &colors = themeColors();
    const QColor accent = m_kind == Kind::Problem   ? colors.bad
                          : m_kind == Kind::Warning ? colors.warning
                                                    : colors.accent;
    const double share = Theme::instance().isDark() ? .22 : .12;
    const auto mix = [share](int over, int under) { return int(over * share + under * (1 - share)); };
    const QColor back(mix(accent.red(), colors.panel.red()), mix(accent.green(), colors.panel.green()),
                      mix(accent.blue(), colors.panel.blue()));
    QPalette palette = this->palette();
    palette.setColor(QPalette::Window, back);
    palette.setColor(QPalette::WindowText, colors.text);
    setPalette(palette);
}

void InfoBar::showMessage(Kind kind, const QString &text, const QList<Choice> &choices)
{
    m_kind = kind;
    m_text->setText(text);
    while (QLayoutItem *item = m_buttons->takeAt(0)) {
        if (item->widget())
            item->widget()->deleteLater();
        delete item;
    }
    for (const Choice &choice : choices) {
        auto *button = new QPushButton(choice.text);
        m_buttons->addWidget(button);
        connect(button, &QPushButton::clicked, this, [this, run = choice.run] {
            hide();
            run();
        });
    }
    paintKind();
    show();
}

} // namespace tw

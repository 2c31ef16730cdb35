// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/parameters/patheditor.h"

#include "ui/common/icons.h"
#include "ui/common/words.h"
#include "ui/parameters/texteditors.h"

#include "core/base/paths.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>

namespace tw {

PathEditor::PathEditor(const ParameterSpec &spec, QWidget *parent)
    : ParameterEditor(spec, parent), m_line(new QLineEdit(this))
{
    auto *button = new QToolButton(this);
    button->setIcon(themedIcon(QStringLiteral("folder")));
    button->setToolTip(tr("Browse…"));
    button->setAccessibleName(tr("Browse for %1").arg(parameterWord(spec.label)));
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(m_line);
    layout->addWidget(button);
    if (spec.automatic)
        m_line->setPlaceholderText(parameterWord(spec.automaticLabel));
    connect(m_line, &QLineEdit::textEdited, this, &PathEditor::submitText);
    if (spec.directory) {
        connect(button, &QToolButton::clicked, this, [this] { browse(true); });
        return;
    }
    auto *menu = new QMenu(button);
    menu->addAction(tr("Choose a file…"), this, [this] { browse(false); });
    menu->addAction(tr("Choose a folder…"), this, [this] { browse(true); });
    button->setMenu(menu);
    button->setPopupMode(QToolButton::InstantPopup);
}

QWidget *PathEditor::field() const
{
    return m_line;
}

void PathEditor::setValue(const QVariant &value)
{
    const QString text = displayPath(pathFromBytes(value.toByteArray()));
    if (m_line->text() != text
        && !(m_line->hasFocus() && pathFromText(m_line->text()) == pathFromBytes(value.toByteArray())))
        m_line->setText(text);
    m_line->setToolTip(plainTooltip(text));
}

void PathEditor::setMixed()
{
    m_line->clear();
    m_line->setPlaceholderText(tr("different values"));
}

void PathEditor::setInvalidMark(bool invalid)
{
    markInvalid(m_line, invalid);
}

void PathEditor::browse(bool folder)
{
    const QString title = parameterWord(spec().label);
    const QString chosen = folder ? QFileDialog::getExistingDirectory(window(), title, m_line->text())
                                  : QFileDialog::getOpenFileName(window(), title, m_line->text());
    if (chosen.isEmpty())
        return;
    m_line->setText(chosen);
    submitText(chosen);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/parameters/parameterrow.h"

#include "ui/common/icons.h"
#include "ui/common/theme.h"
#include "ui/common/words.h"

#include <QContextMenuEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>

namespace tw {

static QLabel *noteLabel(QWidget *parent)
{
    auto *label = new QLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->hide();
    QFont font = label->font();
    font.setPointSizeF(font.pointSizeF() * .92);
    label->setFont(font);
    return label;
}

static QToolButton *smallButton(const QString &icon, QWidget *parent)
{
    auto *button = new QToolButton(parent);
    button->setIcon(themedIcon(icon));
    button->setAutoRaise(true);
    button->setIconSize(QSize(14, 14));
    QSizePolicy keepsPlace = button->sizePolicy();
    keepsPlace.setRetainSizeWhenHidden(true);
    button->setSizePolicy(keepsPlace);
    button->hide();
    return button;
}

ParameterRow::ParameterRow(const ParameterSpec &spec, QWidget *parent)
    : QWidget(parent), m_editor(makeParameterEditor(spec, this)), m_label(new QLabel(this)), m_fault(noteLabel(this)),
      m_note(noteLabel(this)), m_help(noteLabel(this)), m_reset(smallButton(QStringLiteral("reset"), this)),
      m_more(smallButton(QStringLiteral("more"), this))
{
    setObjectName(QStringLiteral("row.") + spec.id);
    m_label->setTextFormat(Qt::PlainText);
    m_label->setWordWrap(true);
    m_label->setText(parameterWord(spec.label));
    m_label->setBuddy(m_editor->field());
    const QString range = spec.rangeText();
    m_help->setText(parameterWord(spec.help) + (range.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(range)));
    m_note->setObjectName(QStringLiteral("note.") + spec.id);
    m_fault->setObjectName(QStringLiteral("fault.") + spec.id);
    m_label->setToolTip(plainTooltip(m_help->text().trimmed()));
    m_reset->setFocusPolicy(Qt::TabFocus);
    m_reset->setObjectName(QStringLiteral("reset.") + spec.id);
    m_reset->setAccessibleName(tr("Reset %1").arg(parameterWord(spec.label)));
    m_reset->setToolTip(plainTooltip(tr("Changed. Back to the default: %1")
                                         .arg(spec.defaultValue.isValid() ? spec.toText(spec.defaultValue)
                                              : spec.automatic            ? parameterWord(spec.automaticLabel)
                                                                          : tr("empty"))));
    m_more->setFocusPolicy(Qt::NoFocus);
    m_more->setObjectName(QStringLiteral("more.") + spec.id);
    m_more->setAccessibleName(tr("More for %1").arg(parameterWord(spec.label)));
    layOut(spec);
    connectAll();
    setPipelineParameter({});
}

void ParameterRow::layOut(const ParameterSpec &spec)
{
    auto *layout = new QGridLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setHorizontalSpacing(6);
    layout->setVerticalSpacing(2);
    layout->addWidget(m_label, 0, 0);
    auto *cell = new QHBoxLayout;
    cell->setSpacing(6);
    cell->addWidget(m_editor, 1);
    if (!spec.unit.isEmpty()) {
        auto *unit = new QLabel(parameterWord(spec.unit), this);
        unit->setTextFormat(Qt::PlainText);
        cell->addWidget(unit);
    }
    layout->addLayout(cell, 0, 1);
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(0);
    buttons->addWidget(m_reset);
    buttons->addWidget(m_more);
    layout->addLayout(buttons, 0, 2);
    layout->addWidget(m_fault, 1, 0, 1, 3);
    layout->addWidget(m_note, 2, 0, 1, 3);
    layout->addWidget(m_help, 3, 0, 1, 3);
    // The label's text has no say in the width, so that the fields of all rows begin on one line.
    m_label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    layout->setColumnMinimumWidth(0, 96);
    layout->setColumnStretch(0, 2);
    layout->setColumnStretch(1, 3);
}

void ParameterRow::connectAll()
{
    m_editor->field()->installEventFilter(this);
    connect(m_editor, &ParameterEditor::edited, this, [this](const QVariant &value) {
        m_refusal.reset();
        showFault();
        const bool typing = this->spec().kind != ParameterKind::Bool && this->spec().kind != ParameterKind::Choice;
        Q_EMIT edited(value, m_freshFocus || !typing);
        m_freshFocus = false;
    });
    connect(m_editor, &ParameterEditor::refused, this, [this](const Error &reason) {
        m_refusal = reason;
        showFault();
    });
    connect(m_reset, &QToolButton::clicked, this, &ParameterRow::resetValue);
    connect(m_more, &QToolButton::clicked, this,
            [this] { showMenu(m_more->mapToGlobal(m_more->rect().bottomLeft())); });
}

void ParameterRow::resetValue()
{
    const QList<QVariant> shown = m_values;
    m_refusal.reset();
    m_values.clear();
    setValues(shown);
    Q_EMIT resetRequested();
}

void ParameterRow::setPipelineParameter(const QString &id)
{
    m_pipelineParameter = id;
    m_more->setIcon(themedIcon(id.isEmpty() ? QStringLiteral("more") : QStringLiteral("asked")));
    m_more->setToolTip(plainTooltip(id.isEmpty() ? tr("More (Alt+Return in the field)")
                                                 : tr("Pipeline parameter %1: asked for at every run").arg(id)));
    updateMore(underMouse());
}

void ParameterRow::updateMore(bool wanted)
{
    m_more->setVisible(wanted || !m_pipelineParameter.isEmpty() || m_editor->field()->hasFocus());
}

void ParameterRow::showMenu(const QPoint &globalPosition)
{
    auto *menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("rowMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QAction *ask = menu->addAction(tr("Ask at every run"));
    ask->setCheckable(true);
    ask->setChecked(!m_pipelineParameter.isEmpty());
    ask->setObjectName(QStringLiteral("askAtRun"));
    connect(ask, &QAction::triggered, this, &ParameterRow::askAtRunRequested);
    QAction *reset = menu->addAction(tr("Reset to the default"));
    reset->setEnabled(m_modified || m_refusal);
    connect(reset, &QAction::triggered, this, &ParameterRow::resetValue);
    menu->addSeparator();
    QAction *copy = menu->addAction(tr("Copy as a command-line setting"));
    copy->setObjectName(QStringLiteral("copyAsSetting"));
    connect(copy, &QAction::triggered, this, &ParameterRow::copyAsSettingRequested);
    menu->popup(globalPosition);
}

void ParameterRow::contextMenuEvent(QContextMenuEvent *event)
{
    showMenu(event->globalPos());
}

void ParameterRow::enterEvent(QEnterEvent *)
{
    updateMore(true);
}

void ParameterRow::leaveEvent(QEvent *)
{
    updateMore(false);
}

void ParameterRow::setValues(const QList<QVariant> &values)
{
    // A text that is no value stays until it is corrected, reset or the value changes elsewhere.
    if (m_refusal && values == m_values)
        return;
    m_values = values;
    const bool same = std::all_of(values.begin(), values.end(), [&](const QVariant &v) { return v == values.first(); });
    if (same && !values.isEmpty())
        m_editor->setValue(values.first());
    else
        m_editor->setMixed();
    m_refusal.reset();
    showFault();
}

void ParameterRow::setModified(bool modified)
{
    m_modified = modified;
    m_reset->setVisible(m_modified || m_refusal);
    QFont font = m_label->font();
    font.setBold(modified);
    m_label->setFont(font);
}

void ParameterRow::setFault(const std::optional<Error> &fault)
{
    m_storedFault = fault;
    showFault();
}

void ParameterRow::setNote(const QString &text)
{
    QPalette palette = m_note->palette();
    palette.setColor(QPalette::WindowText, themeColors().mutedText);
    m_note->setPalette(palette);
    m_note->setText(text);
    m_note->setVisible(!text.isEmpty());
}

QString ParameterRow::shownNote() const
{
    return m_note->isHidden() ? QString() : m_note->text();
}

QString ParameterRow::shownFault() const
{
    return m_fault->isHidden() ? QString() : m_fault->text();
}

void ParameterRow::showFault()
{
    const std::optional<Error> &fault = m_refusal ? m_refusal : m_storedFault;
    m_editor->setInvalidMark(fault.has_value());
    m_fault->setVisible(fault.has_value());
    m_reset->setVisible(m_modified || m_refusal);
    if (!fault) {
        m_editor->field()->setAccessibleDescription(parameterWord(spec().help));
        return;
    }
    QPalette palette = m_fault->palette();
    palette.setColor(QPalette::WindowText, themeColors().bad);
    m_fault->setPalette(palette);
    m_fault->setText(errorText(*fault));
    m_fault->setToolTip(plainTooltip(errorTooltip(*fault)));
    m_editor->field()->setAccessibleDescription(errorText(*fault));
}

bool ParameterRow::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::FocusIn) {
        m_freshFocus = true;
        QPalette palette = m_help->palette();
        palette.setColor(QPalette::WindowText, themeColors().mutedText);
        m_help->setPalette(palette);
        m_help->setVisible(!m_help->text().trimmed().isEmpty());
        m_more->show();
    } else if (event->type() == QEvent::FocusOut) {
        m_help->hide();
        updateMore(underMouse());
    } else if (event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        if (key->modifiers() == Qt::AltModifier && (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter)) {
            showMenu(m_more->mapToGlobal(m_more->rect().bottomLeft()));
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace tw

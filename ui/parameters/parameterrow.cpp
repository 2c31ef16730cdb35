// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/parameters/parameterrow.h"

#include "ui/common/icons.h"
#include "ui/common/theme.h"
#include "ui/common/words.h"

#include <QEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
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

ParameterRow::ParameterRow(const ParameterSpec &spec, QWidget *parent)
    : QWidget(parent), m_editor(makeParameterEditor(spec, this)), m_label(new QLabel(this)), m_fault(noteLabel(this)),
      m_help(noteLabel(this)), m_reset(new QToolButton(this))
{
    setObjectName(QStringLiteral("row.") + spec.id);
    m_label->setTextFormat(Qt::PlainText);
    m_label->setWordWrap(true);
    m_label->setText(parameterWord(spec.label));
    m_label->setBuddy(m_editor->field());
    const QString range = spec.rangeText();
    m_help->setText(parameterWord(spec.help) + (range.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(range)));
    m_fault->setObjectName(QStringLiteral("fault.") + spec.id);
    m_label->setToolTip(plainTooltip(m_help->text().trimmed()));
    m_reset->setIcon(themedIcon(QStringLiteral("reset")));
    m_reset->setAutoRaise(true);
    m_reset->setIconSize(QSize(14, 14));
    m_reset->setFocusPolicy(Qt::TabFocus);
    m_reset->setObjectName(QStringLiteral("reset.") + spec.id);
    m_reset->setAccessibleName(tr("Reset %1").arg(parameterWord(spec.label)));
    m_reset->setToolTip(plainTooltip(tr("Changed. Back to the default: %1")
                                         .arg(spec.defaultValue.isValid() ? spec.toText(spec.defaultValue)
                                              : spec.automatic            ? parameterWord(spec.automaticLabel)
                                                                          : tr("empty"))));
    QSizePolicy keepsPlace = m_reset->sizePolicy();
    keepsPlace.setRetainSizeWhenHidden(true);
    m_reset->setSizePolicy(keepsPlace);
    m_reset->hide();

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
    layout->addWidget(m_reset, 0, 2);
    layout->addWidget(m_fault, 1, 0, 1, 3);
    layout->addWidget(m_help, 2, 0, 1, 3);
    // The label's text has no say in the width, so that the fields of all rows begin on one line.
    m_label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    layout->setColumnMinimumWidth(0, 96);
    layout->setColumnStretch(0, 2);
    layout->setColumnStretch(1, 3);
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
    connect(m_reset, &QToolButton::clicked, this, [this] {
        const QList<QVariant> shown = m_values;
        m_refusal.reset();
        m_values.clear();
        setValues(shown);
        Q_EMIT resetRequested();
    });
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
    } else if (event->type() == QEvent::FocusOut) {
        m_help->hide();
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace tw

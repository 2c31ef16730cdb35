// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/parameters/texteditors.h"

#include "ui/common/words.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QStyle>

namespace tw {

void markInvalid(QWidget *field, bool invalid)
{
    if (field->property("invalid").toBool() == invalid)
        return;
    field->setProperty("invalid", invalid);
    field->style()->unpolish(field);
    field->style()->polish(field);
}

/// Text that the person is writing is never rewritten under the cursor.
static void showText(QLineEdit *line, const QString &text)
{
    if (line->text() != text)
        line->setText(text);
    if (!line->hasFocus())
        line->setCursorPosition(0);
}

LineEditor::LineEditor(const ParameterSpec &spec, QWidget *parent)
    : ParameterEditor(spec, parent), m_line(new QLineEdit(this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_line);
    m_line->installEventFilter(this);
    if (spec.automatic)
        m_line->setPlaceholderText(parameterWord(spec.automaticLabel));
    connect(m_line, &QLineEdit::textEdited, this, &LineEditor::submitText);
}

QWidget *LineEditor::field() const
{
    return m_line;
}

void LineEditor::setValue(const QVariant &value)
{
    if (m_line->hasFocus()) {
        const QString typed = spec().kind == ParameterKind::Float
                                  ? withDecimalPoint(m_line->text().trimmed(), QLocale().decimalPoint().at(0))
                                  : m_line->text();
        const Result<QVariant> now = spec().fromText(typed);
        if (now && *now == value)
            return;
    }
    m_line->setPlaceholderText(spec().automatic ? parameterWord(spec().automaticLabel) : QString());
    showText(m_line, value.isValid() ? spec().toText(value) : QString());
}

void LineEditor::setMixed()
{
    showText(m_line, {});
    m_line->setPlaceholderText(tr("different values"));
}

void LineEditor::setInvalidMark(bool invalid)
{
    markInvalid(m_line, invalid);
}

bool LineEditor::eventFilter(QObject *watched, QEvent *event)
{
    if (spec().kind == ParameterKind::Int && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        bool isNumber = false;
        const qlonglong now = m_line->text().toLongLong(&isNumber);
        if (isNumber && (key == Qt::Key_Up || key == Qt::Key_Down)) {
            m_line->setText(QString::number(now + (key == Qt::Key_Up ? 1 : -1)));
            submitText(m_line->text());
            return true;
        }
    }
    return ParameterEditor::eventFilter(watched, event);
}

BoolEditor::BoolEditor(const ParameterSpec &spec, QWidget *parent)
    : ParameterEditor(spec, parent), m_box(new QCheckBox(this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_box);
    layout->addStretch();
    connect(m_box, &QCheckBox::clicked, this, [this](bool checked) {
        m_box->setTristate(false);
        Q_EMIT edited(checked);
    });
}

QWidget *BoolEditor::field() const
{
    return m_box;
}

void BoolEditor::setValue(const QVariant &value)
{
    m_box->setTristate(false);
    m_box->setChecked(value.toBool());
}

void BoolEditor::setMixed()
{
    m_box->setTristate(true);
    m_box->setCheckState(Qt::PartiallyChecked);
}

RangeEditor::RangeEditor(const ParameterSpec &spec, QWidget *parent)
    : ParameterEditor(spec, parent), m_low(new QLineEdit(this)), m_high(new QLineEdit(this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(m_low);
    layout->addWidget(new QLabel(QStringLiteral("–"), this));
    layout->addWidget(m_high);
    m_high->setAccessibleName(tr("%1, upper end").arg(parameterWord(spec.label)));
    m_high->setObjectName(QStringLiteral("editor.%1.high").arg(spec.id));
    connect(m_low, &QLineEdit::textEdited, this, &RangeEditor::submit);
    connect(m_high, &QLineEdit::textEdited, this, &RangeEditor::submit);
}

QWidget *RangeEditor::field() const
{
    return m_low;
}

void RangeEditor::submit()
{
    const QChar decimal = QLocale().decimalPoint().at(0);
    const QString low = withDecimalPoint(m_low->text().trimmed(), decimal);
    const QString high = withDecimalPoint(m_high->text().trimmed(), decimal);
    submitText(low + u',' + high);
}

void RangeEditor::setValue(const QVariant &value)
{
    if (m_low->hasFocus() || m_high->hasFocus()) {
        const Result<QVariant> now = spec().fromText(m_low->text() + u',' + m_high->text());
        if (now && *now == value)
            return;
    }
    const QVariantList ends = value.toList();
    const ParameterSpec number = ParameterSpec::real("end", "", std::nullopt);
    showText(m_low, ends.size() == 2 ? number.toText(ends[0]) : QString());
    showText(m_high, ends.size() == 2 ? number.toText(ends[1]) : QString());
}

void RangeEditor::setMixed()
{
    for (QLineEdit *line : {m_low, m_high}) {
        showText(line, {});
        line->setPlaceholderText(tr("different"));
    }
}

void RangeEditor::setInvalidMark(bool invalid)
{
    markInvalid(m_low, invalid);
    markInvalid(m_high, invalid);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/parameters/parametereditor.h"

#include "ui/common/words.h"
#include "ui/parameters/choiceeditor.h"
#include "ui/parameters/patheditor.h"
#include "ui/parameters/texteditors.h"

#include <QLocale>

namespace tw {

ParameterEditor::ParameterEditor(const ParameterSpec &spec, QWidget *parent) : QWidget(parent), m_spec(spec) {}

QString withDecimalPoint(const QString &text, QChar decimalSign)
{
    if (decimalSign != u',' || text.count(u',') != 1 || text.contains(u'.'))
        return text;
    QString changed = text;
    return changed.replace(u',', u'.');
}

void ParameterEditor::submitText(const QString &text)
{
    const bool isNumber = m_spec.kind == ParameterKind::Float;
    const QString decimal = QLocale().decimalPoint();
    const Result<QVariant> value =
        m_spec.fromText(isNumber ? withDecimalPoint(text.trimmed(), decimal.isEmpty() ? u'.' : decimal.at(0)) : text);
    if (value)
        Q_EMIT edited(*value);
    else
        Q_EMIT refused(value.error());
}

ParameterEditor *makeParameterEditor(const ParameterSpec &spec, QWidget *parent)
{
    ParameterEditor *editor = nullptr;
    switch (spec.kind) {
    case ParameterKind::Bool:
        editor = new BoolEditor(spec, parent);
        break;
    case ParameterKind::Choice:
        editor = new ChoiceEditor(spec, parent);
        break;
    case ParameterKind::Path:
        editor = new PathEditor(spec, parent);
        break;
    case ParameterKind::FloatRange:
        editor = new RangeEditor(spec, parent);
        break;
    case ParameterKind::Int:
    case ParameterKind::Float:
    case ParameterKind::Text:
    case ParameterKind::IntList:
        editor = new LineEditor(spec, parent);
        break;
    }
    editor->field()->setObjectName(QStringLiteral("editor.") + spec.id);
    editor->field()->setAccessibleName(parameterWord(spec.label));
    editor->field()->setAccessibleDescription(parameterWord(spec.help));
    return editor;
}

} // namespace tw

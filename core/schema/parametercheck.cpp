// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schema/parametertext.h"

#include <cmath>
#include <limits>

namespace tw {

static Error emptyValue(const ParameterSpec &spec)
{
    return makeError(errors::NullOrEmpty, QT_TRANSLATE_NOOP("Error", "Parameter '%1' is empty."),
                     {spec.id, spec.rangeText()},
                     spec.kind == ParameterKind::Path ? QT_TRANSLATE_NOOP("Error", "Choose a file or folder for '%1'.")
                                                      : QT_TRANSLATE_NOOP("Error", "Give '%1' a value: %2."))
        .atParameter(spec.id);
}

static const char *boundsErrorName(const ParameterSpec &spec)
{
    if (spec.minimum && !spec.maximum)
        return spec.minimum->exclusive ? errors::GreaterThan : errors::GreaterThanOrEqualTo;
    if (spec.maximum && !spec.minimum && !spec.maximum->exclusive)
        return errors::LessThanOrEqualTo;
    return errors::NotInRangeValue;
}

static Result<void> checkBounds(const ParameterSpec &spec, double number, const QString &shown)
{
    const bool tooSmall =
        spec.minimum && (spec.minimum->exclusive ? number <= spec.minimum->value : number < spec.minimum->value);
    const bool tooLarge =
        spec.maximum && (spec.maximum->exclusive ? number >= spec.maximum->value : number > spec.maximum->value);
    if (!tooSmall && !tooLarge)
        return {};
    return makeError(boundsErrorName(spec), QT_TRANSLATE_NOOP("Error", "Parameter '%1' is %2; it must be %3."),
                     {spec.id, shown, boundsText(spec)}, QT_TRANSLATE_NOOP("Error", "Give '%1' a value that is %3."))
        .atParameter(spec.id);
}

static bool isNumber(const QVariant &value)
{
    switch (value.typeId()) {
    case QMetaType::Double:
    case QMetaType::Float:
    case QMetaType::Int:
    case QMetaType::UInt:
    case QMetaType::LongLong:
    case QMetaType::ULongLong:
        return true;
    default:
        return false;
    }
}

static std::optional<qlonglong> wholeNumber(const QVariant &value)
{
    if (!isNumber(value))
        return std::nullopt;
    if (value.typeId() == QMetaType::ULongLong
        && value.toULongLong() > qulonglong(std::numeric_limits<qlonglong>::max()))
        return std::nullopt;
    if (value.typeId() != QMetaType::Double && value.typeId() != QMetaType::Float)
        return value.toLongLong();
    const double number = value.toDouble();
    constexpr double limit = 9223372036854775808.0; // 2^63
    const bool fits = std::isfinite(number) && number == std::floor(number) && number >= -limit && number < limit;
    return fits ? std::optional(static_cast<qlonglong>(number)) : std::nullopt;
}

static Result<QVariant> checkInteger(const ParameterSpec &spec, const QVariant &value)
{
    const auto number = wholeNumber(value);
    if (!number)
        return wrongKind(spec, valueText(value));
    TW_TRY(checkBounds(spec, static_cast<double>(*number), QString::number(*number)));
    return QVariant(*number);
}

static Result<QVariant> checkReal(const ParameterSpec &spec, const QVariant &value)
{
    if (!isNumber(value) || !std::isfinite(value.toDouble()))
        return wrongKind(spec, valueText(value));
    TW_TRY(checkBounds(spec, value.toDouble(), numberText(value.toDouble())));
    return QVariant(value.toDouble());
}

static Result<QVariant> checkChoice(const ParameterSpec &spec, const QVariant &value)
{
    if (value.typeId() != QMetaType::QString)
        return wrongKind(spec, valueText(value));
    const QString text = value.toString();
    QList<ParameterChoice> choices = spec.choices;
    for (const ParameterChoice &choice : choices) {
        if (choice.id == text)
            return value;
    }
    if (spec.machineChoices)
        choices += spec.machineChoices();
    for (const ParameterChoice &choice : choices) {
        const bool label = choice.label.compare(text, Qt::CaseInsensitive) == 0;
        if (label || choice.id.compare(text, Qt::CaseInsensitive) == 0)
            return QVariant(choice.id);
    }
    if (spec.machineChoices)
        return value;
    return wrongKind(spec, valueText(value), QT_TRANSLATE_NOOP("Error", "Take one of the listed values."));
}

static Result<QVariant> checkPath(const ParameterSpec &spec, const QVariant &value)
{
    const bool text = value.typeId() == QMetaType::QString;
    const QByteArray bytes = text ? value.toString().toUtf8() : value.toByteArray();
    if ((!text && value.typeId() != QMetaType::QByteArray) || bytes.contains('\0'))
        return wrongKind(spec, valueText(value));
    return QVariant(bytes);
}

static std::optional<QVariantList> listOf(const QVariant &value)
{
    switch (value.typeId()) {
    case QMetaType::QString:
    case QMetaType::QByteArray:
    case QMetaType::QVariantMap:
    case QMetaType::QVariantHash:
        return std::nullopt;
    default:
        return value.canConvert<QVariantList>() ? std::optional(value.toList()) : std::nullopt;
    }
}

static Result<QVariant> checkIntegers(const ParameterSpec &spec, const QVariant &value)
{
    const auto items = listOf(value);
    if (!items)
        return wrongKind(spec, valueText(value));
    QVariantList checked;
    for (const QVariant &item : *items) {
        const auto number = wholeNumber(item);
        if (!number)
            return wrongKind(spec, valueText(value));
        TW_TRY(checkBounds(spec, static_cast<double>(*number), QString::number(*number)));
        checked.append(*number);
    }
    return QVariant(checked);
}

static Result<QVariant> checkRange(const ParameterSpec &spec, const QVariant &value)
{
    const auto items = listOf(value);
    if (!items || items->size() != 2)
        return wrongKind(spec, valueText(value));
    QVariantList checked;
    for (const QVariant &item : *items) {
        TW_ASSIGN(number, checkReal(spec, item));
        checked.append(number);
    }
    if (checked[0].toDouble() > checked[1].toDouble()) {
        return makeError(errors::LessThanOrEqualTo,
                         QT_TRANSLATE_NOOP("Error", "The lower end %2 of parameter '%1' is above its upper end %3."),
                         {spec.id, valueText(checked[0]), valueText(checked[1])},
                         QT_TRANSLATE_NOOP("Error", "Give the smaller number first."))
            .atParameter(spec.id);
    }
    return QVariant(checked);
}

static bool isEmptyValue(const ParameterSpec &spec, const QVariant &value)
{
    if (!value.isValid())
        return true;
    switch (spec.kind) {
    case ParameterKind::Text:
    case ParameterKind::Choice:
        return value.typeId() == QMetaType::QString && value.toString().isEmpty();
    case ParameterKind::Path:
        return (value.typeId() == QMetaType::QString || value.typeId() == QMetaType::QByteArray)
               && value.toByteArray().isEmpty();
    case ParameterKind::IntList: {
        const auto items = listOf(value);
        return items && items->isEmpty();
    }
    default:
        return false;
    }
}

static Result<QVariant> checkEmpty(const ParameterSpec &spec)
{
    if (spec.automatic)
        return QVariant();
    if (!spec.required && spec.kind == ParameterKind::Text)
        return QVariant(QString::fromLatin1(""));
    if (!spec.required && spec.kind == ParameterKind::Path)
        return QVariant(QByteArray(""));
    return emptyValue(spec);
}

Result<QVariant> ParameterSpec::check(const QVariant &value) const
{
    if (isEmptyValue(*this, value))
        return checkEmpty(*this);
    switch (kind) {
    case ParameterKind::Int:
        return checkInteger(*this, value);
    case ParameterKind::Float:
        return checkReal(*this, value);
    case ParameterKind::Choice:
        return checkChoice(*this, value);
    case ParameterKind::Path:
        return checkPath(*this, value);
    case ParameterKind::IntList:
        return checkIntegers(*this, value);
    case ParameterKind::FloatRange:
        return checkRange(*this, value);
    case ParameterKind::Bool:
        if (value.typeId() == QMetaType::Bool)
            return value;
        break;
    case ParameterKind::Text:
        if (value.typeId() == QMetaType::QString)
            return value;
        break;
    }
    return wrongKind(*this, valueText(value));
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schema/parametertext.h"

#include "core/base/json.h"
#include "core/base/paths.h"

#include <QJsonArray>
#include <QJsonObject>

#include <cmath>

namespace tw {

QString numberText(double value)
{
    return std::isfinite(value) ? QString::fromLatin1(jsonNumber(value))
                                : QString::fromLatin1(jsonNumber(value)).remove(u'"');
}

QString boundsText(const ParameterSpec &spec)
{
    if (spec.minimum && spec.maximum) {
        return QStringLiteral("in %1%2, %3%4")
            .arg(spec.minimum->exclusive ? QStringLiteral("(") : QStringLiteral("["), numberText(spec.minimum->value),
                 numberText(spec.maximum->value), spec.maximum->exclusive ? QStringLiteral(")") : QStringLiteral("]"));
    }
    if (spec.minimum)
        return (spec.minimum->exclusive ? QStringLiteral("> ") : QStringLiteral("≥ "))
               + numberText(spec.minimum->value);
    if (spec.maximum)
        return (spec.maximum->exclusive ? QStringLiteral("< ") : QStringLiteral("≤ "))
               + numberText(spec.maximum->value);
    return {};
}

QString valueText(const QVariant &value)
{
    if (!value.isValid())
        return QStringLiteral("empty");
    switch (value.typeId()) {
    case QMetaType::Double:
    case QMetaType::Float:
        return numberText(value.toDouble());
    case QMetaType::Bool:
        return value.toBool() ? QStringLiteral("true") : QStringLiteral("false");
    case QMetaType::QString:
        return u'\'' + value.toString() + u'\'';
    case QMetaType::QByteArray:
        return u'\'' + QString::fromUtf8(value.toByteArray()) + u'\'';
    case QMetaType::QVariantList: {
        QStringList items;
        for (const QVariant &item : value.toList())
            items.append(valueText(item));
        return u'[' + items.join(QStringLiteral(", ")) + u']';
    }
    case QMetaType::QVariantMap:
        return QStringLiteral("{…}");
    default:
        return value.canConvert<QString>() ? value.toString() : QString::fromLatin1(value.typeName());
    }
}

static QString choiceIds(const ParameterSpec &spec)
{
    QStringList ids;
    for (const ParameterChoice &choice : spec.choices)
        ids.append(choice.id);
    return ids.join(QStringLiteral(", "));
}

static QString kindText(const ParameterSpec &spec)
{
    switch (spec.kind) {
    case ParameterKind::Int:
        return QStringLiteral("integer");
    case ParameterKind::Float:
        return QStringLiteral("number");
    case ParameterKind::Bool:
        return QStringLiteral("true or false");
    case ParameterKind::Choice:
        return spec.machineChoices ? QStringLiteral("%1, or another one of this machine").arg(choiceIds(spec))
                                   : QStringLiteral("one of %1").arg(choiceIds(spec));
    case ParameterKind::Text:
        return QStringLiteral("text");
    case ParameterKind::Path:
        return spec.directory ? QStringLiteral("folder") : QStringLiteral("path");
    case ParameterKind::IntList:
        return QStringLiteral("list of integers");
    case ParameterKind::FloatRange:
        return QStringLiteral("two numbers low,high");
    }
    return {};
}

QString ParameterSpec::rangeText() const
{
    QString out = kindText(*this);
    if (const QString bounds = boundsText(*this); !bounds.isEmpty())
        out += u' ' + bounds;
    if (automatic)
        out += automaticLabel.isEmpty() ? QStringLiteral(", or empty")
                                        : QStringLiteral(", or empty (%1)").arg(automaticLabel);
    return out;
}

Error wrongKind(const ParameterSpec &spec, const QString &shownValue, const char *hint)
{
    return makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "Parameter '%1' is %2; it takes: %3."),
                     {spec.id, shownValue, spec.rangeText()},
                     *hint != '\0' ? hint : QT_TRANSLATE_NOOP("Error", "Give '%1' such a value."))
        .atParameter(spec.id);
}

static QVariant variantFromJson(const ParameterSpec &spec, const QJsonValue &json)
{
    if (json.isNull() || json.isUndefined())
        return {};
    if (spec.kind == ParameterKind::Path && (json.isString() || json.isObject())) {
        const QByteArray path = bytesFromPath(pathFromJson(json));
        return path.isEmpty() && json.isObject() ? json.toVariant() : QVariant(path);
    }
    return json.toVariant();
}

Result<QVariant> ParameterSpec::fromJson(const QJsonValue &json) const
{
    return check(variantFromJson(*this, json));
}

QJsonValue ParameterSpec::toJson(const QVariant &value) const
{
    if (!value.isValid())
        return QJsonValue::Null;
    if (kind == ParameterKind::Path)
        return pathToJson(pathFromBytes(value.toByteArray()));
    return QJsonValue::fromVariant(value);
}

static Result<QVariant> integerFromText(const ParameterSpec &spec, const QString &text)
{
    bool ok = false;
    if (const qlonglong whole = text.toLongLong(&ok); ok)
        return QVariant(whole);
    // 1e3 and 16.0 are whole numbers; 1.000 is a thousand to some and one to others. What does not fit
    // 64 bits would be shown rounded.
    const qsizetype point = text.indexOf(u'.');
    const bool isClear = point < 0 || text.contains(u'e', Qt::CaseInsensitive) || text.mid(point + 1) == u'0';
    const double number = text.toDouble(&ok);
    constexpr double largestExact = 9007199254740992.0; // 2^53
    if (ok && isClear && std::abs(number) <= largestExact)
        return QVariant(number);
    return wrongKind(spec, valueText(text),
                     ok && isClear ? QT_TRANSLATE_NOOP("Error", "Write a smaller number.")
                                   : QT_TRANSLATE_NOOP("Error", "Write a whole number such as 16."));
}

static std::optional<double> numberFromText(const QString &text)
{
    bool ok = false;
    const double number = text.trimmed().toDouble(&ok);
    return ok ? std::optional(number) : std::nullopt;
}

static Result<QVariant> realFromText(const ParameterSpec &spec, const QString &text)
{
    if (const auto number = numberFromText(text))
        return QVariant(*number);
    const char *hint =
        text.contains(u',')
            ? QT_TRANSLATE_NOOP("Error", "Write numbers with a decimal point and without separators, such as 0.5.")
            : QT_TRANSLATE_NOOP("Error", "Write a number such as 0.5 or 1e-3.");
    return wrongKind(spec, valueText(text), hint);
}

static Result<QVariant> booleanFromText(const ParameterSpec &spec, const QString &text)
{
    if (text.compare(QStringLiteral("true"), Qt::CaseInsensitive) == 0)
        return QVariant(true);
    if (text.compare(QStringLiteral("false"), Qt::CaseInsensitive) == 0)
        return QVariant(false);
    return wrongKind(spec, valueText(text), QT_TRANSLATE_NOOP("Error", "Write true or false."));
}

static Result<QVariant> integersFromText(const ParameterSpec &spec, const QString &text)
{
    QVariantList list;
    for (const QString &item : text.split(u',')) {
        bool ok = false;
        list.append(item.trimmed().toLongLong(&ok));
        if (!ok) {
            return wrongKind(
                spec, valueText(text),
                QT_TRANSLATE_NOOP("Error", "Write whole numbers with commas between them, such as 64,32."));
        }
    }
    return QVariant(list);
}

static Result<QVariant> rangeFromText(const ParameterSpec &spec, const QString &text)
{
    for (const QChar separator : {u',', u'–', u'-'}) {
        // A '-' may also be a sign: the first one with a number on both sides divides.
        for (qsizetype at = text.indexOf(separator, 1); at > 0; at = text.indexOf(separator, at + 1)) {
            const auto low = numberFromText(text.left(at));
            const auto high = numberFromText(text.mid(at + 1));
            if (low && high)
                return QVariant(QVariantList{*low, *high});
        }
    }
    return wrongKind(spec, valueText(text),
                     QT_TRANSLATE_NOOP("Error", "Write the lower and the upper end with a comma between them and a "
                                                "decimal point in each, such as 0.08,1."));
}

static Result<QVariant> variantFromText(const ParameterSpec &spec, const QString &text)
{
    const QString trimmed = text.trimmed();
    switch (spec.kind) {
    case ParameterKind::Text:
        return QVariant(text);
    case ParameterKind::Path:
        return QVariant(bytesFromPath(pathFromText(text)));
    case ParameterKind::Choice:
        return trimmed.isEmpty() ? QVariant() : QVariant(trimmed);
    default:
        break;
    }
    if (trimmed.isEmpty())
        return QVariant();
    switch (spec.kind) {
    case ParameterKind::Int:
        return integerFromText(spec, trimmed);
    case ParameterKind::Float:
        return realFromText(spec, trimmed);
    case ParameterKind::Bool:
        return booleanFromText(spec, trimmed);
    case ParameterKind::IntList:
        return integersFromText(spec, trimmed);
    default:
        return rangeFromText(spec, trimmed);
    }
}

Result<QVariant> ParameterSpec::fromText(const QString &text) const
{
    TW_ASSIGN(value, variantFromText(*this, text));
    return check(value);
}

QString ParameterSpec::toText(const QVariant &value) const
{
    if (!value.isValid())
        return {};
    switch (kind) {
    case ParameterKind::Path:
        return displayPath(pathFromBytes(value.toByteArray()));
    case ParameterKind::Text:
    case ParameterKind::Choice:
        return value.toString();
    case ParameterKind::IntList:
    case ParameterKind::FloatRange: {
        QStringList items;
        for (const QVariant &item : value.toList())
            items.append(valueText(item));
        return items.join(u',');
    }
    default:
        return valueText(value);
    }
}

} // namespace tw

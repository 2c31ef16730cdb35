// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"

#include "core/base/files.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QVariant>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace tw {

static QByteArray notFinite(double value)
{
    if (std::isnan(value))
        return QByteArrayLiteral("\"NaN\"");
    return value > 0 ? QByteArrayLiteral("\"Infinity\"") : QByteArrayLiteral("\"-Infinity\"");
}

QByteArray jsonNumber(double value)
{
    if (!std::isfinite(value))
        return notFinite(value);
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return QByteArray(text.data(), end - text.data());
}

QByteArray jsonNumber(double value, int significantDigits)
{
    if (!std::isfinite(value))
        return notFinite(value);
    std::array<char, 40> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, significantDigits).ptr;
    return QByteArray(text.data(), end - text.data());
}

static void appendEscaped(QByteArray &out, unsigned char unit)
{
    switch (unit) {
    case '"':
        out += "\\\"";
        return;
    case '\\':
        out += "\\\\";
        return;
    case '\n':
        out += "\\n";
        return;
    case '\r':
        out += "\\r";
        return;
    case '\t':
        out += "\\t";
        return;
    default:
        break;
    }
    static constexpr char digits[] = "0123456789abcdef";
    out += "\\u00";
    out += digits[(unit >> 4) & 15];
    out += digits[unit & 15];
}

/// QString::toUtf8() writes '?' for a lone surrogate.
static QByteArray utf8WithReplacements(const QString &text)
{
    QString clean = text;
    for (qsizetype i = 0; i < clean.size(); ++i) {
        const bool pair = clean[i].isHighSurrogate() && i + 1 < clean.size() && clean[i + 1].isLowSurrogate();
        if (pair)
            ++i;
        else if (clean[i].isSurrogate())
            clean[i] = QChar::ReplacementCharacter;
    }
    return clean.toUtf8();
}

QByteArray jsonString(const QString &text)
{
    QByteArray out;
    out.reserve(text.size() + 2);
    out += '"';
    for (const char c : utf8WithReplacements(text)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f)
            appendEscaped(out, byte);
        else
            out += c;
    }
    out += '"';
    return out;
}

QByteArray jsonObjectLine(std::initializer_list<std::pair<const char *, QByteArray>> members)
{
    QByteArray out("{");
    for (const auto &[key, value] : members) {
        if (out.size() > 1)
            out += ',';
        out += jsonString(QString::fromUtf8(key)) + ':' + value;
    }
    return out + '}';
}

static QByteArray compactArray(const QJsonArray &array)
{
    QByteArray out("[");
    for (const QJsonValue &item : array) {
        if (out.size() > 1)
            out += ',';
        out += jsonCompact(item);
    }
    return out + ']';
}

static QByteArray compactObject(const QJsonObject &object)
{
    QByteArray out("{");
    for (auto it = object.begin(); it != object.end(); ++it) { // QJsonObject keeps its keys sorted
        if (out.size() > 1)
            out += ',';
        out += jsonString(it.key()) + ':' + jsonCompact(it.value());
    }
    return out + '}';
}

QByteArray jsonCompact(const QJsonValue &value)
{
    switch (value.type()) {
    case QJsonValue::Bool:
        return value.toBool() ? QByteArrayLiteral("true") : QByteArrayLiteral("false");
    case QJsonValue::String:
        return jsonString(value.toString());
    case QJsonValue::Array:
        return compactArray(value.toArray());
    case QJsonValue::Object:
        return compactObject(value.toObject());
    case QJsonValue::Double: {
        const QVariant number = value.toVariant(); // keeps integers beyond 2^53 whole
        return number.typeId() == QMetaType::LongLong ? QByteArray::number(number.toLongLong())
                                                      : jsonNumber(value.toDouble());
    }
    case QJsonValue::Null:
    case QJsonValue::Undefined:
        break;
    }
    return QByteArrayLiteral("null");
}

double doubleFromJson(const QJsonValue &value, double fallback)
{
    if (value.isDouble())
        return value.toDouble();
    const QString text = value.toString();
    if (text == QStringLiteral("NaN"))
        return std::numeric_limits<double>::quiet_NaN();
    if (text == QStringLiteral("Infinity"))
        return std::numeric_limits<double>::infinity();
    if (text == QStringLiteral("-Infinity"))
        return -std::numeric_limits<double>::infinity();
    return fallback;
}

Result<QJsonObject> readJsonObject(const fs::path &file, const char *errorName, qint64 maxBytes)
{
    TW_ASSIGN(bytes, readFile(file, errorName, maxBytes));
    QJsonParseError fault;
    const QJsonDocument document = QJsonDocument::fromJson(bytes, &fault);
    if (fault.error != QJsonParseError::NoError) {
        const qsizetype line = 1 + bytes.left(fault.offset).count('\n');
        return makeError(errorName, QT_TRANSLATE_NOOP("Error", "'%1' is not valid JSON: line %2: %3."),
                         {displayPath(file), QString::number(line), fault.errorString()},
                         QT_TRANSLATE_NOOP("Error", "Correct the file at that line, or take another file."));
    }
    if (!document.isObject()) {
        return makeError(errorName, QT_TRANSLATE_NOOP("Error", "'%1' holds no JSON object."), {displayPath(file)},
                         QT_TRANSLATE_NOOP("Error", "The file must start with '{' and end with '}'."));
    }
    return document.object();
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <QByteArray>
#include <QJsonObject>
#include <QJsonValue>

#include <initializer_list>
#include <utility>

namespace tw {

/// Shortest decimal text that reads back to the same double, C locale; NaN and infinities as the
/// JSON strings "NaN", "Infinity", "-Infinity" (with their quotes).
QByteArray jsonNumber(double value);
/// `significantDigits` 1–17; not finite as above.
QByteArray jsonNumber(double value, int significantDigits);
/// A quoted, escaped JSON string; lone surrogates become U+FFFD.
QByteArray jsonString(const QString &text);
/// One line; keys of objects in the order given (QJsonDocument would sort them).
QByteArray jsonObjectLine(std::initializer_list<std::pair<const char *, QByteArray>> members);
/// Compact text of any value, numbers as jsonNumber(). Keys sorted, so that text is stable.
QByteArray jsonCompact(const QJsonValue &value);
/// Number, or the strings "NaN", "Infinity", "-Infinity"; `fallback` for anything else.
double doubleFromJson(const QJsonValue &value, double fallback);

/// Reads and parses a file that must hold one object. Errors carry `errorName`, the file, the
/// line where parsing stopped. Refuses files above `maxBytes` and nesting deeper than Qt allows.
Result<QJsonObject> readJsonObject(const fs::path &file, const char *errorName, qint64 maxBytes = 64 << 20);

} // namespace tw

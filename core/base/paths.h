// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QJsonValue>
#include <QString>

#include <filesystem>

namespace tw {

namespace fs = std::filesystem;

/// Data paths are bytes. A QString is made of them only to show them.
fs::path pathFromBytes(const QByteArray &bytes);
QByteArray bytesFromPath(const fs::path &path);
/// UTF-8 text typed by a person; "~/" is expanded to the home folder.
fs::path pathFromText(const QString &text);
/// For people: invalid UTF-8 bytes are shown as U+FFFD.
QString displayPath(const fs::path &path);
/// A JSON string when the name is UTF-8, else {"path": percent-encoded, "raw": true}.
QJsonValue pathToJson(const fs::path &path);
/// Reverse of pathToJson(); an empty path when `json` is neither form.
fs::path pathFromJson(const QJsonValue &json);

} // namespace tw

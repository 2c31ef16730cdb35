// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"

#include <QDir>
#include <QJsonObject>
#include <QStringDecoder>

namespace tw {

static const QString pathKey = QStringLiteral("path");
static const QString rawKey = QStringLiteral("raw");

fs::path pathFromBytes(const QByteArray &bytes)
{
    return fs::path(bytes.toStdString());
}

QByteArray bytesFromPath(const fs::path &path)
{
    return QByteArray::fromStdString(path.native());
}

fs::path pathFromText(const QString &text)
{
    if (text == u'~' || text.startsWith(QStringLiteral("~/"))) {
        const QByteArray home = qEnvironmentVariableIsEmpty("HOME") ? QDir::homePath().toUtf8() : qgetenv("HOME");
        return pathFromBytes(home + text.mid(1).toUtf8());
    }
    return pathFromBytes(text.toUtf8());
}

QString displayPath(const fs::path &path)
{
    return QString::fromUtf8(bytesFromPath(path));
}

static bool isUtf8(const QByteArray &bytes)
{
    QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::Stateless);
    const QString text = decoder.decode(bytes);
    return !decoder.hasError() && text.toUtf8() == bytes;
}

QJsonValue pathToJson(const fs::path &path)
{
    const QByteArray bytes = bytesFromPath(path);
    if (isUtf8(bytes))
        return QString::fromUtf8(bytes);
    return QJsonObject{{pathKey, QString::fromLatin1(bytes.toPercentEncoding("/"))}, {rawKey, true}};
}

fs::path pathFromJson(const QJsonValue &json)
{
    if (json.isString())
        return pathFromBytes(json.toString().toUtf8());
    const QJsonObject object = json.toObject();
    if (!object.value(rawKey).toBool() || !object.value(pathKey).isString())
        return {};
    return pathFromBytes(QByteArray::fromPercentEncoding(object.value(pathKey).toString().toUtf8()));
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/address.h"

#include <algorithm>

namespace tw {

namespace {

constexpr std::size_t LongestName = 200;

bool isLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool isSchemeCharacter(char c)
{
    return isLetter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

QUrl urlOf(const QByteArray &bytes)
{
    return QUrl(QString::fromUtf8(bytes.trimmed()), QUrl::TolerantMode);
}

Error addressError(const QByteArray &bytes, const char *text, const char *hint)
{
    return makeError(errors::InvalidDataset, text, {displayAddress(urlOf(bytes))}, hint);
}

} // namespace

bool isAddress(const QByteArray &bytes)
{
    const QByteArray text = bytes.trimmed();
    const qsizetype colon = text.indexOf("://");
    return colon > 1 && isLetter(text[0]) && std::all_of(text.begin(), text.begin() + colon, isSchemeCharacter);
}

Result<QUrl> parseAddress(const QByteArray &bytes)
{
    const QUrl url = urlOf(bytes);
    const QString scheme = url.scheme();
    if (scheme != QLatin1String("http") && scheme != QLatin1String("https"))
        return addressError(bytes,
                            QT_TRANSLATE_NOOP("Error", "The address '%1' is neither of http:// nor of https://."),
                            QT_TRANSLATE_NOOP("Error", "Give a path on this machine or an address that a web browser "
                                                       "can open."));
    if (!url.isValid() || url.host().isEmpty())
        return addressError(bytes, QT_TRANSLATE_NOOP("Error", "The address '%1' names no server."),
                            QT_TRANSLATE_NOOP("Error", "Write it as https://server/folder/set.zip."));
    if (addressFileName(bytes).empty())
        return addressError(bytes, QT_TRANSLATE_NOOP("Error", "The address '%1' names no file."),
                            QT_TRANSLATE_NOOP("Error", "Give the address of one archive, such as "
                                                       "https://server/folder/set.zip."));
    return url;
}

std::string addressFileName(const QByteArray &bytes)
{
    // Resolved after the cut: an escaped slash is part of the name.
    const QByteArray path = urlOf(bytes).path(QUrl::FullyEncoded).toLatin1();
    std::string name = QByteArray::fromPercentEncoding(path.mid(path.lastIndexOf('/') + 1)).toStdString();
    for (char &c : name)
        if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            c = '_';
    for (std::size_t i = 0; i < name.size() && name[i] == '.'; ++i)
        name[i] = '_';
    return name.size() <= LongestName ? name : name.substr(name.size() - LongestName); // the suffix tells the kind
}

QString displayAddress(const QUrl &address)
{
    return address.toDisplayString(QUrl::RemoveUserInfo | QUrl::RemoveQuery | QUrl::RemoveFragment);
}

bool isSha256(const QString &text)
{
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](QChar c) {
               return (c >= u'0' && c <= u'9') || (c >= u'a' && c <= u'f') || (c >= u'A' && c <= u'F');
           });
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/ids.h"

#include <QDateTime>
#include <QRandomGenerator>

#include <algorithm>

namespace tw {

static constexpr qsizetype maxIdLength = 63;

static bool isLower(QChar c)
{
    return c >= u'a' && c <= u'z';
}

static bool isDigit(QChar c)
{
    return c >= u'0' && c <= u'9';
}

bool isNodeId(const QString &text)
{
    if (text.isEmpty() || text.size() > maxIdLength || !isLower(text.front()))
        return false;
    return std::all_of(text.begin(), text.end(), [](QChar c) { return isLower(c) || isDigit(c) || c == u'_'; });
}

bool isComponentId(const QString &text)
{
    if (text.isEmpty() || text.size() > maxIdLength || !isLower(text.front()) || text.back() == u'-')
        return false;
    if (text.contains(QStringLiteral("--")))
        return false;
    return std::all_of(text.begin(), text.end(), [](QChar c) { return isLower(c) || isDigit(c) || c == u'-'; });
}

QString newNodeId(const QString &componentId, const QSet<QString> &taken)
{
    QString word;
    for (const QChar c : componentId.section(u'-', -1)) {
        if (isLower(c) || isDigit(c) || c == u'_')
            word += c;
    }
    if (word.isEmpty() || !isLower(word.front()))
        word.prepend(QStringLiteral("node"));
    word.truncate(50); // room for any number
    for (qsizetype number = 1;; ++number) {
        const QString id = word + QString::number(number);
        if (!taken.contains(id))
            return id;
    }
}

QString newJobId()
{
    const QString time = QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyyMMdd-HHmmss"));
    const quint32 random = QRandomGenerator::system()->bounded(0x10000u);
    return QStringLiteral("%1-%2").arg(time).arg(random, 4, 16, QLatin1Char('0'));
}

} // namespace tw

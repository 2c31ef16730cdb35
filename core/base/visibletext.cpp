// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/visibletext.h"

#include <algorithm>

namespace tw {

static bool isHidden(QChar c)
{
    return c.category() == QChar::Other_Control && c != u'\n' && c != u'\t';
}

QString visibleText(const QString &text)
{
    if (std::none_of(text.begin(), text.end(), isHidden))
        return text;
    QString out;
    for (const QChar c : text) {
        if (isHidden(c))
            out += QStringLiteral("\\x%1").arg(c.unicode(), 2, 16, QLatin1Char('0'));
        else
            out += c;
    }
    return out;
}

} // namespace tw

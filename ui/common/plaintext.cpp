// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/plaintext.h"

namespace tw {

static bool changesNeighbours(QChar letter)
{
    const ushort code = letter.unicode();
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f
        || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

QString literalText(const QString &text)
{
    QString literal;
    literal.reserve(text.size());
    for (const QChar letter : text) {
        if (changesNeighbours(letter))
            literal += QStringLiteral("\\u%1").arg(letter.unicode(), 4, 16, QLatin1Char('0')).toUpper().replace(1, 1, QLatin1Char('u'));
        else
            literal += letter;
    }
    return literal;
}

QString shortText(const QString &text, int maxLetters)
{
    const QString literal = literalText(text);
    if (literal.size() <= maxLetters || maxLetters < 3)
        return literal;
    const int tail = (maxLetters - 1) / 3;
    return literal.left(maxLetters - 1 - tail) + QChar(0x2026) + literal.right(tail);
}

QString literalToolTip(const QString &text)
{
    return QStringLiteral("<span>%1</span>").arg(literalText(text).toHtmlEscaped());
}

} // namespace tw

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
            literal += QStringLiteral("\\u%1")
                           .arg(letter.unicode(), 4, 16, QLatin1Char('0'))
                           .toUpper()
                           .replace(1, 1, QLatin1Char('u'));
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

static QStringView takeDigits(QStringView &text)
{
    qsizetype size = 0;
    while (size < text.size() && text[size] >= QLatin1Char('0') && text[size] <= QLatin1Char('9'))
        ++size;
    const QStringView digits = text.left(size);
    text = text.mid(size);
    return digits;
}

static int compareDigits(QStringView a, QStringView b)
{
    while (a.startsWith(QLatin1Char('0')))
        a = a.mid(1);
    while (b.startsWith(QLatin1Char('0')))
        b = b.mid(1);
    return a.size() != b.size() ? (a.size() < b.size() ? -1 : 1) : a.compare(b);
}

int compareNatural(const QString &a, const QString &b)
{
    QStringView left(a), right(b);
    while (!left.isEmpty() && !right.isEmpty()) {
        const QStringView leftDigits = takeDigits(left), rightDigits = takeDigits(right);
        if (leftDigits.isEmpty() != rightDigits.isEmpty())
            return leftDigits.isEmpty() ? 1 : -1;
        if (!leftDigits.isEmpty()) {
            if (const int order = compareDigits(leftDigits, rightDigits); order != 0)
                return order;
            continue;
        }
        const QChar x = left.front().toCaseFolded(), y = right.front().toCaseFolded();
        if (x != y)
            return x < y ? -1 : 1;
        left = left.mid(1);
        right = right.mid(1);
    }
    if (left.isEmpty() != right.isEmpty())
        return left.isEmpty() ? -1 : 1;
    return a.compare(b);
}

QString literalToolTip(const QString &text)
{
    return QStringLiteral("<span>%1</span>").arg(literalText(text).toHtmlEscaped());
}

} // namespace tw

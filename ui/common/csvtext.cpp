// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/csvtext.h"

#include <QLocale>

#include <cmath>

namespace tw {

static QString guarded(const QString &cell)
{
    static const QString starts = QStringLiteral("=+-@\t");
    if (cell.isEmpty() || !starts.contains(cell.front()))
        return cell;
    bool isNumber = false;
    QLocale::c().toDouble(cell, &isNumber);
    return isNumber ? cell : QLatin1Char('\'') + cell;
}

static QString quoted(QString cell)
{
    const bool needed = cell.contains(QLatin1Char(',')) || cell.contains(QLatin1Char('"'))
                        || cell.contains(QLatin1Char('\n')) || cell.contains(QLatin1Char('\r'));
    if (!needed)
        return cell;
    return QLatin1Char('"') + cell.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

QByteArray csvRow(const QStringList &cells, CsvFormulas formulas)
{
    QStringList texts;
    for (const QString &cell : cells)
        texts << quoted(formulas == CsvFormulas::Guard ? guarded(cell) : cell);
    return texts.join(QLatin1Char(',')).toUtf8() + "\r\n";
}

QString csvNumber(double value)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("Infinity") : QStringLiteral("-Infinity");
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

namespace {
class CsvParser
{
public:
    explicit CsvParser(const QByteArray &text, qsizetype maxRows) : m_text(text), m_maxRows(maxRows) {}

    QList<QStringList> parse()
    {
        if (m_text.startsWith("\xef\xbb\xbf"))
            m_at = 3;
        while (m_at < m_text.size() && m_rows.size() < m_maxRows)
            step(m_text[m_at++]);
        if (m_rows.size() < m_maxRows && (!m_cell.isEmpty() || !m_row.isEmpty() || m_quoted))
            endRow();
        return m_rows;
    }

private:
    void step(char letter)
    {
        if (m_inQuotes) {
            stepInQuotes(letter);
        } else if (letter == '"' && m_cell.isEmpty() && !m_quoted) {
            m_inQuotes = m_quoted = true;
        } else if (letter == ',') {
            endCell();
        } else if (letter == '\n' || letter == '\r') {
            if (letter == '\r' && peek() == '\n')
                ++m_at;
            endRow();
        } else {
            m_cell += letter;
        }
    }

    void stepInQuotes(char letter)
    {
        if (letter != '"') {
            m_cell += letter;
        } else if (peek() == '"') {
            m_cell += '"';
            ++m_at;
        } else {
            m_inQuotes = false;
        }
    }

    char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }

    void endCell()
    {
        m_row << QString::fromUtf8(m_cell);
        m_cell.clear();
        m_quoted = false;
    }

    void endRow()
    {
        endCell();
        m_rows << m_row;
        m_row.clear();
    }

    const QByteArray &m_text;
    qsizetype m_maxRows, m_at = 0;
    QByteArray m_cell;
    bool m_inQuotes = false, m_quoted = false;
    QStringList m_row;
    QList<QStringList> m_rows;
};
} // namespace

QList<QStringList> parseCsv(const QByteArray &text, qsizetype maxRows)
{
    return CsvParser(text, maxRows).parse();
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/csvreader.h"

#include <algorithm>

namespace tw {

namespace {

constexpr std::string_view Separators = ",;\t";

std::string_view withoutMark(std::string_view text)
{
    return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

/// "sep=;" as Excel writes and reads it.
bool namesSeparator(std::string_view text)
{
    return text.size() >= 5 && text.starts_with("sep=") && Separators.find(text[4]) != std::string_view::npos
           && (text.size() == 5 || text[5] == '\n' || text[5] == '\r');
}

char separatorOf(std::string_view text)
{
    if (namesSeparator(text))
        return text[4];
    char best = ',';
    std::size_t most = 0;
    for (const char separator : Separators) {
        std::vector<std::string> fields;
        CsvReader(text, separator).next(fields);
        if (fields.size() > most) {
            most = fields.size();
            best = separator;
        }
    }
    return best;
}

} // namespace

CsvReader::CsvReader(std::string_view text) : CsvReader(text, separatorOf(withoutMark(text))) {}

CsvReader::CsvReader(std::string_view text, char separator) : m_text(withoutMark(text)), m_separator(separator)
{
    if (namesSeparator(m_text))
        m_at = 5;
}

void CsvReader::takeLineEnd()
{
    m_at += m_text.substr(m_at).starts_with("\r\n") ? 2 : 1;
    ++m_line;
}

/// After the opening quote; leaves behind the closing one.
bool CsvReader::quoted(std::string &field)
{
    for (;;) {
        const std::size_t quote = m_text.find('"', m_at);
        const std::string_view piece = m_text.substr(m_at, std::min(quote, m_text.size()) - m_at);
        for (std::size_t i = 0; i < piece.size(); ++i) // CR, LF or both are one end
            m_line += piece[i] == '\n' || (piece[i] == '\r' && !piece.substr(i + 1).starts_with('\n')) ? 1 : 0;
        field.append(piece);
        if (quote == std::string_view::npos) {
            m_fault = "a quoted field never ends";
            return false;
        }
        m_at = quote + 1;
        if (m_at >= m_text.size() || m_text[m_at] != '"')
            break;
        field += '"';
        ++m_at;
    }
    skipSpaces();
    if (m_at < m_text.size() && m_text[m_at] != m_separator && !atLineEnd()) {
        m_fault = "text follows a closing quote";
        return false;
    }
    return true;
}

void CsvReader::skipSpaces()
{
    while (m_at < m_text.size() && m_text[m_at] == ' ')
        ++m_at;
}

void CsvReader::plain(std::string &field)
{
    const char ends[] = {m_separator, '\r', '\n'};
    const std::size_t end = std::min(m_text.find_first_of(ends, m_at, sizeof ends), m_text.size());
    const std::string_view found = m_text.substr(m_at, end - m_at);
    field.assign(found.substr(0, found.find_last_not_of(' ') + 1));
    m_at = end;
}

bool CsvReader::next(std::vector<std::string> &fields)
{
    fields.clear();
    while (atLineEnd())
        takeLineEnd();
    if (m_at >= m_text.size() || !m_fault.empty())
        return false;
    m_recordLine = m_line;
    for (;;) {
        std::string &field = fields.emplace_back();
        skipSpaces();
        if (m_at < m_text.size() && m_text[m_at] == '"') {
            ++m_at;
            if (!quoted(field))
                return false;
        } else {
            plain(field);
        }
        if (m_at >= m_text.size())
            return true;
        if (atLineEnd()) {
            takeLineEnd();
            return true;
        }
        ++m_at; // the separator
    }
}

} // namespace tw

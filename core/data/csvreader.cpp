// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/csvreader.h"

#include <algorithm>

namespace tw {

CsvReader::CsvReader(std::string_view text) : m_text(text)
{
    if (m_text.starts_with("\xef\xbb\xbf"))
        m_text.remove_prefix(3);
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
        m_line += std::size_t(std::count(piece.begin(), piece.end(), '\n'));
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
    if (m_at < m_text.size() && m_text[m_at] != ',' && !atLineEnd()) {
        m_fault = "text follows a closing quote";
        return false;
    }
    return true;
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
        if (m_at < m_text.size() && m_text[m_at] == '"') {
            ++m_at;
            if (!quoted(field))
                return false;
        } else {
            const std::size_t end = std::min(m_text.find_first_of(",\r\n", m_at), m_text.size());
            field.assign(m_text.substr(m_at, end - m_at));
            m_at = end;
        }
        if (m_at >= m_text.size())
            return true;
        if (atLineEnd()) {
            takeLineEnd();
            return true;
        }
        ++m_at; // the comma
    }
}

} // namespace tw

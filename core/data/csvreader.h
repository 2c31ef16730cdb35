// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// Records of a csv text as RFC 4180 has them: quoted fields with doubled quotes and line ends inside,
/// CRLF or LF (or CR alone) between records. A leading UTF-8 mark, a first line "sep=;" and empty lines
/// are left out, and so are spaces around a field, unless they stand in quotes.
class CsvReader
{
public:
    /// Fields are separated by the one of comma, semicolon and tab that gives the first record most of
    /// them (the first of these, where two do), or by what the line "sep=" names.
    explicit CsvReader(std::string_view text);
    CsvReader(std::string_view text, char separator);
    char separator() const { return m_separator; }
    /// The next record; false at the end or after a fault.
    bool next(std::vector<std::string> &fields);
    std::size_t line() const { return m_recordLine; } ///< where the last record begins, from 1
    /// What is wrong in the last record, as the end of a sentence; empty: nothing.
    const std::string &fault() const { return m_fault; }

private:
    bool quoted(std::string &field);
    void plain(std::string &field);
    void skipSpaces();
    bool atLineEnd() const { return m_at < m_text.size() && (m_text[m_at] == '\n' || m_text[m_at] == '\r'); }
    void takeLineEnd();

    std::string_view m_text;
    char m_separator = ',';
    std::size_t m_at = 0, m_line = 1, m_recordLine = 1;
    std::string m_fault;
};

} // namespace tw

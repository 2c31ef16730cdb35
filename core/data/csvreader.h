// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// Records of a csv text as RFC 4180 has them: commas, quoted fields with doubled quotes and line
/// ends inside, CRLF or LF (or CR alone) between records. A leading UTF-8 mark and empty lines are left out.
class CsvReader
{
public:
    explicit CsvReader(std::string_view text);
    /// The next record; false at the end or after a fault.
    bool next(std::vector<std::string> &fields);
    std::size_t line() const { return m_recordLine; } ///< where the last record begins, from 1
    /// What is wrong in the last record, as the end of a sentence; empty: nothing.
    const std::string &fault() const { return m_fault; }

private:
    bool quoted(std::string &field);
    bool atLineEnd() const { return m_at < m_text.size() && (m_text[m_at] == '\n' || m_text[m_at] == '\r'); }
    void takeLineEnd();

    std::string_view m_text;
    std::size_t m_at = 0, m_line = 1, m_recordLine = 1;
    std::string m_fault;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/csv.h"

#include "core/base/files.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>

namespace tw {

namespace {

constexpr int significantDigits = 9;

} // namespace

std::string csvField(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"')
            quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

void appendCsvNumber(std::string &line, double value)
{
    if (!std::isfinite(value)) {
        line += std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
        return;
    }
    std::array<char, 40> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, significantDigits).ptr;
    line.append(text.data(), end);
}

bool readCsvRecord(std::istream &in, std::vector<std::string> &fields)
{
    fields.clear();
    std::string line;
    if (!std::getline(in, line))
        return false;
    std::string field;
    bool quoted = false;
    for (std::size_t i = 0;; ++i) {
        if (i == line.size() && quoted) {
            std::string more;
            if (!std::getline(in, more))
                break;
            field += '\n';
            line = std::move(more);
            i = std::size_t(-1);
            continue;
        }
        if (i == line.size())
            break;
        const char c = line[i];
        if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
            field += '"';
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.push_back(std::move(field));
            field.clear();
        } else if (c != '\r' || quoted || i + 1 < line.size()) {
            field += c;
        }
    }
    fields.push_back(std::move(field));
    return true;
}

Result<void> CsvFile::open(const fs::path &file)
{
    m_file = file;
    errno = 0;
    m_out.open(file, std::ios::binary | std::ios::trunc);
    if (!m_out)
        return writeError(m_file, errno);
    return {};
}

Result<void> CsvFile::write(std::string_view line)
{
    errno = 0;
    m_out << line << "\r\n";
    if (!m_out)
        return writeError(m_file, errno);
    return {};
}

Result<void> CsvFile::close()
{
    errno = 0;
    m_out.close();
    if (m_out.fail())
        return writeError(m_file, errno);
    return {};
}

} // namespace tw

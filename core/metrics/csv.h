// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <fstream>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// One CSV field, quoted where RFC 4180 asks for it. The text itself stays as it is, also where a
/// spreadsheet would take it for a formula ("=1+1"): reading the file gives the same names back.
std::string csvField(std::string_view text);
/// 9 significant digits, C locale; "NaN", "Infinity", "-Infinity".
void appendCsvNumber(std::string &line, double value);
/// Fields of the next record; false at the end. Quoted fields may hold line ends.
bool readCsvRecord(std::istream &in, std::vector<std::string> &fields);

/// Appends records to a file that it replaces. Errors: FailedToWriteOutputsError naming the file.
class CsvFile
{
public:
    Result<void> open(const fs::path &file);
    /// `line` without its end.
    Result<void> write(std::string_view line);
    Result<void> close();

private:
    fs::path m_file;
    std::ofstream m_out;
};

} // namespace tw

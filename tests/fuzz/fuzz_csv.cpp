// SPDX-License-Identifier: GPL-3.0-or-later
// The reader of csv data sets, and the one of tables of scores.
#include "core/data/csvreader.h"
#include "core/metrics/csv.h"
#include "tests/fuzz/inputfile.h"

#include <sstream>

using namespace tw;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char *>(data), size);
    CsvReader reader(text);
    std::vector<std::string> fields;
    std::size_t records = 0, line = 0;
    while (reader.next(fields)) {
        fuzz::require(++records <= size + 1, "records do not outnumber the bytes");
        fuzz::require(reader.line() >= line, "lines do not go back");
        line = reader.line();
        std::size_t bytes = 0;
        for (const std::string &field : fields)
            bytes += field.size();
        fuzz::require(bytes <= size, "fields do not outgrow the file");
    }
    std::istringstream stream(text);
    for (records = 0; readCsvRecord(stream, fields);)
        fuzz::require(++records <= size + 1, "records do not outnumber the bytes");
    return 0;
}

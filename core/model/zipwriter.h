// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/outputfile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tw {

/// Stored (uncompressed) zip whose records' data start at multiples of 64 bytes, as torch.save
/// writes it; zip64 where a record or an offset passes 4 GiB. Format: PKWARE APPNOTE 6.3.
class ZipWriter
{
public:
    explicit ZipWriter(ByteSink &out) : m_out(out) {}
    Result<void> add(const std::string &name, const void *data, std::size_t bytes);
    /// Central directory; nothing may be added afterwards.
    Result<void> finish();

private:
    struct Record
    {
        std::string name;
        std::uint32_t crc;
        std::uint64_t bytes;
        std::uint64_t offset;
    };
    ByteSink &m_out;
    std::vector<Record> m_records;
};

} // namespace tw

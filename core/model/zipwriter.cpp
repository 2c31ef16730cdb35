// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/zipwriter.h"

#include <libdeflate.h>

#include <algorithm>

namespace tw {

namespace {

constexpr std::uint64_t limit32 = 0xFFFFFFFFu;
constexpr std::uint64_t limit16 = 0xFFFFu;
constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t localHeaderBytes = 30;
constexpr std::uint64_t paddingHeaderBytes = 4;

void put(std::string &out, std::uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

std::uint64_t low32(std::uint64_t value)
{
    return std::min(value, limit32);
}

/// Version needed, flags (bit 11: names are UTF-8), method stored, 1980-01-01 00:00: same bytes for
/// the same weights, whenever they are written.
void putCommonFields(std::string &out, bool zip64, std::uint32_t crc, std::uint64_t bytes, std::size_t nameBytes,
                     std::size_t extraBytes)
{
    put(out, zip64 ? 45 : 20, 2);
    put(out, 1u << 11, 2);
    put(out, 0, 2);
    put(out, 0, 2);
    put(out, 0x21, 2);
    put(out, crc, 4);
    put(out, low32(bytes), 4);
    put(out, low32(bytes), 4);
    put(out, nameBytes, 2);
    put(out, extraBytes, 2);
}

std::string localExtra(std::uint64_t headerStart, std::size_t nameBytes, std::uint64_t bytes)
{
    std::string extra;
    if (bytes >= limit32) {
        put(extra, 0x0001, 2);
        put(extra, 16, 2);
        put(extra, bytes, 8);
        put(extra, bytes, 8);
    }
    const std::uint64_t end = headerStart + localHeaderBytes + nameBytes + extra.size() + paddingHeaderBytes;
    const std::uint64_t padding = (alignment - end % alignment) % alignment;
    put(extra, 0x4246, 2); // "FB", torch.save's id of the padding field
    put(extra, padding, 2);
    extra.append(padding, 'Z');
    return extra;
}

std::string centralExtra(std::uint64_t bytes, std::uint64_t offset)
{
    std::string fields;
    if (bytes >= limit32) {
        put(fields, bytes, 8);
        put(fields, bytes, 8);
    }
    if (offset >= limit32)
        put(fields, offset, 8);
    std::string extra;
    if (!fields.empty()) {
        put(extra, 0x0001, 2);
        put(extra, fields.size(), 2);
    }
    return extra + fields;
}

} // namespace

Result<void> ZipWriter::add(const std::string &name, const void *data, std::size_t bytes)
{
    const std::uint32_t crc = bytes == 0 ? 0 : libdeflate_crc32(0, data, bytes);
    const std::uint64_t offset = m_out.position();
    const std::string extra = localExtra(offset, name.size(), bytes);
    std::string header;
    put(header, 0x04034b50, 4);
    putCommonFields(header, bytes >= limit32, crc, bytes, name.size(), extra.size());
    header += name + extra;
    TW_TRY(m_out.write(header.data(), header.size()));
    m_records.push_back({name, crc, bytes, offset});
    return m_out.write(data, bytes);
}

Result<void> ZipWriter::finish()
{
    const std::uint64_t start = m_out.position();
    std::string out;
    for (const Record &record : m_records) {
        const std::string extra = centralExtra(record.bytes, record.offset);
        put(out, 0x02014b50, 4);
        put(out, 45, 2);
        putCommonFields(out, !extra.empty(), record.crc, record.bytes, record.name.size(), extra.size());
        out.append(2 + 2 + 2 + 4, '\0'); // comment, disk, attributes
        put(out, low32(record.offset), 4);
        out += record.name + extra;
    }
    const std::uint64_t size = out.size();
    const std::uint64_t count = m_records.size();
    if (count >= limit16 || size >= limit32 || start >= limit32) {
        put(out, 0x06064b50, 4);
        put(out, 44, 8);
        put(out, 45, 2);
        put(out, 45, 2);
        put(out, 0, 4 + 4);
        put(out, count, 8);
        put(out, count, 8);
        put(out, size, 8);
        put(out, start, 8);
        put(out, 0x07064b50, 4);
        put(out, 0, 4);
        put(out, start + size, 8);
        put(out, 1, 4);
    }
    put(out, 0x06054b50, 4);
    put(out, 0, 2 + 2);
    put(out, std::min(count, limit16), 2);
    put(out, std::min(count, limit16), 2);
    put(out, low32(size), 4);
    put(out, low32(start), 4);
    put(out, 0, 2);
    return m_out.write(out.data(), out.size());
}

} // namespace tw

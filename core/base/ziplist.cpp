// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/ziplist.h"

#include <libdeflate.h>

#include <algorithm>

namespace tw {

namespace {

constexpr std::size_t endBytes = 22, locatorBytes = 20, end64Bytes = 56, entryBytes = 46;
constexpr std::uint32_t locatorMark = 0x07064b50, end64Mark = 0x06064b50;
constexpr std::uint32_t entryMark = 0x02014b50, localMark = 0x04034b50;
constexpr std::uint32_t full32 = 0xffffffff;
constexpr std::uint16_t full16 = 0xffff;

/// `count` bytes, lowest first; they must be there.
std::uint64_t number(std::string_view bytes, std::size_t at, int count)
{
    std::uint64_t value = 0;
    for (int i = count - 1; i >= 0; --i)
        value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
    return value;
}

std::uint16_t u16(std::string_view bytes, std::size_t at)
{
    return static_cast<std::uint16_t>(number(bytes, at, 2));
}

std::uint32_t u32(std::string_view bytes, std::size_t at)
{
    return static_cast<std::uint32_t>(number(bytes, at, 4));
}

std::uint64_t u64(std::string_view bytes, std::size_t at)
{
    return number(bytes, at, 8);
}

/// The end record whose comment reaches to the end of the file, else the last one that is whole.
std::optional<std::size_t> endRecordIn(std::string_view tail)
{
    std::optional<std::size_t> whole;
    for (std::size_t at = tail.rfind("PK\x05\x06"); at != std::string_view::npos;
         at = at == 0 ? std::string_view::npos : tail.rfind("PK\x05\x06", at - 1)) {
        if (tail.size() - at < endBytes || at + endBytes + u16(tail, at + 20) > tail.size())
            continue;
        if (at + endBytes + u16(tail, at + 20) == tail.size())
            return at;
        whole = whole.value_or(at);
    }
    return whole;
}

/// The record of zip64: where its locator says, or directly before the locator where bytes before the
/// archive move everything. Empty: neither.
std::string end64Record(const ZipBytes &read, std::uint64_t stated, std::uint64_t locator, std::uint64_t &place)
{
    std::string record(end64Bytes, '\0');
    for (const std::uint64_t at : {stated, locator - end64Bytes}) {
        place = at;
        if (locator >= end64Bytes && at <= locator - end64Bytes && read(at, std::as_writable_bytes(std::span(record)))
            && u32(record, 0) == end64Mark)
            return record;
    }
    return {};
}

/// Sizes that do not fit 32 bits, in the order of the fields that are full.
void takeZip64(std::string_view field, ZipEntry &entry)
{
    for (std::uint64_t *value : {&entry.bytes, &entry.packed, &entry.offset}) {
        if (*value != full32)
            continue;
        if (field.size() < 8)
            return;
        *value = u64(field, 0);
        field.remove_prefix(8);
    }
}

/// Info-ZIP's name in UTF-8, where it belongs to the stored one.
void takeUnicodeName(std::string_view field, ZipEntry &entry)
{
    if (field.size() > 5 && field[0] == 1 && u32(field, 1) == libdeflate_crc32(0, entry.name.data(), entry.name.size()))
        entry.name = field.substr(5);
}

void takeExtra(std::string_view extra, ZipEntry &entry)
{
    constexpr std::uint16_t zip64 = 0x0001, unicodeName = 0x7075;
    while (extra.size() >= 4) {
        const std::uint16_t kind = u16(extra, 0);
        const std::string_view field = extra.substr(4, u16(extra, 2));
        extra.remove_prefix(std::min(extra.size(), std::size_t(4) + u16(extra, 2)));
        if (kind == zip64)
            takeZip64(field, entry);
        else if (kind == unicodeName)
            takeUnicodeName(field, entry);
    }
}

/// The fields of the end record that stands in `tail` at `at`.
ZipList listOf(std::string_view tail, std::size_t at)
{
    ZipList list;
    list.entries = u16(tail, at + 10);
    list.bytes = u32(tail, at + 12);
    const std::uint16_t disk = u16(tail, at + 4);
    list.isPart = (disk != 0 && disk != full16) || u16(tail, at + 8) != list.entries;
    return list;
}

} // namespace

ZipFault findZipList(std::uint64_t fileBytes, const ZipBytes &read, ZipList &found)
{
    constexpr std::uint64_t longest = endBytes + full16 + locatorBytes;
    std::string tail(static_cast<std::size_t>(std::min(fileBytes, longest)), '\0');
    const std::uint64_t tailBegin = fileBytes - tail.size();
    if (!read(tailBegin, std::as_writable_bytes(std::span(tail))))
        return ZipFault::Missing;
    const auto at = endRecordIn(tail);
    if (!at)
        return ZipFault::Missing;
    found = listOf(tail, *at);
    std::uint64_t offset = u32(tail, *at + 16), end = tailBegin + *at;
    if (*at >= locatorBytes && u32(tail, *at - locatorBytes) == locatorMark) {
        const std::uint64_t locator = end - locatorBytes;
        found.isPart = found.isPart || u32(tail, *at - 4) > 1;
        const std::string record = end64Record(read, u64(tail, *at - locatorBytes + 8), locator, end);
        if (record.empty())
            return found.isPart ? ZipFault::None : ZipFault::Damaged;
        found.isZip64 = true;
        found.entries = u64(record, 32);
        found.bytes = u64(record, 40);
        offset = u64(record, 48);
    }
    if (found.isPart)
        return ZipFault::None;
    if (found.bytes > end || found.entries > found.bytes / entryBytes)
        return ZipFault::Claim;
    if (offset > end - found.bytes)
        return ZipFault::Damaged;
    found.begin = end - found.bytes;
    found.prefix = found.begin - offset;
    return ZipFault::None;
}

bool hasZipEntry(std::string_view list)
{
    return list.size() >= entryBytes && u32(list, 0) == entryMark;
}

bool isZipCount(const ZipList &list, std::uint64_t entries)
{
    return list.entries == (list.isZip64 ? entries : entries & full16);
}

std::optional<ZipEntry> takeZipEntry(std::string_view &list)
{
    if (!hasZipEntry(list))
        return {};
    const std::size_t name = u16(list, 28), extra = u16(list, 30), comment = u16(list, 32);
    if (list.size() - entryBytes < name + extra + comment)
        return {};
    ZipEntry entry;
    entry.madeBy = u16(list, 4);
    entry.flags = u16(list, 8);
    entry.method = u16(list, 10);
    entry.crc = u32(list, 16);
    entry.packed = u32(list, 20);
    entry.bytes = u32(list, 24);
    entry.nameBytes = static_cast<std::uint16_t>(name);
    entry.disk = u16(list, 34);
    entry.attributes = u32(list, 38);
    entry.offset = u32(list, 42);
    entry.name = list.substr(entryBytes, name);
    takeExtra(list.substr(entryBytes + name, extra), entry);
    list.remove_prefix(entryBytes + name + extra + comment);
    return entry;
}

std::optional<std::size_t> zipDataOffset(std::string_view local, std::uint16_t method, std::uint16_t nameBytes)
{
    if (local.size() < zipLocalBytes || u32(local, 0) != localMark || u16(local, 8) != method
        || u16(local, 26) != nameBytes)
        return {};
    return zipLocalBytes + nameBytes + u16(local, 28);
}

bool canHold(const ZipEntry &entry)
{
    return entry.method == 0 ? entry.bytes == entry.packed : entry.bytes / 1033 <= entry.packed;
}

} // namespace tw

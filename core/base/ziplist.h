// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tw {

// The list of contents of a zip file: PKWARE's APPNOTE 6.3.10, sections 4.3 to 4.5, zip64 included. Nothing
// is believed of a file before it was checked; names are bytes.

/// What the list says of one record; sizes and places in bytes.
struct ZipEntry
{
    std::string name; ///< Info-ZIP's in UTF-8 where the entry has it
    std::uint64_t packed = 0, bytes = 0;
    std::uint64_t offset = 0; ///< of the record's own header, behind ZipList::prefix
    std::uint32_t crc = 0, attributes = 0;
    std::uint16_t madeBy = 0, flags = 0, method = 0, disk = 0;
    std::uint16_t nameBytes = 0; ///< of the name as it is stored
    bool isEncrypted() const { return (flags & (1U | 1U << 6 | 1U << 13)) != 0; }
};

/// Where the list stands.
struct ZipList
{
    std::uint64_t entries = 0; ///< as many as it claims to hold
    std::uint64_t begin = 0, bytes = 0;
    std::uint64_t prefix = 0; ///< bytes before the archive, behind which offsets count
    bool isZip64 = false;
    bool isPart = false; ///< of an archive of several files: the other figures are not checked then
};
/// Missing: no whole end record, as in a file that is cut short. Damaged: it points outside the file.
/// Claim: to more than the file holds before it, or to more entries than these bytes can be.
enum class ZipFault { None, Missing, Damaged, Claim };

/// Fills `to` with the bytes of the file at `at`; false: they could not be read.
using ZipBytes = std::function<bool(std::uint64_t at, std::span<std::byte> to)>;

ZipFault findZipList(std::uint64_t fileBytes, const ZipBytes &read, ZipList &found);
/// The next entry, taken off the front of `list`; none: it is damaged. Sizes and offset may still point
/// outside the file.
std::optional<ZipEntry> takeZipEntry(std::string_view &list);
/// Whether an entry and no other record comes next.
bool hasZipEntry(std::string_view list);
/// Whether the list holds as many as it claims; old packers count beyond 65,535 from 0 again.
bool isZipCount(const ZipList &list, std::uint64_t entries);

constexpr std::size_t zipLocalBytes = 30;
/// Bytes between a record's begin and its data, from the first 30 of it. None: they are not the header of an
/// entry with this method and length of name.
std::optional<std::size_t> zipDataOffset(std::string_view local, std::uint16_t method, std::uint16_t nameBytes);
/// Whether sizes are possible: stored as they are, or deflated, which never gives more than 1032 bytes for one.
bool canHold(const ZipEntry &entry);

} // namespace tw

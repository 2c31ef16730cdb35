// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/base/ziplist.h"
#include "core/model/mappedfile.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tw {

/// Bytes of one zip member: a piece of the mapped file where it is stored, else memory of its own.
struct ZipMember
{
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
    bool mapped = false; ///< a piece of the mapped file
};

/// Members of a zip by name, zip64 included; nothing is ever extracted to disk. One thread.
class ZipReader
{
public:
    /// InvalidModelDirectoryError: no readable central directory, a name twice, more than 200,000
    /// members, names of more than 32 MiB.
    static Result<std::unique_ptr<ZipReader>> open(const fs::path &file);
    std::vector<std::string> names() const;
    bool contains(const std::string &name) const { return m_entries.contains(name); }
    /// Size that the central directory states; 0 for an unknown name.
    std::size_t statedBytes(const std::string &name) const;
    /// The member with its CRC-32 checked. Refused where its stated size passes `maxBytes`, it is
    /// encrypted, or what is there differs from what is stated.
    Result<ZipMember> read(const std::string &name, std::size_t maxBytes);

private:
    explicit ZipReader(const fs::path &file) : m_file(file) {}
    Result<void> readEntries(const ZipList &list);
    Result<void> checkOverlaps() const;
    Result<ZipMember> unpack(const std::string &name, const ZipEntry &entry, std::span<const std::byte> packed);
    Error damaged(const std::string &name) const;

    fs::path m_file;
    std::shared_ptr<const MappedFile> m_mapping;
    std::unordered_map<std::string, ZipEntry> m_entries; ///< by name, without it
};

} // namespace tw

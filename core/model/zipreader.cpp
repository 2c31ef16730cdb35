// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/zipreader.h"

#include <minizip/unzip.h>
#include <zlib.h>

#include <algorithm>
#include <string_view>

namespace tw {

namespace {

constexpr std::uint64_t maxMembers = 200'000;
constexpr std::size_t maxNameBytes = std::size_t(32) << 20;
constexpr std::uint16_t encryptedFlag = 1;

bool crcFits(const ZipMember &member, std::uint32_t expected)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return static_cast<void>(member), static_cast<void>(expected), true;
#else
    uLong crc = crc32_z(0, nullptr, 0);
    forEachPiece(member.bytes, member.mapped, [&](std::span<const std::byte> piece) {
        crc = crc32_z(crc, reinterpret_cast<const Bytef *>(piece.data()), piece.size());
        return true;
    });
    return crc == expected;
#endif
}

/// minizip takes an end record whose last bytes are missing.
bool hasWholeEndRecord(std::span<const std::byte> bytes)
{
    constexpr std::size_t endRecordBytes = 22;
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    const std::size_t at = text.rfind("PK\x05\x06");
    return at != std::string_view::npos && text.size() - at >= endRecordBytes;
}

} // namespace

Error ZipReader::damaged(const std::string &name) const
{
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "%1 is damaged: its zip record '%2' cannot be read."),
                     {displayPath(m_file), QString::fromStdString(name)},
                     QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
}

Result<std::unique_ptr<ZipReader>> ZipReader::open(const fs::path &file)
{
    std::unique_ptr<ZipReader> reader(new ZipReader(file));
    TW_ASSIGN(mapping, MappedFile::open(file));
    reader->m_mapping = mapping;
    if (hasWholeEndRecord(mapping->bytes()))
        reader->m_zip = unzOpen64(file.c_str());
    if (!reader->m_zip)
        return makeError(
            errors::InvalidModelDirectory,
            QT_TRANSLATE_NOOP("Error", "%1 begins like a zip file but its list of contents is missing or damaged."),
            {displayPath(file)},
            QT_TRANSLATE_NOOP("Error", "The file was probably cut short: copy or download it again."));
    TW_TRY(reader->readDirectory());
    return reader;
}

ZipReader::~ZipReader()
{
    if (m_zip)
        unzClose(m_zip);
}

Result<void> ZipReader::readDirectory()
{
    unz_global_info64 global = {};
    if (unzGetGlobalInfo64(m_zip, &global) != UNZ_OK || global.number_entry > maxMembers)
        return damaged("central directory");
    int state = global.number_entry == 0 ? UNZ_END_OF_LIST_OF_FILE : unzGoToFirstFile(m_zip);
    std::vector<char> name(65536);
    std::size_t nameBytes = 0;
    for (; state == UNZ_OK; state = unzGoToNextFile(m_zip)) {
        unz_file_info64 info = {};
        unz64_file_pos place = {};
        if (unzGetCurrentFileInfo64(m_zip, &info, name.data(), name.size(), nullptr, 0, nullptr, 0) != UNZ_OK
            || unzGetFilePos64(m_zip, &place) != UNZ_OK)
            return damaged("central directory");
        const Entry entry{place.pos_in_zip_directory,
                          place.num_of_file,
                          info.uncompressed_size,
                          info.compressed_size,
                          static_cast<std::uint32_t>(info.crc),
                          static_cast<std::uint16_t>(info.flag),
                          static_cast<std::uint16_t>(info.compression_method)};
        if (!m_entries.emplace(std::string(name.data(), info.size_filename), entry).second)
            return damaged(std::string(name.data(), info.size_filename));
        nameBytes += info.size_filename;
        if (m_entries.size() > maxMembers || nameBytes > maxNameBytes)
            return damaged("central directory");
    }
    if (state != UNZ_END_OF_LIST_OF_FILE)
        return damaged("central directory");
    return {};
}

std::vector<std::string> ZipReader::names() const
{
    std::vector<std::string> all;
    for (const auto &[name, entry] : m_entries)
        all.push_back(name);
    std::sort(all.begin(), all.end());
    return all;
}

std::size_t ZipReader::statedBytes(const std::string &name) const
{
    const auto found = m_entries.find(name);
    return found == m_entries.end() ? 0 : found->second.bytes;
}

Result<ZipMember> ZipReader::read(const std::string &name, std::size_t maxBytes)
{
    const auto found = m_entries.find(name);
    if (found == m_entries.end())
        return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "%1 lacks its zip record '%2'."),
                         {displayPath(m_file), QString::fromStdString(name)},
                         QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
    const Entry &entry = found->second;
    const bool known = entry.method == 0 || entry.method == Z_DEFLATED;
    if (entry.bytes > maxBytes || (entry.flags & encryptedFlag) || !known)
        return damaged(name);
    unz64_file_pos place = {entry.directoryPosition, entry.directoryNumber};
    if (unzGoToFilePos64(m_zip, &place) != UNZ_OK || unzOpenCurrentFile(m_zip) != UNZ_OK)
        return damaged(name);
    Result<ZipMember> member = readOpened(name, entry);
    unzCloseCurrentFile(m_zip);
    if (member.ok() && !crcFits(*member, entry.crc))
        return damaged(name);
    return member;
}

Result<ZipMember> ZipReader::readOpened(const std::string &name, const Entry &entry)
{
    if (entry.method == 0) {
        const std::uint64_t start = unzGetCurrentFileZStreamPos64(m_zip);
        const auto whole = m_mapping->bytes();
        if (entry.compressedBytes != entry.bytes || start > whole.size() || entry.bytes > whole.size() - start)
            return damaged(name);
        return ZipMember{m_mapping, whole.subspan(start, entry.bytes), true};
    }
    // deflate never gives more than 1032 bytes for one: a larger claim is untrue
    if (entry.compressedBytes > m_mapping->bytes().size() || entry.bytes / 1033 > entry.compressedBytes)
        return damaged(name);
    auto memory = std::make_shared<std::vector<std::byte>>(entry.bytes);
    std::size_t done = 0;
    while (done < memory->size()) {
        const auto piece = static_cast<unsigned>(std::min<std::size_t>(memory->size() - done, 1u << 26));
        const int got = unzReadCurrentFile(m_zip, memory->data() + done, piece);
        if (got <= 0)
            return damaged(name);
        done += static_cast<std::size_t>(got);
    }
    return ZipMember{memory, std::span<const std::byte>(*memory), false};
}

} // namespace tw

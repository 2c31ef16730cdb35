// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/archiveformats.h"
#include "core/data/decoders.h"

#include <QCoreApplication>

#include <libdeflate.h>
#include <minizip/unzip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include <sys/stat.h>

namespace tw {

namespace {

constexpr std::size_t EndRecordBytes = 22;
constexpr std::uint64_t LargestPicture = std::uint64_t(1) << 31;

struct CloseZip
{
    void operator()(void *zip) const { unzClose(zip); }
};
using Zip = std::unique_ptr<void, CloseZip>;

/// minizip takes an end record whose last bytes are missing.
Result<void> checkEnd(const fs::path &file)
{
    TW_ASSIGN(descriptor, openArchiveDescriptor(file));
    struct stat status = {};
    if (::fstat(descriptor.get(), &status) != 0)
        return archiveError(file, QString::fromLocal8Bit(std::strerror(errno)));
    const auto length = std::size_t(status.st_size);
    std::string tail(std::min<std::size_t>(length, EndRecordBytes + 65535), '\0');
    const std::int64_t got =
        readAt(descriptor.get(), length - tail.size(), reinterpret_cast<std::uint8_t *>(tail.data()), tail.size());
    const std::size_t at = tail.rfind("PK\x05\x06");
    if (got != std::int64_t(tail.size()) || at == std::string::npos || tail.size() - at < EndRecordBytes)
        return archiveError(file, QStringLiteral("its list of contents is missing, so it is cut short or no zip"));
    return {};
}

MemberProblem problemOf(const unz_file_info64 &info)
{
    if (info.flag & 1U)
        return MemberProblem::Encrypted;
    if (info.compression_method != 0 && info.compression_method != 8)
        return MemberProblem::Method;
    // deflate never gives more than 1032 bytes for one
    const bool untrue = info.compression_method == 0 ? info.uncompressed_size != info.compressed_size
                                                     : info.uncompressed_size / 1033 > info.compressed_size;
    return untrue || info.uncompressed_size > LargestPicture ? MemberProblem::Claim : MemberProblem::None;
}

/// Old Windows packers write backslashes; those of Unix may have them in a name.
std::string storedName(const std::string &name, const unz_file_info64 &info)
{
    const bool fromDos = info.version >> 8 == 0 && name.find('/') == std::string::npos;
    std::string out = name;
    if (fromDos)
        std::replace(out.begin(), out.end(), '\\', '/');
    return out;
}

Result<void> takeEntry(const fs::path &file, void *zip, std::vector<char> &buffer, ArchiveIndex &index)
{
    unz_file_info64 info = {};
    unz64_file_pos place = {};
    if (unzGetCurrentFileInfo64(zip, &info, buffer.data(), buffer.size(), nullptr, 0, nullptr, 0) != UNZ_OK
        || unzGetFilePos64(zip, &place) != UNZ_OK)
        return archiveError(file, QStringLiteral("its list of contents is damaged"));
    const std::string name = storedName(std::string(buffer.data(), info.size_filename), info);
    const std::optional<std::string> path = memberPath(name);
    if (!path)
        return memberError(file, name, QStringLiteral("its name leads out of the archive"));
    constexpr std::uint32_t unixHost = 3;
    const bool isLink = info.version >> 8 == unixHost && S_ISLNK(mode_t(info.external_fa >> 16));
    if (path->empty())
        return {};
    if (name.ends_with('/'))
        index.folders.push_back(*path);
    else if (isLink)
        index.ignored.push_back(*path);
    else
        index.files.push_back({*path, std::int64_t(info.uncompressed_size), place.pos_in_zip_directory,
                               place.num_of_file, info.compressed_size, std::uint32_t(info.crc),
                               std::uint16_t(info.compression_method), problemOf(info)});
    return {};
}

/// What one thread needs at a time: minizip's handle, the unpacker and room for the packed bytes.
struct Handle
{
    Zip zip;
    std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> unpacker{
        nullptr, &libdeflate_free_decompressor};
    std::vector<std::uint8_t> packed;
};

class ZipFile final : public ArchiveFile
{
public:
    ZipFile(ArchiveIndexPtr index, fs::path file) : ArchiveFile(std::move(index)), m_file(std::move(file)) {}

    Result<void> read(const ArchiveMember &member, const std::string &shown, std::size_t,
                      std::vector<std::uint8_t> &bytes) const override
    {
        if (member.problem != MemberProblem::None)
            return memberError(m_file, member.path, QStringLiteral("it cannot be unpacked"));
        TW_ASSIGN(handle, takeHandle());
        const Result<void> outcome = readWith(*handle, member, shown, bytes);
        const std::lock_guard lock(m_mutex);
        m_free.push_back(std::move(handle));
        return outcome;
    }

private:
    Result<std::unique_ptr<Handle>> takeHandle() const
    {
        {
            const std::lock_guard lock(m_mutex);
            if (!m_free.empty()) {
                std::unique_ptr<Handle> handle = std::move(m_free.back());
                m_free.pop_back();
                return handle;
            }
        }
        auto handle = std::make_unique<Handle>();
        handle->zip.reset(unzOpen64(m_file.c_str()));
        handle->unpacker.reset(libdeflate_alloc_decompressor());
        if (!handle->zip || !handle->unpacker)
            return archiveError(m_file, QStringLiteral("it cannot be opened any more"));
        return handle;
    }

    Result<void> readWith(Handle &handle, const ArchiveMember &member, const std::string &shown,
                          std::vector<std::uint8_t> &bytes) const
    {
        const bool stored = member.method == 0;
        std::vector<std::uint8_t> &packed = stored ? bytes : handle.packed;
        TW_TRY(readPacked(handle.zip.get(), member, shown, packed));
        if (!stored) {
            bytes.resize(std::size_t(member.bytes));
            std::size_t used = 0, got = 0;
            const libdeflate_result result = libdeflate_deflate_decompress_ex(
                handle.unpacker.get(), packed.data(), packed.size(), bytes.data(), bytes.size(), &used, &got);
            if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
                return memberError(m_file, member.path,
                                   QStringLiteral("it holds more than the %1 bytes that it claims").arg(member.bytes));
            if (result != LIBDEFLATE_SUCCESS)
                return imageError(shown, QStringLiteral("its compressed bytes in the archive are damaged"));
            if (got != bytes.size())
                return memberError(
                    m_file, member.path,
                    QStringLiteral("it holds %1 bytes, not the %2 that it claims").arg(got).arg(member.bytes));
        }
        if (libdeflate_crc32(0, bytes.data(), bytes.size()) != member.crc)
            return imageError(shown, QStringLiteral("its checksum in the archive does not fit"));
        return {};
    }

    Result<void> readPacked(void *zip, const ArchiveMember &member, const std::string &shown,
                            std::vector<std::uint8_t> &packed) const
    {
        unz64_file_pos place = {member.place, member.number};
        int method = 0, level = 0;
        if (unzGoToFilePos64(zip, &place) != UNZ_OK || unzOpenCurrentFile2(zip, &method, &level, 1) != UNZ_OK)
            return imageError(shown, QStringLiteral("its place in the archive is damaged"));
        packed.resize(std::size_t(member.packedBytes));
        std::size_t done = 0;
        while (done < packed.size()) {
            const auto piece = static_cast<unsigned>(std::min<std::size_t>(packed.size() - done, 1U << 26));
            const int got = unzReadCurrentFile(zip, packed.data() + done, piece);
            if (got <= 0)
                break;
            done += std::size_t(got);
        }
        unzCloseCurrentFile(zip);
        if (done < packed.size())
            return imageError(shown, QStringLiteral("the archive ends inside it"));
        return {};
    }

    fs::path m_file;
    mutable std::mutex m_mutex;
    mutable std::vector<std::unique_ptr<Handle>> m_free;
};

} // namespace

Result<ArchiveIndex> indexZip(const fs::path &file, const StopToken *stop)
{
    TW_TRY(checkEnd(file));
    const Zip zip(unzOpen64(file.c_str()));
    unz_global_info64 global = {};
    if (!zip || unzGetGlobalInfo64(zip.get(), &global) != UNZ_OK)
        return archiveError(file, QStringLiteral("its list of contents is damaged"));
    std::error_code unknown;
    constexpr std::uint64_t smallestEntry = 46;
    if (global.number_entry > fs::file_size(file, unknown) / smallestEntry)
        return archiveError(file, QStringLiteral("its list of contents claims %1 members").arg(global.number_entry));
    ArchiveIndex index;
    index.files.reserve(global.number_entry);
    std::vector<char> name(65536);
    int state = global.number_entry == 0 ? UNZ_END_OF_LIST_OF_FILE : unzGoToFirstFile(zip.get());
    for (; state == UNZ_OK; state = unzGoToNextFile(zip.get())) {
        if (stop && stop->cancel.load(std::memory_order_relaxed))
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The scan was canceled."));
        TW_TRY(takeEntry(file, zip.get(), name, index));
    }
    if (state != UNZ_END_OF_LIST_OF_FILE)
        return archiveError(file, QStringLiteral("its list of contents is damaged"));
    std::sort(index.files.begin(), index.files.end(),
              [](const ArchiveMember &a, const ArchiveMember &b) { return a.path < b.path; });
    return index;
}

Result<std::unique_ptr<ArchiveFile>> openZip(const fs::path &file, ArchiveIndexPtr index)
{
    return std::unique_ptr<ArchiveFile>(new ZipFile(std::move(index), file));
}

} // namespace tw

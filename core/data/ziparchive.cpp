// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/ziplist.h"
#include "core/data/archiveformats.h"
#include "core/data/decoders.h"

#include <libdeflate.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

namespace tw {

namespace {

/// Usual length of what stands between a member's name and its bytes: read with them in one go.
constexpr std::size_t UsualExtra = 64;

/// What one thread needs at a time: the unpacker and room for the packed bytes.
struct Handle
{
    std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> unpacker{
        nullptr, &libdeflate_free_decompressor};
    std::vector<std::uint8_t> packed;
};

class ZipFile final : public ArchiveFile
{
public:
    ZipFile(ArchiveIndexPtr index, fs::path file, FileDescriptor descriptor)
        : ArchiveFile(std::move(index)), m_file(std::move(file)), m_descriptor(std::move(descriptor))
    {
    }

    Result<void> read(const ArchiveMember &member, const std::string &shown, std::size_t most,
                      std::vector<std::uint8_t> &bytes) const override
    {
        if (member.problem != MemberProblem::None)
            return memberError(m_file, member.path, QStringLiteral("it cannot be unpacked"));
        std::unique_ptr<Handle> handle = takeHandle();
        const Result<void> outcome = member.method == 0 ? readStored(*handle, member, shown, most, bytes)
                                                        : readDeflated(*handle, member, shown, bytes);
        const std::lock_guard lock(m_mutex);
        m_free.push_back(std::move(handle));
        return outcome;
    }

private:
    std::unique_ptr<Handle> takeHandle() const
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
        handle->unpacker.reset(libdeflate_alloc_decompressor());
        return handle;
    }

    /// `count` bytes of the member as they are packed, behind its own header, in `room` from the
    /// returned place on.
    Result<std::size_t> readPacked(const ArchiveMember &member, const std::string &shown, std::size_t count,
                                   std::vector<std::uint8_t> &room) const
    {
        const std::size_t named = zipLocalBytes + member.nameBytes;
        room.resize(named + UsualExtra + count);
        const std::int64_t got = readAt(m_descriptor.get(), member.place, room.data(), room.size());
        if (got < 0)
            return imageError(shown, QString::fromLocal8Bit(std::strerror(errno)));
        // Its header must be that of the list of contents.
        const std::string_view local(reinterpret_cast<const char *>(room.data()), zipLocalBytes);
        const auto offset = zipDataOffset(local, member.method, member.nameBytes);
        if (got < std::int64_t(named) || !offset)
            return imageError(shown, QStringLiteral("its place in the archive is damaged"));
        const std::size_t begin = *offset;
        if (begin + count > room.size()) {
            const std::size_t have = std::size_t(got);
            room.resize(begin + count);
            if (have < room.size()
                && readAt(m_descriptor.get(), member.place + have, room.data() + have, room.size() - have)
                       != std::int64_t(room.size() - have))
                return imageError(shown, QStringLiteral("the archive ends inside it"));
        } else if (begin + count > std::size_t(got)) {
            return imageError(shown, QStringLiteral("the archive ends inside it"));
        }
        return begin;
    }

    Result<void> readStored(Handle &handle, const ArchiveMember &member, const std::string &shown, std::size_t most,
                            std::vector<std::uint8_t> &bytes) const
    {
        const auto whole = std::size_t(member.bytes);
        const std::size_t count = most == 0 ? whole : std::min(most, whole);
        TW_ASSIGN(begin, readPacked(member, shown, count, handle.packed));
        bytes.assign(handle.packed.begin() + std::ptrdiff_t(begin),
                     handle.packed.begin() + std::ptrdiff_t(begin + count));
        return count == whole ? checkSum(member, shown, bytes) : Result<void>();
    }

    Result<void> readDeflated(Handle &handle, const ArchiveMember &member, const std::string &shown,
                              std::vector<std::uint8_t> &bytes) const
    {
        const auto count = std::size_t(member.packedBytes);
        TW_ASSIGN(begin, readPacked(member, shown, count, handle.packed));
        bytes.resize(std::size_t(member.bytes));
        std::size_t used = 0, got = 0;
        const libdeflate_result result = libdeflate_deflate_decompress_ex(
            handle.unpacker.get(), handle.packed.data() + begin, count, bytes.data(), bytes.size(), &used, &got);
        if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
            return memberError(m_file, member.path,
                               QStringLiteral("it holds more than the %1 bytes that it claims").arg(member.bytes));
        if (result != LIBDEFLATE_SUCCESS)
            return imageError(shown, QStringLiteral("its compressed bytes in the archive are damaged"));
        if (got != bytes.size())
            return memberError(
                m_file, member.path,
                QStringLiteral("it holds %1 bytes, not the %2 that it claims").arg(got).arg(member.bytes));
        return checkSum(member, shown, bytes);
    }

    static Result<void> checkSum(const ArchiveMember &member, const std::string &shown,
                                 const std::vector<std::uint8_t> &bytes)
    {
        if (libdeflate_crc32(0, bytes.data(), bytes.size()) != member.crc)
            return imageError(shown, QStringLiteral("its checksum in the archive does not fit"));
        return {};
    }

    fs::path m_file;
    FileDescriptor m_descriptor;
    mutable std::mutex m_mutex;
    mutable std::vector<std::unique_ptr<Handle>> m_free;
};

} // namespace

Result<std::unique_ptr<ArchiveFile>> openZip(const fs::path &file, ArchiveIndexPtr index)
{
    TW_ASSIGN(descriptor, openArchiveDescriptor(file));
    return std::unique_ptr<ArchiveFile>(new ZipFile(std::move(index), file, std::move(descriptor)));
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/ziplist.h"
#include "core/data/archiveformats.h"

#include <QCoreApplication>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/stat.h>

namespace tw {

namespace {

constexpr std::uint64_t LargestPicture = std::uint64_t(1) << 31;

MemberProblem problemOf(const ZipEntry &entry)
{
    if (entry.isEncrypted())
        return MemberProblem::Encrypted;
    if (entry.method != 0 && entry.method != 8)
        return MemberProblem::Method;
    return !canHold(entry) || entry.bytes > LargestPicture ? MemberProblem::Claim : MemberProblem::None;
}

/// Old Windows packers write backslashes; those of Unix may have them in a name.
std::string plainName(const ZipEntry &entry)
{
    std::string out = entry.name;
    if (entry.madeBy >> 8 == 0 && out.find('/') == std::string::npos)
        std::replace(out.begin(), out.end(), '\\', '/');
    return out;
}

class Indexer
{
public:
    Indexer(const fs::path &file, const StopToken *stop) : m_file(file), m_stop(stop) {}
    Result<ArchiveIndex> run();

private:
    Result<void> findList();
    Result<void> takeEntries(std::string_view list);
    Result<void> takeEntry(const ZipEntry &entry);
    Result<void> checkOverlaps();
    Error damaged() const { return error(QStringLiteral("its list of contents is damaged")); }
    Error error(const QString &reason) const { return archiveError(m_file, reason); }
    bool read(std::uint64_t at, std::span<std::byte> to) const
    {
        return readAt(m_descriptor.get(), at, reinterpret_cast<std::uint8_t *>(to.data()), to.size())
               == std::int64_t(to.size());
    }

    const fs::path &m_file;
    const StopToken *m_stop;
    FileDescriptor m_descriptor;
    std::uint64_t m_length = 0;
    ZipList m_list;
    ArchiveIndex m_index;
};

Result<void> Indexer::findList()
{
    const ZipFault fault = findZipList(
        m_length, [this](std::uint64_t at, std::span<std::byte> to) { return read(at, to); }, m_list);
    if (fault == ZipFault::Missing)
        return error(QStringLiteral("its list of contents is missing, so it is cut short or no zip"));
    if (m_list.isPart)
        return error(QStringLiteral("it is one of several parts; join them first"));
    if (fault == ZipFault::Claim)
        return error(
            QStringLiteral("its list of contents claims %1 members in %2 bytes").arg(m_list.entries).arg(m_list.bytes));
    return fault == ZipFault::None ? Result<void>() : damaged();
}

Result<void> Indexer::takeEntries(std::string_view list)
{
    std::uint64_t members = 0;
    for (; hasZipEntry(list); ++members) {
        if (m_stop && members % 1024 == 0 && m_stop->cancel.load(std::memory_order_relaxed))
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The scan was canceled."));
        const auto entry = takeZipEntry(list);
        if (!entry)
            return damaged();
        TW_TRY(takeEntry(*entry));
    }
    return isZipCount(m_list, members) && m_index.files.size() <= members ? Result<void>() : damaged();
}

Result<void> Indexer::takeEntry(const ZipEntry &entry)
{
    const std::string name = plainName(entry);
    const std::optional<std::string> path = memberPath(name);
    if (!path)
        return memberError(m_file, name, QStringLiteral("its name leads out of the archive"));
    constexpr std::uint16_t inZip64 = 0xffff;
    if (entry.disk != 0 && entry.disk != inZip64)
        return error(QStringLiteral("it is one of several parts; join them first"));
    if (entry.packed > m_length || entry.offset > m_length)
        return memberError(m_file, name, QStringLiteral("it claims bytes that are not in the archive"));
    constexpr std::uint16_t unixHost = 3;
    if (path->empty())
        return {};
    if (name.ends_with('/')) {
        m_index.folders.push_back(*path);
    } else if (entry.madeBy >> 8 == unixHost && S_ISLNK(mode_t(entry.attributes >> 16))) {
        m_index.ignored.push_back(*path);
    } else {
        ArchiveMember member;
        member.path = *path;
        member.bytes = std::int64_t(std::min<std::uint64_t>(entry.bytes, INT64_MAX));
        member.place = entry.offset + m_list.prefix;
        member.packedBytes = entry.packed;
        member.crc = entry.crc;
        member.method = entry.method;
        member.nameBytes = entry.nameBytes;
        member.problem = problemOf(entry);
        m_index.files.push_back(std::move(member));
    }
    return {};
}

/// Members that share bytes unpack to far more than the archive could hold.
Result<void> Indexer::checkOverlaps()
{
    std::vector<std::pair<std::uint64_t, std::uint32_t>> places;
    places.reserve(m_index.files.size());
    for (std::size_t i = 0; i < m_index.files.size(); ++i)
        places.emplace_back(m_index.files[i].place, std::uint32_t(i));
    std::sort(places.begin(), places.end());
    for (std::size_t i = 1; i < places.size(); ++i) {
        const ArchiveMember &before = m_index.files[places[i - 1].second];
        if (before.place + zipLocalBytes + before.nameBytes + before.packedBytes > places[i].first)
            return memberError(m_file, m_index.files[places[i].second].path,
                               QStringLiteral("it shares bytes with \"%1\"").arg(displayPath(fs::path(before.path))));
    }
    return {};
}

Result<ArchiveIndex> Indexer::run()
{
    TW_ASSIGN(descriptor, openArchiveDescriptor(m_file));
    m_descriptor = std::move(descriptor);
    struct stat status = {};
    if (::fstat(m_descriptor.get(), &status) != 0)
        return error(QString::fromLocal8Bit(std::strerror(errno)));
    m_length = std::uint64_t(status.st_size);
    if (m_length == 0)
        return error(QStringLiteral("it is empty"));
    TW_TRY(findList());
    std::string list(std::size_t(m_list.bytes), '\0');
    if (!read(m_list.begin, std::as_writable_bytes(std::span(list))))
        return damaged();
    m_index.files.reserve(std::size_t(m_list.entries));
    TW_TRY(takeEntries(list));
    TW_TRY(checkOverlaps());
    std::sort(m_index.files.begin(), m_index.files.end(),
              [](const ArchiveMember &a, const ArchiveMember &b) { return a.path < b.path; });
    return std::move(m_index);
}

} // namespace

Result<ArchiveIndex> indexZip(const fs::path &file, const StopToken *stop)
{
    return Indexer(file, stop).run();
}

} // namespace tw

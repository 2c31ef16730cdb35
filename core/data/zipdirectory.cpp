// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/archiveformats.h"

#include <QCoreApplication>

#include <libdeflate.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/stat.h>

// PKWARE's APPNOTE 6.3.10, sections 4.3 to 4.5, read by ourselves: names are bytes here, and what the
// list of contents says is not believed before it was checked.

namespace tw {

namespace {

constexpr std::size_t EndBytes = 22, LocatorBytes = 20, End64Bytes = 56, EntryBytes = 46;
constexpr std::uint64_t LargestPicture = std::uint64_t(1) << 31;
constexpr std::uint32_t EndMark = 0x06054b50, LocatorMark = 0x07064b50, End64Mark = 0x06064b50, EntryMark = 0x02014b50;
constexpr std::uint16_t Full16 = 0xffff;
constexpr std::uint32_t Full32 = 0xffffffff;

std::uint64_t numberAt(std::string_view bytes, std::size_t at, int length)
{
    std::uint64_t value = 0;
    for (int i = length - 1; i >= 0; --i)
        value = value << 8 | static_cast<unsigned char>(bytes[at + std::size_t(i)]);
    return value;
}

std::uint16_t u16(std::string_view bytes, std::size_t at)
{
    return std::uint16_t(numberAt(bytes, at, 2));
}

std::uint32_t u32(std::string_view bytes, std::size_t at)
{
    return std::uint32_t(numberAt(bytes, at, 4));
}

std::uint64_t u64(std::string_view bytes, std::size_t at)
{
    return numberAt(bytes, at, 8);
}

/// Where the list of contents lies.
struct Directory
{
    std::uint64_t members = 0, bytes = 0, offset = 0;
    std::uint64_t end = 0;    ///< of the list, in the file
    std::uint64_t prefix = 0; ///< bytes before the archive: offsets count from behind them
    bool isZip64 = false;
    bool isPart = false;
    std::uint64_t begin() const { return end - bytes; }
};

struct Entry
{
    std::string name;
    std::uint64_t packed = 0, bytes = 0, offset = 0;
    std::uint32_t crc = 0, attributes = 0;
    std::uint16_t madeBy = 0, flags = 0, method = 0, disk = 0, nameBytes = 0;
};

/// Sizes that do not fit 32 bits, in the order of the fields that are full.
void takeZip64(std::string_view field, Entry &entry)
{
    for (std::uint64_t *value : {&entry.bytes, &entry.packed, &entry.offset}) {
        if (*value != Full32)
            continue;
        if (field.size() < 8)
            return;
        *value = u64(field, 0);
        field.remove_prefix(8);
    }
}

/// Info-ZIP's name in UTF-8, where it belongs to the stored one.
void takeUnicodeName(std::string_view field, Entry &entry)
{
    if (field.size() > 5 && field[0] == 1 && u32(field, 1) == libdeflate_crc32(0, entry.name.data(), entry.name.size()))
        entry.name = field.substr(5);
}

void takeExtra(std::string_view extra, Entry &entry)
{
    while (extra.size() >= 4) {
        const std::uint16_t kind = u16(extra, 0);
        const std::string_view field = extra.substr(4, u16(extra, 2));
        extra.remove_prefix(std::min(extra.size(), std::size_t(4) + u16(extra, 2)));
        if (kind == 0x0001)
            takeZip64(field, entry);
        else if (kind == 0x7075)
            takeUnicodeName(field, entry);
    }
}

MemberProblem problemOf(const Entry &entry)
{
    if (entry.flags & (1U | 1U << 6 | 1U << 13))
        return MemberProblem::Encrypted;
    if (entry.method != 0 && entry.method != 8)
        return MemberProblem::Method;
    // deflate never gives more than 1032 bytes for one
    const bool untrue = entry.method == 0 ? entry.bytes != entry.packed : entry.bytes / 1033 > entry.packed;
    return untrue || entry.bytes > LargestPicture ? MemberProblem::Claim : MemberProblem::None;
}

/// Old Windows packers write backslashes; those of Unix may have them in a name.
std::string plainName(const Entry &entry)
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
    Result<void> findEnd();
    Result<void> findEnd64(std::string_view tail, std::size_t at, std::uint64_t tailBegin);
    Result<void> checkPlace();
    Result<void> takeEntries(std::string_view list);
    Result<void> takeEntry(const Entry &entry);
    Result<void> checkOverlaps();
    Error damaged() const { return error(QStringLiteral("its list of contents is damaged")); }
    Error error(const QString &reason) const { return archiveError(m_file, reason); }
    bool read(std::uint64_t at, std::string &bytes) const
    {
        return readAt(m_descriptor.get(), at, reinterpret_cast<std::uint8_t *>(bytes.data()), bytes.size())
               == std::int64_t(bytes.size());
    }

    const fs::path &m_file;
    const StopToken *m_stop;
    FileDescriptor m_descriptor;
    std::uint64_t m_length = 0;
    Directory m_directory;
    ArchiveIndex m_index;
};

/// The end record whose comment reaches to the end of the file, else the last one that is whole.
std::size_t endRecordIn(std::string_view tail)
{
    std::size_t whole = std::string_view::npos;
    for (std::size_t at = tail.rfind("PK\x05\x06"); at != std::string_view::npos;
         at = at == 0 ? std::string_view::npos : tail.rfind("PK\x05\x06", at - 1)) {
        if (tail.size() - at < EndBytes || at + EndBytes + u16(tail, at + 20) > tail.size())
            continue;
        if (at + EndBytes + u16(tail, at + 20) == tail.size())
            return at;
        whole = whole == std::string_view::npos ? at : whole;
    }
    return whole;
}

Result<void> Indexer::findEnd()
{
    std::string tail(std::size_t(std::min<std::uint64_t>(m_length, EndBytes + Full16 + LocatorBytes + End64Bytes)),
                     '\0');
    const std::uint64_t tailBegin = m_length - tail.size();
    const bool isRead = read(tailBegin, tail);
    const std::size_t at = isRead ? endRecordIn(tail) : std::string::npos;
    if (at == std::string::npos)
        return error(QStringLiteral("its list of contents is missing, so it is cut short or no zip"));
    m_directory.members = u16(tail, at + 10);
    m_directory.bytes = u32(tail, at + 12);
    m_directory.offset = u32(tail, at + 16);
    m_directory.end = tailBegin + at;
    const std::uint16_t disk = u16(tail, at + 4);
    m_directory.isPart = (disk != 0 && disk != Full16) || u16(tail, at + 8) != m_directory.members;
    return findEnd64(tail, at, tailBegin);
}

/// Before the end record, of archives of more than 65,535 members or 4 GiB.
Result<void> Indexer::findEnd64(std::string_view tail, std::size_t at, std::uint64_t tailBegin)
{
    if (at < LocatorBytes || u32(tail, at - LocatorBytes) != LocatorMark)
        return {};
    const std::uint64_t stated = u64(tail, at - LocatorBytes + 8);
    m_directory.isPart = m_directory.isPart || u32(tail, at - 4) > 1;
    std::string record(End64Bytes, '\0');
    std::uint64_t place = stated;
    if (stated > m_length || !read(stated, record) || u32(record, 0) != End64Mark) {
        // Bytes before the archive move everything.
        place = tailBegin + at - LocatorBytes - End64Bytes;
        if (tailBegin + at < LocatorBytes + End64Bytes || !read(place, record) || u32(record, 0) != End64Mark)
            return m_directory.isPart ? Result<void>() : damaged();
    }
    m_directory.isZip64 = true;
    m_directory.members = u64(record, 32);
    m_directory.bytes = u64(record, 40);
    m_directory.offset = u64(record, 48);
    m_directory.end = place;
    return {};
}

Result<void> Indexer::checkPlace()
{
    if (m_directory.isPart)
        return error(QStringLiteral("it is one of several parts; join them first"));
    if (m_directory.bytes > m_directory.end || m_directory.members > m_directory.bytes / EntryBytes)
        return error(QStringLiteral("its list of contents claims %1 members in %2 bytes")
                         .arg(m_directory.members)
                         .arg(m_directory.bytes));
    if (m_directory.offset > m_directory.begin())
        return damaged();
    m_directory.prefix = m_directory.begin() - m_directory.offset;
    return {};
}

Result<void> Indexer::takeEntries(std::string_view list)
{
    std::uint64_t members = 0;
    while (!list.empty() && list.size() >= EntryBytes && u32(list, 0) == EntryMark) {
        if (m_stop && members % 1024 == 0 && m_stop->cancel.load(std::memory_order_relaxed))
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The scan was canceled."));
        const std::size_t name = u16(list, 28), extra = u16(list, 30), comment = u16(list, 32);
        if (list.size() < EntryBytes + name + extra + comment)
            return damaged();
        Entry entry;
        entry.madeBy = u16(list, 4);
        entry.flags = u16(list, 8);
        entry.method = u16(list, 10);
        entry.crc = u32(list, 16);
        entry.packed = u32(list, 20);
        entry.bytes = u32(list, 24);
        entry.nameBytes = std::uint16_t(name);
        entry.disk = u16(list, 34);
        entry.attributes = u32(list, 38);
        entry.offset = u32(list, 42);
        entry.name = list.substr(EntryBytes, name);
        takeExtra(list.substr(EntryBytes + name, extra), entry);
        TW_TRY(takeEntry(entry));
        list.remove_prefix(EntryBytes + name + extra + comment);
        ++members;
    }
    // Old packers count beyond 65,535 from 0 again.
    const std::uint64_t counted = m_directory.isZip64 ? members : members & Full16;
    return counted == m_directory.members && m_index.files.size() <= members ? Result<void>() : damaged();
}

Result<void> Indexer::takeEntry(const Entry &entry)
{
    const std::string name = plainName(entry);
    const std::optional<std::string> path = memberPath(name);
    if (!path)
        return memberError(m_file, name, QStringLiteral("its name leads out of the archive"));
    if (entry.disk != 0 && entry.disk != Full16)
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
        member.place = entry.offset + m_directory.prefix;
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
        constexpr std::uint64_t localBytes = 30;
        if (before.place + localBytes + before.nameBytes + before.packedBytes > places[i].first)
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
    TW_TRY(findEnd());
    TW_TRY(checkPlace());
    std::string list(std::size_t(m_directory.bytes), '\0');
    if (!read(m_directory.begin(), list))
        return damaged();
    m_index.files.reserve(std::size_t(m_directory.members));
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

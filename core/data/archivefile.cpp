// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/archivefile.h"

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/data/archiveformats.h"
#include "core/data/cachefolder.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

namespace {

constexpr std::size_t rememberedIndices = 2;

using Identity = std::tuple<std::string, std::int64_t, std::int64_t, std::uint64_t>;

std::int64_t nanoseconds(const struct timespec &time)
{
    return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::optional<Identity> identityOf(const fs::path &file)
{
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0)
        return std::nullopt;
    return Identity{file.native(), std::int64_t(status.st_size), nanoseconds(status.st_mtim),
                    std::uint64_t(status.st_ino)};
}

bool endsWithAny(const std::string &name, std::initializer_list<std::string_view> ends)
{
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

bool hasPackedTarName(const std::string &name)
{
    return endsWithAny(name, {".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz", ".tar.zst", ".tzst"});
}

bool startsAsPacked(const std::array<std::uint8_t, 262> &start)
{
    const std::string_view text(reinterpret_cast<const char *>(start.data()), start.size());
    return text.starts_with("\x1f\x8b") || text.starts_with("BZh")
           || text.starts_with(std::string_view("\xfd"
                                                "7zXZ\0",
                                                6))
           || text.starts_with("\x28\xb5\x2f\xfd");
}

class TarFile final : public ArchiveFile
{
public:
    TarFile(ArchiveIndexPtr index, fs::path file, FileDescriptor descriptor)
        : ArchiveFile(std::move(index)), m_file(std::move(file)), m_descriptor(std::move(descriptor))
    {
    }

    Result<void> read(const ArchiveMember &member, const std::string &shown, std::size_t most,
                      std::vector<std::uint8_t> &bytes) const override
    {
        const auto whole = std::size_t(member.bytes);
        bytes.resize(most == 0 ? whole : std::min(most, whole));
        const std::int64_t got = readAt(m_descriptor.get(), member.place, bytes.data(), bytes.size());
        if (got == std::int64_t(bytes.size()))
            return {};
        return memberError(m_file, member.path,
                           got < 0
                               ? QString::fromLocal8Bit(std::strerror(errno))
                               : QStringLiteral("the archive ends inside \"%1\"").arg(QString::fromStdString(shown)));
    }

private:
    fs::path m_file;
    FileDescriptor m_descriptor;
};

/// A file that no folder lists: it goes away with its last descriptor, however the program ends.
Result<FileDescriptor> namelessFile()
{
    std::string name = (fs::temp_directory_path() / "trainwright-archive-XXXXXX").native();
    FileDescriptor descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (!descriptor.isOpen())
        return writeError(fs::path(name), errno);
    ::unlink(name.c_str());
    return descriptor;
}

Result<void> unpackInto(int descriptor, const fs::path &shown, TarStream &stream, const fs::path &archive,
                        const StopToken *stop, const std::function<void(std::int64_t)> &progress)
{
    std::vector<std::uint8_t> block(1 << 20);
    std::int64_t total = 0;
    for (std::size_t got = block.size(); got == block.size();) {
        QString problem;
        if (stop && stop->cancel.load(std::memory_order_relaxed))
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Unpacking the archive was canceled."));
        if (!stream.read(block.data(), block.size(), got, problem))
            return archiveError(archive, problem);
        for (std::size_t done = 0; done < got;) {
            const ssize_t wrote = ::write(descriptor, block.data() + done, got - done);
            if (wrote < 0 && errno != EINTR)
                return writeError(shown, errno);
            done += wrote > 0 ? std::size_t(wrote) : 0;
        }
        total += std::int64_t(got);
        if (progress)
            progress(total);
    }
    return {};
}

Result<FileDescriptor> unpackedDescriptor(const fs::path &file, const fs::path &unpacked, const StopToken *stop)
{
    if (!unpacked.empty()) {
        TW_TRY(unpackArchive(file, unpacked, stop));
        TW_ASSIGN(opened, openArchiveDescriptor(unpacked));
        markUsed(opened.get()); // removed at this moment: it stays readable as long as it is open
        return std::move(opened);
    }
    TW_ASSIGN(descriptor, namelessFile());
    TW_ASSIGN(stream, openTarStream(file, true));
    TW_TRY(unpackInto(descriptor.get(), fs::temp_directory_path(), *stream, file, stop, {}));
    return std::move(descriptor);
}

Result<ArchiveIndex> makeIndex(const fs::path &file, ArchiveKind kind, const StopToken *stop)
{
    if (kind == ArchiveKind::Zip)
        return indexZip(file, stop);
    TW_ASSIGN(stream, openTarStream(file, kind == ArchiveKind::PackedTar));
    return indexTar(file, *stream, stop);
}

} // namespace

Error archiveError(const fs::path &file, const QString &reason)
{
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "The archive \"%1\" cannot be read: %2."),
                     {displayPath(file), reason},
                     QT_TRANSLATE_NOOP("Error", "Copy, download or pack the archive again."));
}

Error memberError(const fs::path &file, std::string_view member, const QString &reason)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "The member \"%2\" of the archive \"%1\" is refused: %3."),
                     {displayPath(file), displayPath(fs::path(std::string(member))), reason},
                     QT_TRANSLATE_NOOP("Error", "Pack the archive again without it, or unpack it and choose the "
                                                "folder."));
}

std::optional<std::size_t> ArchiveIndex::find(std::string_view path) const
{
    const auto found = std::lower_bound(files.begin(), files.end(), path,
                                        [](const ArchiveMember &a, std::string_view b) { return a.path < b; });
    if (found == files.end() || found->path != path)
        return std::nullopt;
    return std::size_t(found - files.begin());
}

std::optional<ArchiveKind> archiveKindOf(const fs::path &file)
{
    std::string name = file.filename().native();
    for (char &c : name)
        c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    std::array<std::uint8_t, 262> start{};
    if (const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); descriptor.isOpen()) {
        struct stat status = {};
        if (::fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode))
            return std::nullopt;
        readAt(descriptor.get(), 0, start.data(), start.size());
    }
    // What a file holds counts for more than what it is called.
    if (std::memcmp(start.data(), "PK\3\4", 4) == 0 || std::memcmp(start.data(), "PK\5\6", 4) == 0
        || std::memcmp(start.data(), "PK\7\x8", 4) == 0)
        return ArchiveKind::Zip;
    if (std::memcmp(start.data() + 257, "ustar", 5) == 0)
        return ArchiveKind::Tar;
    if (startsAsPacked(start))
        return ArchiveKind::PackedTar;
    if (name.ends_with(".zip"))
        return ArchiveKind::Zip;
    if (name.ends_with(".tar"))
        return ArchiveKind::Tar;
    if (hasPackedTarName(name))
        return ArchiveKind::PackedTar;
    return std::nullopt;
}

std::optional<std::string> memberPath(std::string_view stored)
{
    const bool drive = stored.size() > 2 && std::isalpha(static_cast<unsigned char>(stored[0])) && stored[1] == ':'
                       && (stored[2] == '/' || stored[2] == '\\');
    if (stored.starts_with('/') || stored.starts_with('\\') || drive || stored.find('\0') != std::string_view::npos)
        return std::nullopt;
    for (std::size_t begin = 0; begin <= stored.size();) {
        const std::size_t end = std::min(stored.find_first_of("/\\", begin), stored.size());
        if (stored.substr(begin, end - begin) == "..")
            return std::nullopt;
        begin = end + 1;
    }
    std::string path;
    for (std::size_t begin = 0; begin < stored.size();) {
        const std::size_t end = std::min(stored.find('/', begin), stored.size());
        const std::string_view part = stored.substr(begin, end - begin);
        if (!part.empty() && part != ".")
            (path.empty() ? path : path += '/').append(part);
        begin = end + 1;
    }
    return path;
}

Result<ArchiveIndexPtr> archiveIndex(const fs::path &file, ArchiveKind kind, const StopToken *stop)
{
    static std::mutex mutex;
    static std::deque<std::pair<Identity, ArchiveIndexPtr>> remembered;

    const std::optional<Identity> identity = identityOf(file);
    if (!identity)
        return archiveError(file, QString::fromLocal8Bit(std::strerror(errno)));
    {
        const std::lock_guard lock(mutex);
        for (const auto &[known, index] : remembered)
            if (known == *identity)
                return index;
    }
    TW_ASSIGN(made, makeIndex(file, kind, stop));
    made.mtimeNs = std::get<2>(*identity);
    ArchiveIndexPtr index = std::make_shared<const ArchiveIndex>(std::move(made));
    const std::lock_guard lock(mutex);
    if (identityOf(file) == identity)
        remembered.emplace_front(*identity, index);
    if (remembered.size() > rememberedIndices)
        remembered.pop_back();
    return index;
}

Result<std::unique_ptr<ArchiveFile>> ArchiveFile::open(const fs::path &file, const fs::path &unpacked,
                                                       const StopToken *stop)
{
    const std::optional<ArchiveKind> kind = archiveKindOf(file);
    if (!kind)
        return archiveError(file, QStringLiteral("it is no zip or tar archive"));
    TW_ASSIGN(index, archiveIndex(file, *kind, stop));
    if (*kind == ArchiveKind::Zip)
        return openZip(file, index);
    TW_ASSIGN(descriptor,
              *kind == ArchiveKind::Tar ? openArchiveDescriptor(file) : unpackedDescriptor(file, unpacked, stop));
    return std::unique_ptr<ArchiveFile>(new TarFile(index, file, std::move(descriptor)));
}

fs::path unpackedArchive(const fs::path &cacheFolder, const fs::path &archive)
{
    std::error_code unknown;
    const fs::path absolute = fs::absolute(archive, unknown);
    const auto identity = identityOf(absolute).value_or(Identity{absolute.native(), 0, 0, 0});
    QByteArray text = bytesFromPath(absolute) + '\0';
    text += QByteArray::number(qlonglong(std::get<1>(identity))) + ' '
            + QByteArray::number(qlonglong(std::get<2>(identity))) + ' '
            + QByteArray::number(qulonglong(std::get<3>(identity)));
    return cacheFolder / "archives" / blake2b(text).toStdString() / "archive.tar";
}

Result<void> unpackArchive(const fs::path &archive, const fs::path &unpacked, const StopToken *stop,
                           const std::function<void(std::int64_t)> &progress)
{
    std::error_code unknown;
    if (fs::is_regular_file(unpacked, unknown))
        return {};
    TW_TRY(makeFolder(unpacked.parent_path().parent_path()));
    AtomicFolder folder(unpacked.parent_path(), true);
    TW_TRY(folder.open());
    const fs::path part = folder.temporary() / unpacked.filename();
    {
        const FileDescriptor descriptor(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (!descriptor.isOpen())
            return writeError(part, errno);
        TW_ASSIGN(stream, openTarStream(archive, true));
        TW_TRY(unpackInto(descriptor.get(), unpacked, *stream, archive, stop, progress));
    }
    TW_TRY(folder.commit());
    if (const fs::path archives = unpacked.parent_path().parent_path(); archives.filename() == "archives")
        makeRoomInCache(archives.parent_path(), 0, cacheLimitBytes(), unpacked);
    return {};
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/folderlisting.h"

#include "core/data/folderrules.h"
#include "core/data/parallel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

namespace {

constexpr std::size_t SliceSize = 4096;

/// Type, size and time of one name, links followed.
void ask(int folder, const char *name, bool isPicture, FolderEntry &entry)
{
    struct stat status; // filled by the call
    if (::fstatat(folder, name, &status, 0) != 0) {
        const bool isLink = entry.type == DT_LNK
                            || (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode));
        entry.kind = isLink ? EntryKind::Dangling : isPicture ? EntryKind::Unreadable : EntryKind::Other;
    } else if (S_ISDIR(status.st_mode)) {
        entry.kind = entry.type == DT_LNK ? EntryKind::LinkedFolder : EntryKind::Folder;
        if (entry.type == DT_UNKNOWN && ::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0
            && S_ISLNK(status.st_mode))
            entry.kind = EntryKind::LinkedFolder;
    } else if (S_ISREG(status.st_mode) && isPicture) {
        entry.kind = EntryKind::Picture;
        entry.bytes = std::int64_t(status.st_size);
        entry.mtimeNs = std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
    }
}

} // namespace

FolderDescriptor::~FolderDescriptor()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

int FolderListing::readNames(int folder, const StopToken *stop)
{
    const int copy = ::fcntl(folder, F_DUPFD_CLOEXEC, 0);
    const std::unique_ptr<DIR, int (*)(DIR *)> stream(copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
    if (!stream) {
        const int code = errno;
        if (copy >= 0)
            ::close(copy);
        return code;
    }
    errno = 0;
    while (const dirent *item = ::readdir(stream.get())) {
        if (stop && stop->cancel.load(std::memory_order_relaxed))
            return ECANCELED;
        const std::string_view name = item->d_name;
        if (name == "." || name == "..")
            continue;
        if (m_names.size() > std::numeric_limits<std::uint32_t>::max() - name.size())
            return EOVERFLOW;
        FolderEntry entry;
        entry.offset = std::uint32_t(m_names.size());
        entry.length = std::uint16_t(name.size());
        entry.type = item->d_type;
        entry.kind = item->d_type == DT_DIR ? EntryKind::Folder : EntryKind::Other;
        m_names.append(name).push_back('\0');
        m_entries.push_back(entry);
        errno = 0;
    }
    return errno;
}

void FolderListing::sortByPath()
{
    const auto before = [this](const FolderEntry &a, const FolderEntry &b) {
        const std::string_view first = name(a), second = name(b);
        const std::size_t common = std::min(first.size(), second.size());
        if (const int order = std::memcmp(first.data(), second.data(), common); order != 0)
            return order < 0;
        // What follows the shorter name in a path: the separator of a folder, else nothing.
        const auto next = [&](const FolderEntry &entry, std::string_view text) {
            const bool isFolder = entry.kind == EntryKind::Folder || entry.kind == EntryKind::LinkedFolder;
            return text.size() > common ? int(std::uint8_t(text[common])) : isFolder ? int('/') : -1;
        };
        return next(a, first) < next(b, second);
    };
    if (!std::is_sorted(m_entries.begin(), m_entries.end(), before))
        std::sort(m_entries.begin(), m_entries.end(), before);
}

int FolderListing::read(int root, const std::string &relative, int workers, const StopToken *stop)
{
    m_names.clear();
    m_entries.clear();
    const FolderDescriptor folder(
        ::openat(root, relative.empty() ? "." : relative.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
    struct stat status = {};
    if (folder.get() < 0 || ::fstat(folder.get(), &status) != 0)
        return errno;
    m_id = {status.st_dev, status.st_ino};
    if (const int code = readNames(folder.get(), stop); code != 0)
        return code;
    sortByPath(); // before asking: names in order lie near each other on most disks
    const std::size_t slices = (m_entries.size() + SliceSize - 1) / SliceSize;
    const auto askSlice = [&](std::size_t slice, std::size_t) {
        const std::size_t end = std::min(m_entries.size(), (slice + 1) * SliceSize);
        for (std::size_t i = slice * SliceSize; i < end; ++i) {
            if (i % 64 == 0 && stop && stop->cancel.load(std::memory_order_relaxed))
                return;
            FolderEntry &entry = m_entries[i];
            const bool mayBeAnything = entry.type == DT_LNK || entry.type == DT_UNKNOWN;
            const bool isPicture = (mayBeAnything || entry.type == DT_REG) && isPictureName(name(entry));
            if (mayBeAnything || isPicture)
                ask(folder.get(), m_names.data() + entry.offset, isPicture, entry);
        }
    };
    if (slices > 1 && workers > 1)
        parallelFor(slices, workers, stop, askSlice);
    else
        for (std::size_t slice = 0; slice < slices; ++slice)
            askSlice(slice, 0);
    if (stop && stop->cancel.load(std::memory_order_relaxed))
        return ECANCELED;
    const auto becameFolder = [](const FolderEntry &entry) {
        return entry.type != DT_DIR && (entry.kind == EntryKind::Folder || entry.kind == EntryKind::LinkedFolder);
    };
    if (std::any_of(m_entries.begin(), m_entries.end(), becameFolder))
        sortByPath(); // now that these are known
    return 0;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/cachefolder.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace tw {

namespace {

constexpr double defaultLimitGb = 50;
constexpr std::int64_t largestReserve = 512'000'000;
constexpr std::int64_t blockBytes = 512; // unit of st_blocks

struct CacheItem
{
    std::int64_t usedNs = 0;
    fs::path file;
    std::int64_t bytes = 0;
    bool operator<(const CacheItem &other) const { return std::tie(usedNs, file) < std::tie(other.usedNs, other.file); }
};

void addItem(const fs::path &file, std::vector<CacheItem> &items)
{
    struct stat status = {};
    if (::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode))
        items.push_back({std::int64_t(status.st_atim.tv_sec) * 1'000'000'000 + status.st_atim.tv_nsec, file,
                         std::int64_t(status.st_blocks) * blockBytes});
}

/// The least recently used first.
std::vector<CacheItem> itemsOf(const fs::path &cacheFolder)
{
    std::vector<CacheItem> items;
    std::error_code end;
    for (fs::directory_iterator entry(cacheFolder / "decoded", end), last; !end && entry != last; entry.increment(end))
        if (entry->path().extension() == ".pictures" || entry->path().extension() == ".new")
            addItem(entry->path(), items);
    end.clear();
    for (fs::directory_iterator entry(cacheFolder / "archives", end), last; !end && entry != last; entry.increment(end))
        addItem(entry->path() / "archive.tar", items);
    std::sort(items.begin(), items.end());
    return items;
}

/// False when somebody uses the file or it cannot be removed.
bool removeUnused(const fs::path &file)
{
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        return false;
    const bool removed = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::unlink(file.c_str()) == 0;
    ::close(descriptor);
    std::error_code ignored;
    if (removed && file.filename() == "archive.tar")
        fs::remove(file.parent_path(), ignored);
    return removed;
}

} // namespace

std::int64_t cacheLimitBytes()
{
    const char *text = std::getenv("TRAINWRIGHT_CACHE_LIMIT_GB");
    char *end = nullptr;
    const double value = text ? std::strtod(text, &end) : defaultLimitGb;
    const double gigabytes = (text && end == text) || !(value >= 0) ? defaultLimitGb : value;
    return std::int64_t(std::min(gigabytes * 1e9, 9e18));
}

std::int64_t makeRoomInCache(const fs::path &cacheFolder, std::int64_t wanted, std::int64_t limit, const fs::path &keep)
{
    const std::vector<CacheItem> items = itemsOf(cacheFolder);
    std::int64_t left = limit;
    for (const CacheItem &item : items)
        left -= item.bytes;
    for (const CacheItem &item : items) {
        if (left >= wanted)
            break;
        if (item.file != keep && removeUnused(item.file))
            left += item.bytes;
    }
    return left;
}

bool markUsed(int descriptor)
{
    struct stat status = {};
    if (::flock(descriptor, LOCK_SH | LOCK_NB) != 0 || ::fstat(descriptor, &status) != 0 || status.st_nlink == 0)
        return false;
    const struct timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
    ::futimens(descriptor, times); // someone else's file keeps the time of its owner's use
    return true;
}

std::int64_t freeDiskBytes(const fs::path &folder)
{
    std::error_code unknown;
    fs::path there = folder;
    while (!fs::exists(there, unknown) && there.has_parent_path() && there != there.parent_path())
        there = there.parent_path();
    struct statvfs status = {};
    if (::statvfs(there.c_str(), &status) != 0)
        return 0;
    const auto unit = std::int64_t(status.f_frsize);
    const std::int64_t reserve = std::min(largestReserve, std::int64_t(status.f_blocks) * unit / 20);
    return std::int64_t(status.f_bavail) * unit - reserve;
}

} // namespace tw

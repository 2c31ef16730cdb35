// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/scancache.h"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <mutex>

namespace tw {

namespace {

constexpr std::size_t rememberedScans = 4;

struct Entry
{
    fs::path path;
    ScanOptions options;
    std::vector<std::int64_t> stamp;
    ScanPtr scan;
};

struct Cache
{
    std::mutex mutex;
    std::deque<Entry> entries;
};

Cache &cache()
{
    static Cache instance;
    return instance;
}

void appendStamp(const fs::path &path, std::vector<std::int64_t> &stamp)
{
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
        return;
    stamp.push_back(std::int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec);
    stamp.push_back(std::int64_t(info.st_size));
    stamp.push_back(std::int64_t(info.st_ino));
}

/// Times of the path and of the folders one level down (in byte order of their names).
std::vector<std::int64_t> stampOf(const fs::path &path)
{
    std::vector<std::int64_t> stamp;
    appendStamp(path, stamp);
    std::error_code failed;
    std::vector<fs::path> folders;
    for (fs::directory_iterator it(path, failed), end; !failed && it != end; it.increment(failed)) {
        std::error_code unknown;
        if (it->is_directory(unknown))
            folders.push_back(it->path());
    }
    std::sort(folders.begin(), folders.end());
    for (const fs::path &folder : folders)
        appendStamp(folder, stamp);
    return stamp;
}

bool sameKey(const Entry &entry, const fs::path &path, const ScanOptions &options)
{
    return entry.path == path && entry.options.allowEmptyClasses == options.allowEmptyClasses &&
           entry.options.classNames == options.classNames;
}

Result<ScanPtr> scanAndRemember(const fs::path &path, const ScanOptions &options,
                                const StopToken *stop,
                                const std::function<void(std::int64_t)> &progress)
{
    std::vector<std::int64_t> stamp = stampOf(path);
    TW_ASSIGN(scan, scanDataset(path, options, stop, progress));
    const ScanPtr shared = std::make_shared<const ScanResult>(std::move(scan));
    const std::lock_guard lock(cache().mutex);
    auto &entries = cache().entries;
    std::erase_if(entries, [&](const Entry &entry) { return sameKey(entry, path, options); });
    entries.push_front({path, options, std::move(stamp), shared});
    if (entries.size() > rememberedScans)
        entries.pop_back();
    return shared;
}

} // namespace

Result<ScanPtr> scanAnew(const fs::path &path, const ScanOptions &options, const StopToken *stop)
{
    return scanAndRemember(path, options, stop, {});
}

Result<ScanPtr> scanRemembered(const fs::path &path, const ScanOptions &options,
                               const StopToken *stop,
                               const std::function<void(std::int64_t)> &progress)
{
    {
        const std::vector<std::int64_t> stamp = stampOf(path);
        const std::lock_guard lock(cache().mutex);
        for (const Entry &entry : cache().entries)
            if (sameKey(entry, path, options) && entry.stamp == stamp)
                return entry.scan;
    }
    return scanAndRemember(path, options, stop, progress);
}

void forgetScans()
{
    const std::lock_guard lock(cache().mutex);
    cache().entries.clear();
}

} // namespace tw

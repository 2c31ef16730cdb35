// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/scancache.h"

#include "core/data/idxfile.h"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>

namespace tw {

namespace {

using Clock = std::chrono::steady_clock;
using Stamp = std::vector<std::int64_t>;
constexpr std::size_t rememberedScans = 4;

struct Entry
{
    fs::path path;
    ScanOptions options;
    Stamp stamp;
    std::vector<fs::path> places; ///< what the listing was read from
    Stamp placesStamp;
    Clock::time_point made;
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

void appendStamp(const fs::path &path, Stamp &stamp)
{
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
        return;
    stamp.push_back(std::int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec);
    stamp.push_back(std::int64_t(info.st_size));
    stamp.push_back(std::int64_t(info.st_ino));
}

/// Times of the path and of the folders one level down (in byte order of their names).
Stamp stampOf(const fs::path &path)
{
    Stamp stamp;
    appendStamp(path, stamp);
    std::error_code failed;
    if (!fs::is_directory(path, failed))
        return stamp;
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

/// Folders of the pictures and those above them; the two files of an IDX pair.
std::vector<fs::path> placesOf(const ImageManifest &manifest)
{
    if (manifest.storage == ImageManifest::Storage::Zip || manifest.storage == ImageManifest::Storage::Tar)
        return {manifest.root};
    if (manifest.storage == ImageManifest::Storage::Idx)
        return {manifest.root, idxLabelsFor(manifest.root).value_or(fs::path())};
    std::set<std::string> folders{std::string()};
    for (std::size_t i = 0; i < manifest.size(); ++i) {
        std::string_view folder = manifest.path(i);
        for (auto end = folder.rfind('/'); end != std::string_view::npos; end = folder.rfind('/')) {
            folder = folder.substr(0, end);
            if (!folders.emplace(folder).second)
                break;
        }
    }
    std::vector<fs::path> places;
    for (const std::string &folder : folders)
        places.push_back(manifest.root / folder);
    return places;
}

Stamp stampOfPlaces(const std::vector<fs::path> &places)
{
    Stamp stamp;
    for (const fs::path &place : places)
        appendStamp(place, stamp);
    return stamp;
}

/// Whether a place may have changed after it was read: its time is that of the listing or later.
bool changedSince(const std::vector<fs::path> &places, std::int64_t startNs)
{
    constexpr std::int64_t clockTickNs = 20'000'000; // of the times that the system writes
    return std::any_of(places.begin(), places.end(), [&](const fs::path &place) {
        Stamp stamp;
        appendStamp(place, stamp);
        return !stamp.empty() && stamp.front() >= startNs - clockTickNs;
    });
}

std::int64_t wallClockNs()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

bool sameKey(const Entry &entry, const fs::path &path, const ScanOptions &options)
{
    return entry.path == path && entry.options == options;
}

/// The one file of an archive tells every change; pictures on disk may be overwritten in place.
bool isNewEnough(const Entry &entry, Clock::time_point oldest)
{
    const auto storage = entry.scan->manifest.storage;
    return entry.made >= oldest || storage == ImageManifest::Storage::Zip || storage == ImageManifest::Storage::Tar;
}

ScanPtr remembered(const fs::path &path, const ScanOptions &options, Clock::time_point oldest)
{
    const Stamp stamp = stampOf(path);
    const std::lock_guard lock(cache().mutex);
    for (const Entry &entry : cache().entries)
        if (sameKey(entry, path, options) && isNewEnough(entry, oldest) && entry.stamp == stamp
            && entry.placesStamp == stampOfPlaces(entry.places))
            return entry.scan;
    return nullptr;
}

Result<ScanPtr> scanAndRemember(const fs::path &path, const ScanOptions &options, const StopToken *stop,
                                const std::function<void(std::int64_t)> &progress)
{
    const Clock::time_point made = Clock::now();
    const std::int64_t startNs = wallClockNs();
    Stamp stamp = stampOf(path);
    TW_ASSIGN(scan, scanDataset(path, options, stop, progress));
    const ScanPtr shared = std::make_shared<const ScanResult>(std::move(scan));
    std::vector<fs::path> places = placesOf(shared->manifest);
    Stamp placesStamp = stampOfPlaces(places);
    // A folder may become readable without a change of any time.
    const bool certain = shared->report.unreadable.empty() && !changedSince(places, startNs);
    const std::lock_guard lock(cache().mutex);
    auto &entries = cache().entries;
    std::erase_if(entries, [&](const Entry &entry) { return sameKey(entry, path, options); });
    if (certain)
        entries.push_front({path, options, std::move(stamp), std::move(places), std::move(placesStamp), made, shared});
    if (entries.size() > rememberedScans)
        entries.pop_back();
    return shared;
}

} // namespace

Result<ScanPtr> scanRecent(const fs::path &path, const ScanOptions &options, std::chrono::milliseconds age,
                           const StopToken *stop)
{
    if (ScanPtr scan = remembered(path, options, Clock::now() - age))
        return scan;
    return scanAndRemember(path, options, stop, {});
}

Result<ScanPtr> scanRemembered(const fs::path &path, const ScanOptions &options, const StopToken *stop,
                               const std::function<void(std::int64_t)> &progress)
{
    if (ScanPtr scan = remembered(path, options, Clock::time_point::min()))
        return scan;
    return scanAndRemember(path, options, stop, progress);
}

void forgetScans()
{
    const std::lock_guard lock(cache().mutex);
    cache().entries.clear();
}

} // namespace tw

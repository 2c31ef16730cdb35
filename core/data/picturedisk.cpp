// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/picturedisk.h"

#include "core/base/files.h"
#include "core/data/cachefolder.h"

#include <QRandomGenerator>

#include <algorithm>

#include <sys/stat.h>

namespace tw {

namespace {

constexpr int planDigits = 32; // of the 64 of its hash: enough for a name
constexpr std::size_t mostFiles = 64;
constexpr std::size_t spareEntries = 64;

using Wanted = std::vector<std::pair<PictureKey, std::size_t>>;

/// Sorted by key. A picture that stands twice in the set is found twice.
Wanted wantedPictures(const std::vector<std::optional<PictureKey>> &keys)
{
    Wanted wanted;
    wanted.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (keys[i])
            wanted.emplace_back(*keys[i], i);
    std::sort(wanted.begin(), wanted.end());
    return wanted;
}

std::int64_t usedNs(const fs::path &file)
{
    struct stat status = {};
    return ::stat(file.c_str(), &status) == 0
               ? std::int64_t(status.st_atim.tv_sec) * 1'000'000'000 + status.st_atim.tv_nsec
               : 0;
}

} // namespace

PictureDisk::PictureDisk(fs::path cacheFolder, QByteArray plan, std::vector<std::optional<PictureKey>> keys,
                         std::int64_t limit, const TakeFound &take)
    : m_cacheFolder(std::move(cacheFolder)), m_plan(std::move(plan)), m_keys(std::move(keys)), m_limit(limit)
{
    lookUp(take);
}

/// The most recently used first.
std::vector<fs::path> PictureDisk::candidates() const
{
    const std::string start = m_plan.toHex().left(planDigits).toStdString() + '-';
    std::vector<std::pair<std::int64_t, fs::path>> found;
    std::error_code end;
    for (fs::directory_iterator entry(m_cacheFolder / "decoded", end), last; !end && entry != last;
         entry.increment(end))
        if (entry->path().extension() == ".pictures" && entry->path().filename().native().starts_with(start))
            found.emplace_back(usedNs(entry->path()), entry->path());
    std::sort(found.rbegin(), found.rend());
    std::vector<fs::path> files;
    for (auto &[time, file] : found)
        if (files.size() < mostFiles)
            files.push_back(std::move(file));
    return files;
}

void PictureDisk::lookUp(const TakeFound &take)
{
    const Wanted wanted = wantedPictures(m_keys);
    std::vector<bool> isFound(m_keys.size(), false);
    for (const fs::path &path : candidates()) {
        if (m_found == wanted.size())
            break;
        std::unique_ptr<PictureFile> file = PictureFile::open(path, m_plan);
        if (!file)
            continue;
        std::size_t mine = 0, fresh = 0;
        // From the end: a picture that was found damaged has a later, sound entry.
        for (auto known = file->entries().rbegin(); known != file->entries().rend(); ++known) {
            const PictureFile::Entry &entry = *known;
            auto at = std::lower_bound(wanted.begin(), wanted.end(), std::pair(entry.key, std::size_t(0)));
            mine += at != wanted.end() && at->first == entry.key ? 1 : 0;
            for (; at != wanted.end() && at->first == entry.key; ++at) {
                if (isFound[at->second])
                    continue;
                isFound[at->second] = true;
                ++fresh;
                take(at->second, {file->pixels(entry), entry.width, entry.height, entry.pixelSum});
            }
        }
        m_found += fresh;
        // A file of mostly other pictures stays as it is, so that it can go when they are not used any more.
        const bool isOurs = mine > 0 && 2 * mine >= file->entries().size();
        file->forgetEntries();
        if (isOurs && !m_writer && m_found < wanted.size() && file->becomeWriter())
            m_writer = file.get();
        if (fresh > 0 || m_writer == file.get())
            m_files.push_back(std::move(file));
    }
}

QString PictureDisk::askForRoom(std::int64_t more) const
{
    if (makeRoomInCache(m_cacheFolder, more, m_limit) < more)
        return QStringLiteral("the limit of the cache, %1 GB, is reached").arg(double(m_limit) * 1e-9);
    if (freeDiskBytes(m_cacheFolder) < more)
        return QStringLiteral("the disk is full");
    return {};
}

QString PictureDisk::makeWriter()
{
    const fs::path folder = m_cacheFolder / "decoded";
    if (const auto made = makeFolder(folder); !made.ok())
        return made.error().sentence();
    const std::size_t left = m_keys.size() - std::min(m_found, m_keys.size());
    const std::string name = m_plan.toHex().left(planDigits).toStdString() + '-'
                             + QByteArray::number(QRandomGenerator::system()->generate64(), 16).toStdString()
                             + ".pictures";
    QString reason;
    // Room for the pictures of a set that has grown by the next run.
    auto file = PictureFile::create(folder / name, m_plan, left + left / 4 + spareEntries, reason);
    if (!file)
        return reason;
    m_writer = file.get();
    m_files.push_back(std::move(file));
    return {};
}

const std::uint8_t *PictureDisk::keep(std::size_t index, const PixelView &view, QString &reason)
{
    if (!m_keys[index])
        return nullptr;
    PictureFile *writer = nullptr;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_writer)
            reason = makeWriter();
        writer = m_writer;
    }
    if (!writer)
        return nullptr;
    return writer->append(
        *m_keys[index], view, [this](std::int64_t more) { return askForRoom(more); }, reason);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/picturecache.h"

#include "core/data/parallel.h"
#include "core/data/pictureblocks.h"
#include "core/data/picturedisk.h"

#include <QCoreApplication>

#include <algorithm>
#include <cstring>
#include <limits>

namespace tw {

namespace {

constexpr std::uintptr_t unchecked = 1;

std::uintptr_t placeOf(const std::uint8_t *pixels)
{
    return reinterpret_cast<std::uintptr_t>(pixels);
}

Result<std::vector<std::optional<PictureKey>>> keysOf(const PictureKeys &keys, std::size_t count, int workers,
                                                      const StopToken *stop)
{
    std::vector<std::optional<PictureKey>> found(count);
    const bool whole =
        parallelFor(count, workers, stop, [&](std::size_t index, std::size_t) { found[index] = keys.of(index); });
    if (!whole)
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Opening the cache of pictures was canceled."));
    return found;
}

} // namespace

PixelView PictureCache::Slot::view(std::uintptr_t place) const
{
    return {reinterpret_cast<const std::uint8_t *>(place), int(width), int(height), 3, std::size_t(width) * 3};
}

PictureCache::PictureCache(ManifestPtr manifest, CachePlan plan)
    : m_manifest(std::move(manifest)), m_plan(std::move(plan)), m_slots(new Slot[m_manifest->size()])
{
}

PictureCache::~PictureCache() = default;

Result<std::shared_ptr<PictureCache>> PictureCache::open(ManifestPtr manifest, CachePlan plan,
                                                         const PictureCacheOptions &options, const StopToken *stop)
{
    std::shared_ptr<PictureCache> cache(new PictureCache(std::move(manifest), std::move(plan)));
    if (options.mode == CacheMode::Memory) {
        cache->m_memory = std::make_unique<PictureBlocks>(
            options.freeMemory ? options.freeMemory : [] { return std::numeric_limits<std::int64_t>::max(); });
        return cache;
    }
    cache->m_keys = std::make_unique<PictureKeys>(*cache->m_manifest);
    TW_ASSIGN(keys, keysOf(*cache->m_keys, cache->m_manifest->size(), options.workers, stop));
    cache->openDisk(options, std::move(keys));
    return cache;
}

void PictureCache::openDisk(const PictureCacheOptions &options, std::vector<std::optional<PictureKey>> keys)
{
    m_sums.resize(keys.size());
    m_disk =
        std::make_unique<PictureDisk>(options.folder, planKey(m_plan, options.decode), std::move(keys),
                                      options.diskLimit, [this](std::size_t index, const PictureDisk::Found &found) {
                                          Slot &slot = m_slots[index];
                                          slot.width = found.width;
                                          slot.height = found.height;
                                          m_sums[index] = found.pixelSum;
                                          slot.pixels = placeOf(found.pixels) | unchecked;
                                          m_bytes += std::int64_t(found.width) * found.height * 3;
                                          ++m_pictures;
                                      });
}

bool PictureCache::serves(const ManifestPtr &manifest, const TransformList &list) const
{
    return manifest == m_manifest && list.size() >= m_plan.kept.size()
           && std::equal(m_plan.kept.begin(), m_plan.kept.end(), list.begin());
}

std::optional<PixelView> PictureCache::find(std::size_t index) const
{
    const Slot &slot = m_slots[index];
    const std::uintptr_t place = slot.pixels.load(std::memory_order_acquire);
    if (place == 0)
        return std::nullopt;
    if (place & unchecked)
        return checked(index, place);
    return slot.view(place);
}

/// Pixels of an earlier run may have been lost with the machine's power, or damaged.
std::optional<PixelView> PictureCache::checked(std::size_t index, std::uintptr_t place) const
{
    Slot &slot = m_slots[index];
    const PixelView view = slot.view(place & ~unchecked);
    const std::size_t bytes = view.rowBytes() * std::size_t(view.height);
    const bool isWhole = quickSum(view.data, bytes, 0) == m_sums[index];
    const bool isFirst = slot.pixels.compare_exchange_strong(place, isWhole ? place & ~unchecked : 0);
    if (isWhole)
        return view;
    if (isFirst) {
        m_bytes -= std::int64_t(bytes);
        --m_pictures;
    }
    return std::nullopt;
}

const std::uint8_t *PictureCache::copy(std::size_t index, const PixelView &pixels, QString &reason)
{
    if (m_disk)
        return m_disk->keep(index, pixels, reason);
    std::uint8_t *place = m_memory->take(pixels.rowBytes() * std::size_t(pixels.height));
    if (!place)
        reason = QStringLiteral("the memory is full");
    for (int y = 0; place && y < pixels.height; ++y)
        std::memcpy(place + std::size_t(y) * pixels.rowBytes(), pixels.row(y), pixels.rowBytes());
    return place;
}

void PictureCache::store(std::size_t index, const PixelView &pixels)
{
    Slot &slot = m_slots[index];
    if (m_isFull.load(std::memory_order_relaxed) || pixels.channels != 3 || pixels.width < 1 || pixels.height < 1
        || slot.pixels.load(std::memory_order_acquire) != 0)
        return;
    // Replaced since open(): what was read may belong to either file.
    if (m_keys && m_keys->of(index) != m_disk->key(index))
        return;
    QString reason;
    const std::uint8_t *kept = copy(index, pixels, reason);
    if (!reason.isEmpty())
        giveUp(reason);
    if (!kept)
        return;
    // One loader reads a picture by one thread at a time; of two loaders the first has it.
    const std::lock_guard lock(m_mutex);
    if (slot.pixels.load(std::memory_order_relaxed) != 0)
        return;
    slot.width = std::uint32_t(pixels.width);
    slot.height = std::uint32_t(pixels.height);
    slot.pixels.store(placeOf(kept), std::memory_order_release);
    m_bytes += std::int64_t(pixels.rowBytes()) * pixels.height;
    ++m_pictures;
}

void PictureCache::giveUp(const QString &reason)
{
    const std::lock_guard lock(m_mutex);
    if (!m_isFull.exchange(true))
        m_warning = reason;
}

QString PictureCache::takeWarning()
{
    const std::lock_guard lock(m_mutex);
    if (m_warning.isEmpty())
        return {};
    return QStringLiteral("The cache holds %1 of %2 pictures: %3. The others are read anew in every epoch.")
        .arg(pictures())
        .arg(m_manifest->size())
        .arg(std::exchange(m_warning, {}));
}

} // namespace tw

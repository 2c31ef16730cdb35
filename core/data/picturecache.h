// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/cachefolder.h"
#include "core/data/cacheplan.h"
#include "core/data/picturekeys.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

namespace tw {

class PictureDisk;
class PictureBlocks;

struct PictureCacheOptions
{
    CacheMode mode = CacheMode::Memory;
    fs::path folder; ///< Disk: <workspace>/cache
    /// Memory: bytes that may still be taken; asked before each block, on any thread. Empty: no limit.
    std::function<std::int64_t()> freeMemory;
    std::int64_t diskLimit = cacheLimitBytes();
    int workers = 1; ///< threads that look at the files at open()
    DecodeOptions decode;
};

/// Decoded pictures of one manifest, as a CachePlan keeps them: RGB, 8 bit, without row padding. They
/// are filled in as they are read and stay until the end; those on disk stay for later runs. A
/// picture that is there costs a pointer: no copy, no lock, no call of the system. Any thread.
class PictureCache
{
public:
    /// Disk: looks at every picture's file and at what the folder holds. CanceledError; a folder that
    /// cannot be used keeps nothing and says so in takeWarning(). Not for IDX.
    static Result<std::shared_ptr<PictureCache>>
    open(ManifestPtr manifest, CachePlan plan, const PictureCacheOptions &options, const StopToken *stop = nullptr);
    ~PictureCache();

    const CachePlan &plan() const { return m_plan; }
    /// The pictures of this manifest, in the form that `list` begins with.
    bool serves(const ManifestPtr &manifest, const TransformList &list) const;
    /// The picture; valid as long as the cache.
    std::optional<PixelView> find(std::size_t index) const;
    /// Copies the picture, where there is room and the file is still the one that open() saw.
    void store(std::size_t index, const PixelView &pixels);

    std::size_t pictures() const { return m_pictures.load(std::memory_order_relaxed); }
    std::int64_t bytes() const { return m_bytes.load(std::memory_order_relaxed); }
    /// Once, after the first picture that found no room: how many are held, of how many, and why.
    QString takeWarning();

private:
    struct Slot
    {
        /// 0: not there. The lowest bit: from an earlier run, sum not checked yet.
        std::atomic<std::uintptr_t> pixels{0};
        std::uint32_t width = 0, height = 0;
        PixelView view(std::uintptr_t place) const;
    };

    PictureCache(ManifestPtr manifest, CachePlan plan);
    void openDisk(const PictureCacheOptions &options, std::vector<std::optional<PictureKey>> keys);
    std::optional<PixelView> checked(std::size_t index, std::uintptr_t place) const;
    const std::uint8_t *copy(std::size_t index, const PixelView &pixels, QString &reason);
    void giveUp(const QString &reason);

    ManifestPtr m_manifest;
    CachePlan m_plan;
    std::unique_ptr<PictureBlocks> m_memory;
    std::unique_ptr<PictureKeys> m_keys;
    std::unique_ptr<PictureDisk> m_disk;
    std::unique_ptr<Slot[]> m_slots;
    std::vector<std::uint64_t> m_sums; ///< of pictures of earlier runs
    mutable std::atomic<std::size_t> m_pictures{0};
    mutable std::atomic<std::int64_t> m_bytes{0};
    std::atomic<bool> m_isFull{false};
    std::mutex m_mutex;
    QString m_warning;
};

} // namespace tw

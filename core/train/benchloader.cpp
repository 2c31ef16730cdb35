// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"
#include "core/data/batchloader.h"
#include "core/data/datasetscan.h"
#include "core/data/picturecache.h"
#include "core/train/bench.h"
#include "core/train/memorylimit.h"
#include "core/train/processusage.h"

#include <chrono>

namespace tw {

namespace benchloader {

/// As tutorials write it: RandomResizedCrop and flip, or Resize by 256/224 and CenterCrop.
TransformList transformsFor(const BenchLoaderOptions &options)
{
    TransformOp first, second;
    first.size = options.size;
    if (options.trainTransform) {
        first.kind = TransformOp::Kind::RandomResizedCrop;
        second.kind = TransformOp::Kind::RandomHorizontalFlip;
    } else {
        first.kind = TransformOp::Kind::Resize;
        first.size = options.size * 256 / 224;
        second.kind = TransformOp::Kind::CenterCrop;
        second.size = options.size;
    }
    return {first, second};
}

Result<std::unique_ptr<BatchLoader>> openLoader(const BenchLoaderOptions &options, const StopToken *stop)
{
    TW_ASSIGN(scan, scanDataset(pathFromBytes(options.data), {}, stop));
    LoaderOptions loader;
    loader.batchSize = options.batch;
    loader.numWorkers = options.workers;
    loader.shuffle = true;
    const auto manifest = std::make_shared<const ImageManifest>(std::move(scan.manifest));
    const TransformList transforms = transformsFor(options);
    if (options.cache != CacheMode::None && manifest->storage != ImageManifest::Storage::Idx) {
        PictureCacheOptions cache;
        cache.mode = options.cache;
        cache.folder = options.cacheFolder;
        cache.freeMemory = [] { return std::int64_t(0.9 * double(availableMemoryBytes())); };
        cache.workers = std::max(1, options.workers);
        TW_ASSIGN(opened, PictureCache::open(manifest, planCache(transforms, options.cacheDetail), cache, stop));
        loader.cache = std::move(opened);
    }
    return BatchLoader::create(manifest, transforms, loader);
}

} // namespace benchloader

Result<BenchLoaderReport> benchLoader(const BenchLoaderOptions &options, const StopToken *stop)
{
    using Clock = std::chrono::steady_clock;
    TW_ASSIGN(loader, benchloader::openLoader(options, stop));
    const auto start = Clock::now();
    const double cpuBefore = processCpuSeconds();
    const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    std::int64_t images = 0;
    for (std::uint32_t epoch = 1; elapsed() < options.seconds; ++epoch) {
        loader->startEpoch(epoch);
        const std::int64_t before = images;
        while (elapsed() < options.seconds) {
            TW_ASSIGN(batch, loader->next(stop));
            if (!batch)
                break;
            images += (*batch)->count;
        }
        if (images == before)
            break;
    }
    const double wall = elapsed();
    const double cpu = processCpuSeconds() - cpuBefore;
    BenchLoaderReport report;
    report.imagesPerSecond = double(images) / std::max(1e-9, wall);
    report.cpuMsPerImage = images > 0 ? cpu * 1e3 / double(images) : 0;
    report.peakRssMb = peakResidentMegabytes();
    return report;
}

} // namespace tw

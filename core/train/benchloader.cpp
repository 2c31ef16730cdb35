// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"
#include "core/data/batchloader.h"
#include "core/data/datasetscan.h"
#include "core/data/picturecache.h"
#include "core/train/bench.h"
#include "core/train/memorylimit.h"
#include "core/train/processusage.h"

#include <algorithm>
#include <chrono>
#include <vector>

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
    loader.pixelPath = options.fast ? PixelPath::Fast : PixelPath::Exact;
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

namespace benchloader {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Pass
{
    std::int64_t images = 0;
    double seconds = 0;
    bool isWhole = false;
};

Result<Pass> runPass(BatchLoader &loader, std::uint32_t epoch, Clock::time_point start, double limit,
                     const StopToken *stop)
{
    Pass pass;
    const Clock::time_point passStart = Clock::now();
    loader.startEpoch(epoch);
    while (secondsSince(start) < limit) {
        TW_ASSIGN(batch, loader.next(stop));
        pass.isWhole = !batch;
        if (!batch)
            break;
        pass.images += (*batch)->count;
    }
    pass.seconds = secondsSince(passStart);
    return pass;
}

double medianRate(const std::vector<Pass> &passes)
{
    std::vector<double> rates;
    Pass all;
    for (std::size_t i = 0; i < passes.size(); ++i) {
        all.images += passes[i].images;
        all.seconds += passes[i].seconds;
        if (i > 0 && passes[i].isWhole)
            rates.push_back(double(passes[i].images) / std::max(1e-9, passes[i].seconds));
    }
    if (rates.empty())
        return double(all.images) / std::max(1e-9, all.seconds);
    std::sort(rates.begin(), rates.end());
    return (rates[(rates.size() - 1) / 2] + rates[rates.size() / 2]) / 2;
}

} // namespace benchloader

Result<BenchLoaderReport> benchLoader(const BenchLoaderOptions &options, const StopToken *stop)
{
    using namespace benchloader;
    TW_ASSIGN(loader, openLoader(options, stop));
    const auto start = Clock::now();
    const double cpuBefore = processCpuSeconds();
    std::vector<Pass> passes;
    while (secondsSince(start) < options.seconds) {
        TW_ASSIGN(pass, runPass(*loader, std::uint32_t(passes.size() + 1), start, options.seconds, stop));
        passes.push_back(pass);
        if (pass.images == 0)
            break;
    }
    const double wall = secondsSince(start);
    const LoaderStatistics counts = loader->statistics();
    const double images = std::max(1.0, double(counts.images));
    BenchLoaderReport report;
    report.imagesPerSecond = medianRate(passes);
    if (!passes.empty())
        report.firstImagesPerSecond = double(passes.front().images) / std::max(1e-9, passes.front().seconds);
    report.cpuMsPerImage = (processCpuSeconds() - cpuBefore) * 1e3 / images;
    report.decodeMs = counts.decodeSeconds * 1e3 / images;
    report.transformMs = counts.transformSeconds * 1e3 / images;
    report.megabytesPerSecond = double(counts.bytesRead) / 1e6 / std::max(1e-9, wall);
    report.peakRssMb = peakResidentMegabytes();
    return report;
}

} // namespace tw

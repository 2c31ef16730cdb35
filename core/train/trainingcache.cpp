// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainingcache.h"

#include "core/train/memorylimit.h"

#include <algorithm>

namespace tw {

namespace trainingcache {

// As for the training itself: the last tenth is left to others.
constexpr double share = 0.9;

QString sizeText(double bytes)
{
    return bytes < 1e9
               ? QStringLiteral("%1 MB").arg(std::max(bytes * 1e-6, bytes > 0 ? 0.1 : 0.0), 0, 'f', bytes < 1e7 ? 1 : 0)
               : QStringLiteral("%1 GB").arg(bytes * 1e-9, 0, 'f', bytes < 1e11 ? 1 : 0);
}

class Opener
{
public:
    Opener(const TrainingSpec &spec, const fs::path &folder, std::int64_t stepBytes, const StopToken *stop)
        : m_stop(stop)
    {
        m_options.mode = spec.cache;
        m_options.folder = folder;
        m_options.workers = std::max(1, spec.numWorkers);
        m_options.freeMemory = [stepBytes] { return std::int64_t(share * double(availableMemoryBytes())) - stepBytes; };
    }
    Result<std::shared_ptr<PictureCache>> open(const ManifestPtr &manifest, const TransformList &list,
                                               CacheDetail detail) const
    {
        if (manifest->storage == ImageManifest::Storage::Idx)
            return std::shared_ptr<PictureCache>();
        return PictureCache::open(manifest, planCache(list, detail), m_options, m_stop);
    }

private:
    PictureCacheOptions m_options;
    const StopToken *m_stop;
};

QString summaryOf(const TrainingSpec &spec, const TrainingData &data, const TrainingCaches &caches,
                  const StopToken *stop)
{
    if (!caches.training && !caches.validation)
        return QStringLiteral("Cache: none (the pictures lie in memory already)");
    const auto estimate = estimateTrainingCache(*data.training, data.trainingTransforms, *data.validation,
                                                data.validationTransforms, spec.cacheDetail, stop);
    QString text =
        QStringLiteral("Cache: %1 pictures, %2 %3 (%4)")
            .arg(estimate ? estimate->pictures : 0)
            .arg(estimate ? cacheSizeText(*estimate) : QStringLiteral("size unknown"),
                 spec.cache == CacheMode::Memory ? QStringLiteral("in memory") : QStringLiteral("on disk"),
                 spec.cacheDetail == CacheDetail::Compact ? QStringLiteral("compact") : QStringLiteral("exact"));
    std::size_t there = 0;
    for (const auto &cache : {caches.training, caches.validation})
        there += cache ? cache->pictures() : 0;
    if (spec.cache == CacheMode::Disk)
        text += QStringLiteral("; %1 are there from earlier runs").arg(there);
    return text;
}

} // namespace trainingcache

using namespace trainingcache;

Result<TrainingCaches> TrainingCaches::open(const TrainingSpec &spec, const TrainingData &data,
                                            const fs::path &cacheFolder, std::int64_t stepBytes, const StopToken *stop)
{
    TrainingCaches caches;
    if (spec.cache == CacheMode::None)
        return caches;
    const Opener opener(spec, cacheFolder, stepBytes, stop);
    TW_ASSIGN(training, opener.open(data.training, data.trainingTransforms, spec.cacheDetail));
    TW_ASSIGN(validation, opener.open(data.validation, data.validationTransforms, CacheDetail::Exact));
    caches.training = std::move(training);
    caches.validation = std::move(validation);
    if (spec.evaluateTrainingSet != QLatin1String("never") && caches.training) {
        const bool serves = caches.training->plan().shorterSide == 0
                            && caches.training->serves(data.training, data.inferenceTransforms);
        TW_ASSIGN(own, serves ? Result(caches.training)
                              : opener.open(data.training, data.inferenceTransforms, CacheDetail::Exact));
        caches.trainingEvaluation = std::move(own);
    }
    caches.summary = summaryOf(spec, data, caches, stop);
    return caches;
}

QStringList TrainingCaches::takeWarnings() const
{
    QStringList warnings;
    for (const auto &[cache, name] : {std::pair(training, "training"), std::pair(validation, "validation"),
                                      std::pair(trainingEvaluation, "training evaluation")})
        if (const QString text = cache ? cache->takeWarning() : QString(); !text.isEmpty())
            warnings.append(QStringLiteral("%1 (%2 set)").arg(text, QLatin1String(name)));
    return warnings;
}

std::optional<CacheEstimate> estimateTrainingCache(const ImageManifest &training, const TransformList &trainingList,
                                                   const ImageManifest &validation, const TransformList &validationList,
                                                   CacheDetail detail, const StopToken *stop)
{
    const auto first = estimateCache(training, planCache(trainingList, detail), stop);
    const auto second = estimateCache(validation, planCache(validationList, CacheDetail::Exact), stop);
    if (!first || !second)
        return std::nullopt;
    return CacheEstimate{first->pictures + second->pictures, first->bytes + second->bytes,
                         first->isSampled || second->isSampled};
}

QString cacheSizeText(const CacheEstimate &estimate)
{
    return (estimate.isSampled ? QStringLiteral("about ") : QString()) + sizeText(double(estimate.bytes));
}

QString cacheRoomWarning(const CacheEstimate &estimate, CacheMode mode, const fs::path &cacheFolder)
{
    const QString tail = QStringLiteral(" As many pictures as fit are kept; the others are read anew in every epoch.");
    const auto text = [&](const QString &what, std::int64_t room) {
        return QStringLiteral("The cache of decoded pictures needs %1, but %2 %3.")
                   .arg(cacheSizeText(estimate), what, sizeText(double(std::max<std::int64_t>(0, room))))
               + tail;
    };
    if (mode == CacheMode::Memory) {
        const auto room = std::int64_t(share * double(availableMemoryBytes()));
        return estimate.bytes > room ? text(QStringLiteral("the memory has room for"), room) : QString();
    }
    if (mode != CacheMode::Disk)
        return {};
    if (estimate.bytes > cacheLimitBytes())
        return text(QStringLiteral("the limit of the workspace's cache (TRAINWRIGHT_CACHE_LIMIT_GB) is"),
                    cacheLimitBytes());
    if (cacheFolder.empty())
        return {};
    // What earlier runs left there may be these very pictures.
    std::error_code unknown;
    std::int64_t there = 0;
    for (fs::directory_iterator entry(cacheFolder / "decoded", unknown), last; !unknown && entry != last;
         entry.increment(unknown)) {
        const auto bytes = entry->file_size(unknown);
        there += unknown ? 0 : std::int64_t(bytes);
        unknown.clear();
    }
    const std::int64_t room = freeDiskBytes(cacheFolder) + there;
    return estimate.bytes > room ? text(QStringLiteral("the disk has room for"), room) : QString();
}

} // namespace tw

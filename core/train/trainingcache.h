// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/picturecache.h"
#include "core/train/trainingdata.h"

#include <QStringList>

namespace tw {

/// The caches of decoded pictures of one training; null where there is none (`cache` none, or an IDX
/// pair, which lies in memory anyway).
struct TrainingCaches
{
    std::shared_ptr<PictureCache> training;
    std::shared_ptr<PictureCache> validation;         ///< always exact
    std::shared_ptr<PictureCache> trainingEvaluation; ///< always exact; that of training where it serves
    /// For the head of the log: what is cached, the size it needs, what earlier runs left.
    QString summary = QStringLiteral("Cache: none");

    /// `cacheFolder`: <workspace>/cache. `stepBytes`: memory that training itself still needs, which a
    /// cache in memory leaves free. CanceledError.
    static Result<TrainingCaches> open(const TrainingSpec &spec, const TrainingData &data, const fs::path &cacheFolder,
                                       std::int64_t stepBytes, const StopToken *stop);
    /// Of pictures that found no room, each once.
    QStringList takeWarnings() const;
};

/// "812 pictures, about 456 MB": what the caches of both sets need; nothing where it cannot be told.
std::optional<CacheEstimate> estimateTrainingCache(const ImageManifest &training, const TransformList &trainingList,
                                                   const ImageManifest &validation, const TransformList &validationList,
                                                   CacheDetail detail, const StopToken *stop);
/// "456 MB", "1.2 GB", with "about " where it is sampled.
QString cacheSizeText(const CacheEstimate &estimate);
/// A sentence when the cache will not hold everything: the room there is, the room it needs. Empty
/// when all fits. `cacheFolder` empty: only the limit is looked at.
QString cacheRoomWarning(const CacheEstimate &estimate, CacheMode mode, const fs::path &cacheFolder);

} // namespace tw

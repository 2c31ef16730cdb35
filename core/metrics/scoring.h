// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/batchloader.h"
#include "core/model/modeldirectory.h"

#include <functional>
#include <span>

namespace tw {

/// What a model says of one picture; valid during the call that gets it.
struct ScoredPicture
{
    std::uint32_t sample = 0;              ///< index in the manifest
    std::span<const double> probabilities; ///< one a class; NaN where the network gave no numbers
    std::span<const float> logits;
};

/// Logits N×classes of a batch, row-major (Predictor::logits).
using AskNetwork = std::function<Result<std::vector<float>>(const Batch &)>;

/// One pass of a model over pictures. Everything is called on the caller's thread.
struct ScoringPass
{
    ManifestPtr manifest;
    const ModelInfo &info; ///< its transformations and normalisation run, never the manifest's
    AskNetwork network;
    int batchSize = 32;
    bool skipUnreadable = true;
    double largestLoss = 0.1; ///< see LoaderOptions
    const StopToken *stop = nullptr;
    std::function<Result<void>(const ScoredPicture &)> picture = {};               ///< in manifest order
    std::function<void(std::uint32_t sample, const QString &reason)> skipped = {}; ///< each picture once
    std::function<void(std::int64_t done, double imagesPerSecond)> progress = {};  ///< after each batch
    std::function<void(const QString &)> note = {};                                ///< one line for the log
};

struct ScoringSummary
{
    std::int64_t scored = 0, skipped = 0;
    std::int64_t undefined = 0; ///< of the scored ones: probabilities that are not numbers
};

/// Streams the pictures through the network; memory does not grow with their number. Where the
/// model's transformations leave pictures of different sizes and its network takes any, they go
/// through one by one. Errors of the loader, of `network` and of `picture` as they are;
/// InvalidDatasetError: a picture that reaches the network in another size than it takes, named with
/// both. CanceledError.
Result<ScoringSummary> scorePictures(const ScoringPass &pass);

} // namespace tw

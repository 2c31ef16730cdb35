// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/batchloader.h"
#include "core/model/modeldirectory.h"

#include <QString>

#include <optional>

namespace tw {

/// All of Train PyTorch Model, resolved (no automatic values left). Units and ranges: components.md.
struct TrainingSpec
{
    UntrainedModel model;
    ManifestPtr training; ///< transforms attached (may be none)
    ManifestPtr validation;
    int epochs = 5;
    int batchSize = 16;
    int warmupEpochs = 0;
    double learningRate = 0.001;
    std::uint64_t seed = 1; ///< the bits of a signed number; shown and stored as that
    int patience = 3;
    int printFrequency = 10;
    QString device = QStringLiteral("auto");
    double momentum = 0.9;
    bool nesterov = true;
    double weightDecay = 1e-4;
    double power = 2;
    double endLearningRate = 0;
    QString keep = QStringLiteral("best_top1"); ///< best_top1 | best_loss | last
    int numWorkers = 2;
    int prefetch = 2;
    QString onNan = QStringLiteral("stop"); ///< stop | continue
    bool requireSameCategories = false;
    QString normalization = QStringLiteral("weights");
    int threads = 0;
};

struct TrainingResult
{
    ModelInfo info;    ///< training figures filled in
    StateDict weights; ///< host memory, deep copies
    QString stopped;   ///< empty, "user", "patience", "nan"
    double bestValTop1 = 0;
    int bestEpoch = 0;
    int epochsDone = 0;
};

/// Learning rate of optimizer step `step` (from 0); S steps an epoch, E epochs, w = warmup·S ≤ T = E·S.
/// step < w: lr·(step+1)/w; else end + (lr − end)·(1 − (step−w)/(T−w))^power.
double polynomialLearningRate(std::int64_t step, std::int64_t stepsPerEpoch, const TrainingSpec &spec);

} // namespace tw

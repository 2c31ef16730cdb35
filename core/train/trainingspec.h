// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/batchloader.h"
#include "core/data/cacheplan.h"
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
    QString optimizer = QStringLiteral("sgd"); ///< sgd | adam | adamw
    double momentum = 0.9;                     ///< sgd
    bool nesterov = true;                      ///< sgd
    double beta1 = 0.9, beta2 = 0.999;         ///< adam, adamw
    double weightDecay = 1e-4;
    QString schedule = QStringLiteral("polynomial"); ///< polynomial | cosine | step | constant
    double power = 2;                                ///< polynomial
    double endLearningRate = 0;                      ///< polynomial, cosine
    int stepSize = 7;                                ///< step: epochs
    double gamma = 0.1;                              ///< step
    QString trainableLayers = QStringLiteral("all"); ///< all | head
    double labelSmoothing = 0;
    bool balancedClasses = false;                          ///< class_weights balanced
    double gradientClipNorm = 0;                           ///< 0: off
    int accumulationSteps = 1;                             ///< batches for one optimizer step
    double stopAfterMinutes = 0;                           ///< 0: off
    bool patienceAgainstPrevious = false;                  ///< patience_reference previous
    QString evaluateTrainingSet = QStringLiteral("never"); ///< never | end | each_epoch
    QString keep = QStringLiteral("best_top1");            ///< best_top1 | best_loss | last
    int numWorkers = 2;
    int prefetch = 2;
    CacheMode cache = CacheMode::None;
    CacheDetail cacheDetail = CacheDetail::Exact;
    bool fastPixels = false;                ///< pixel_path fast, of training batches
    QString onNan = QStringLiteral("stop"); ///< stop | continue
    bool requireSameCategories = false;
    QString normalization = QStringLiteral("weights");
    int threads = 0;
};

struct TrainingResult
{
    ModelInfo info;    ///< training figures filled in
    StateDict weights; ///< host memory, deep copies
    QString stopped;   ///< empty, "user", "patience", "nan", "time"
    double bestValTop1 = 0;
    int bestEpoch = 0;
    int epochsDone = 0;
};

/// Learning rate of optimizer step t (from 0); S steps an epoch, E epochs, w = warmup·S ≤ T = E·S.
/// t < w: lr·(t+1)/w. Then, with d = (t−w)/(T−w): polynomial end + (lr − end)·(1 − d)^power; cosine
/// end + (lr − end)·½(1 + cos(π·d)); step lr·gamma^⌊(⌊t/S⌋ − warmup)/step_size⌋; constant lr.
double learningRate(std::int64_t step, std::int64_t stepsPerEpoch, const TrainingSpec &spec);

/// Weight of each class in the loss: n / (K·n_k) for the K classes with images (scikit-learn's
/// "balanced"); 0 for a class without images, which no label names.
std::vector<double> balancedClassWeights(const std::vector<std::int64_t> &counts);

} // namespace tw

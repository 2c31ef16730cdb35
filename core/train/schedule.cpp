// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainingspec.h"

#include <algorithm>
#include <cmath>

namespace tw {

double polynomialLearningRate(std::int64_t step, std::int64_t stepsPerEpoch, const TrainingSpec &spec)
{
    const std::int64_t total = stepsPerEpoch * spec.epochs;
    const std::int64_t warmup = std::min(stepsPerEpoch * spec.warmupEpochs, total);
    const double lr = spec.learningRate;
    if (step < warmup)
        return lr * double(step + 1) / double(warmup);
    if (step >= total)
        return spec.endLearningRate;
    const double done = double(step - warmup) / double(total - warmup);
    return spec.endLearningRate + (lr - spec.endLearningRate) * std::pow(1.0 - done, spec.power);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainingspec.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tw {

double learningRate(std::int64_t step, std::int64_t stepsPerEpoch, const TrainingSpec &spec)
{
    const std::int64_t total = stepsPerEpoch * spec.epochs;
    const std::int64_t warmup = std::min(stepsPerEpoch * spec.warmupEpochs, total);
    const double lr = spec.learningRate, end = spec.endLearningRate;
    if (step < warmup)
        return lr * double(step + 1) / double(warmup);
    if (spec.schedule == QLatin1String("constant"))
        return lr;
    if (spec.schedule == QLatin1String("step")) {
        const std::int64_t epoch = step / std::max<std::int64_t>(1, stepsPerEpoch);
        return lr * std::pow(spec.gamma, double(std::max<std::int64_t>(0, epoch - spec.warmupEpochs) / spec.stepSize));
    }
    const double done = step >= total ? 1 : double(step - warmup) / double(total - warmup);
    if (spec.schedule == QLatin1String("cosine"))
        return end + (lr - end) * 0.5 * (1 + std::cos(std::numbers::pi * done));
    return end + (lr - end) * std::pow(1.0 - done, spec.power);
}

std::vector<double> balancedClassWeights(const std::vector<std::int64_t> &counts)
{
    std::int64_t images = 0, classes = 0;
    for (const std::int64_t count : counts) {
        images += count;
        classes += count > 0;
    }
    std::vector<double> weights;
    for (const std::int64_t count : counts)
        weights.push_back(count > 0 ? double(images) / (double(classes) * double(count)) : 0);
    return weights;
}

} // namespace tw

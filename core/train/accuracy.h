// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

namespace tw {

/// Sums over images; averages are weighted by images, whatever the sizes of the batches.
struct Score
{
    std::int64_t images = 0;
    double lossSum = 0; ///< cross-entropy, natural logarithm
    std::int64_t top1Hits = 0;
    std::int64_t top5Hits = 0; ///< among the best min(5, classes)

    void add(const Score &other);
    double loss() const { return images ? lossSum / double(images) : 0; }
    double top1() const { return images ? double(top1Hits) / double(images) : 0; }
    double top5() const { return images ? double(top5Hits) / double(images) : 0; }
};

/// Hits of one batch: `logits` N×classes row-major, `labels` N class ids. Equal logits rank by class
/// id, as argmax does; a NaN logit counts as the largest, so that a broken network hits nothing by
/// accident. The loss sum is meanLoss·N.
Score scoreBatch(std::span<const float> logits, std::span<const std::int64_t> labels, double meanLoss);

} // namespace tw

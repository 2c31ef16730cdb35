// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/accuracy.h"

#include <algorithm>
#include <cmath>

namespace tw {

void Score::add(const Score &other)
{
    images += other.images;
    lossSum += other.lossSum;
    top1Hits += other.top1Hits;
    top5Hits += other.top5Hits;
}

/// How many classes are ranked before `label`; all of them when the label's own logit is NaN.
static std::size_t rankOf(std::span<const float> row, std::size_t label)
{
    if (label >= row.size() || std::isnan(row[label]))
        return row.size();
    std::size_t before = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const bool ahead = row[i] > row[label] || std::isnan(row[i]) || (row[i] == row[label] && i < label);
        before += ahead ? 1 : 0;
    }
    return before;
}

Score scoreBatch(std::span<const float> logits, std::span<const std::int64_t> labels, double meanLoss)
{
    Score score;
    score.images = std::int64_t(labels.size());
    score.lossSum = meanLoss * double(labels.size());
    const std::size_t classes = labels.empty() ? 0 : logits.size() / labels.size();
    const std::size_t five = std::min<std::size_t>(5, classes);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::size_t rank = rankOf(logits.subspan(i * classes, classes), std::size_t(labels[i]));
        score.top1Hits += rank == 0 ? 1 : 0;
        score.top5Hits += rank < five ? 1 : 0;
    }
    return score;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/predictor.h"

#include <algorithm>
#include <cmath>

namespace tw {

std::vector<double> softmax(std::span<const float> logits)
{
    std::vector<double> out(logits.begin(), logits.end());
    if (out.empty())
        return out;
    const double top = *std::max_element(out.begin(), out.end());
    double sum = 0;
    for (double &value : out) {
        value = std::exp(value - top);
        sum += value;
    }
    for (double &value : out)
        value /= sum;
    return out;
}

} // namespace tw

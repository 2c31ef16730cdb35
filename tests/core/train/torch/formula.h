// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/torch/module.h"

#include <algorithm>
#include <cmath>

namespace tw::test {

/// Values in [−1, 1) that look random and repeat after 2003; tests/data/network_reference.py has the same.
inline at::Tensor formula(std::int64_t count, std::int64_t number)
{
    constexpr std::int64_t period = 2003;
    const at::Tensor i = at::arange(std::min(count, period), at::TensorOptions().dtype(at::kLong));
    const at::Tensor values = ((i * i * 31 + i * 7919 + number * 104729) % period).to(at::kDouble) / 1001.5 - 1;
    return values.repeat({count / period + 1}).slice(0, 0, count);
}

inline bool endsWith(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Every floating tensor of the network gets the formula's values, scaled so that a pass stays finite.
inline void fillByFormula(Module &network)
{
    c10::NoGradGuard noGrad;
    std::int64_t number = -1;
    for (NamedTensor &entry : network.stateDict()) {
        ++number;
        if (!entry.tensor.is_floating_point())
            continue;
        at::Tensor values = formula(entry.tensor.numel(), number).reshape(entry.tensor.sizes());
        if (entry.tensor.dim() > 1)
            values = values * std::sqrt(6.0 / double(entry.tensor[0].numel()));
        else if (endsWith(entry.name, "weight") || endsWith(entry.name, "running_var"))
            values = 1 + values / 4;
        else
            values = values / 8;
        entry.tensor.copy_(values);
    }
}

} // namespace tw::test

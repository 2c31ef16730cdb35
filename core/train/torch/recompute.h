// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <vector>

namespace tw {

/// A piece of a network: inputs → one tensor. It must give the same values each time it is called with
/// the same inputs, so it draws nothing at random. `again` is true in the second call, where it must
/// leave running statistics as they are.
using Computation = std::function<at::Tensor(const std::vector<at::Tensor> &inputs, bool again)>;

/// compute(inputs, false), of which only inputs and result stay in memory: the backward pass computes
/// what lies between a second time (gradient checkpointing; Chen et al., arXiv:1604.06174).
/// `parameters` are the leaves that `compute` uses beside its inputs; they receive their gradients as in
/// a plain pass. `compute` is called as long as the result's graph lives. Autocast is in the second call
/// as it was in the first. First derivatives only.
at::Tensor recomputed(Computation compute, const std::vector<at::Tensor> &inputs,
                      const std::vector<at::Tensor> &parameters);

} // namespace tw

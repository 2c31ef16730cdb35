// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/torch/module.h"

#include <cstdint>

namespace tw {

/// Largest number of bytes in tensors at one time during a forward and backward pass of `images`
/// zero images, beyond those there before; the gradients count. Weights, running statistics,
/// gradients and random generators are afterwards what they were. CPU only.
std::int64_t measureActivations(Network &network, std::int64_t images, std::int64_t channels, std::int64_t height,
                                std::int64_t width, bool channelsLast);

} // namespace tw

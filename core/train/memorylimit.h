// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

#include <cstdint>

namespace tw {

/// What this process may still take, bytes: the least of the machine's available memory, the room
/// left in each control group above the process (versions 1 and 2) and, where it is set, the limit
/// TRAINWRIGHT_MEMORY_LIMIT_MB (10^6 bytes for the whole process). Files are read below `root`.
std::int64_t availableMemoryBytes(const fs::path &root = "/");

/// What a training step takes beyond what is there already, as measured with one and two images.
struct StepMemory
{
    std::int64_t fixed = 0;    ///< gradients, optimizer, copies of the weights, loss of the fit
    std::int64_t perImage = 0; ///< activations, and the batches that are loaded ahead
    std::int64_t needed(std::int64_t images) const { return fixed + perImage * images; }
    /// The largest batch within 90 % of `available`; 0 when not even one image fits.
    std::int64_t largestBatch(std::int64_t available) const;
};

} // namespace tw

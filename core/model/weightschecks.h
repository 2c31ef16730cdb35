// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/weightsfile.h"

namespace tw {

/// Adds one warning that names the tensors (the first five) holding a NaN or an infinity.
void reportNotFinite(const StateDict &weights, WeightsReport &report);
/// Whether so many bytes of memory are free for what `file` holds packed or out of order.
/// InvalidModelDirectoryError naming both figures.
Result<void> checkWeightsMemory(const fs::path &file, std::uint64_t bytes);
/// FailedToWriteOutputsError: an empty or repeated name, a name that is not UTF-8, bytes that do not
/// fit shape and type.
Result<void> checkWritable(const fs::path &file, const StateDict &weights);

} // namespace tw

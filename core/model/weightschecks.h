// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/weightsfile.h"

namespace tw {

/// Adds one warning that names the tensors (the first five) holding a NaN or an infinity.
void reportNotFinite(const StateDict &weights, WeightsReport &report);
/// FailedToWriteOutputsError: an empty or repeated name, a name that is not UTF-8, bytes that do not
/// fit shape and type.
Result<void> checkWritable(const fs::path &file, const StateDict &weights);

} // namespace tw

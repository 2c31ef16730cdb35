// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/train/trainingspec.h"

namespace tw {

/// Trains on the calling thread. Errors: components.md › Train PyTorch Model; CanceledError within
/// one batch of a cancel. Stop-and-keep returns the best so far with stopped = "user".
Result<TrainingResult> train(const TrainingSpec &spec, RunContext &context);

} // namespace tw

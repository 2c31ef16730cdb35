// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"

namespace tw {

/// What is known before a training of how its pictures are prepared, against the model at `untrained_model`.
/// Warning: the initial weights were trained with another resize, interpolation or center crop than the list at
/// `validation_dataset` (without one, that at `training_dataset`) has; both lists and the parameters to change are
/// named. InvalidDatasetError: the model reads pictures of one size, and a list gives another.
void checkPreprocessing(const PreflightRequest &request, PreflightReply &reply);

} // namespace tw

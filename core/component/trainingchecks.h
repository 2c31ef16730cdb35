// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"

namespace tw {

/// What is known of the pictures at `training_dataset` and `validation_dataset` before a training,
/// against `batch_size` and `require_same_categories`: NotLabeledDatasetError, InvalidDatasetError
/// (fewer than two categories, categories that do not fit), LessThanOrEqualToError (batch_size);
/// categories without validation pictures are a warning.
void checkTrainingData(const PreflightRequest &request, PreflightReply &reply);

} // namespace tw

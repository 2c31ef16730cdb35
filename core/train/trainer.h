// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/train/trainingspec.h"

namespace tw {

/// Trains on the calling thread. Errors: components.md › Train PyTorch Model; CanceledError within
/// one batch of a cancel; NotInRangeValueError (learning_rate) when the loss is no longer a number
/// before any weights could be kept; ModuleOutOfMemoryError; LibraryError with LibTorch's text.
/// Stop-and-keep returns the best so far with stopped = "user"; before the first validation it
/// validates once. stopped is "patience" or "nan" likewise. The caller tells stoppedEarly().
/// Series: train_loss, learning_rate, images_per_second, loader_wait_ms, step_ms at each step, the
/// loader's other figures every print_frequency steps, the others of formats.md at each epoch; cpu_percent counts all
/// processors (200 = two of them busy), train_top1/5 are running figures in training mode. Log lines go to driver log
/// 0.
Result<TrainingResult> train(const TrainingSpec &spec, RunContext &context);

} // namespace tw

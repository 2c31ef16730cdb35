// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/batchloader.h"
#include "core/train/accuracy.h"
#include "core/train/torch/module.h"

#include <functional>

namespace tw {

/// The batch's own memory as N×C×H×W (channels_last where the batch is); the tensor keeps the batch
/// alive. Copied when `device` is not the host.
at::Tensor inputTensor(const BatchPtr &batch, const at::Device &device);
at::Tensor labelTensor(const BatchPtr &batch, const at::Device &device);
/// Hits and loss of logits (any device, any floating type).
Score scoreLogits(const at::Tensor &logits, const Batch &batch, double meanLoss);

/// One pass over the loader's current epoch in evaluation mode without gradients; the module's mode
/// is restored. Nothing when `poll` returned false before a batch. The loader's errors as they are.
Result<std::optional<Score>> evaluate(Module &network, BatchLoader &loader, const at::Device &device,
                                      const StopToken *stop, const std::function<bool(const Score &)> &poll);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/model/statedict.h"
#include "core/train/torch/module.h"

#include <optional>

namespace tw {

/// Deep copies in host memory, contiguous, in PyTorch's state_dict order.
StateDict exportWeights(const Module &module);

/// Those of `weights` that are the module's, in its order and types: converted where they are of another type,
/// else the same memory; an absent counter is 0. weightsMismatch() has found nothing. The module may be of
/// shapes only.
StateDict arrangedWeights(const Module &module, const StateDict &weights);

/// The same as exportWeights() without values: the module may be of shapes only.
StateDict layoutOf(const Module &module);

/// A deep copy in host memory, contiguous, under this name.
TensorBlob blobOf(std::string name, const at::Tensor &tensor);
/// The values of a blob, which the tensor looks at: only to be read, while the blob lives.
at::Tensor viewOf(const TensorBlob &blob);

struct ImportOptions
{
    /// Tensors of this prefix keep their values where all of them are for another number of classes.
    std::string headPrefix;
    /// As PyTorch's load_state_dict: floating types are converted, num_batches_tracked from any type, and a
    /// missing one (files older than PyTorch 0.4.1) becomes 0. False: types and names must be equal.
    bool lenientTypes = false;
    QString network; ///< its architecture, for the message; may be empty
};

/// What does not fit, one line each group; empty when all fits. Nothing is copied.
QString weightsMismatch(const Module &module, const StateDict &weights, const ImportOptions &options = {});
/// For how many classes the head in `weights` is, where importWeights() leaves it out.
std::optional<std::int64_t> replacedHead(const Module &module, const StateDict &weights, const ImportOptions &options);
/// Copies the values into the module. CheckpointMismatchError listing every missing, unexpected and
/// misshapen name; then nothing was copied. `what` names the file or model in the message.
Result<void> importWeights(Module &module, const StateDict &weights, const QString &what,
                           const ImportOptions &options = {});
Error weightsMismatchError(const QString &what, const QString &mismatch, const QString &network = {});

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/model/statedict.h"

namespace tw {

/// Zip-format .pth that torch.load(weights_only=True) reads: an OrderedDict of tensors, one storage
/// each, stored records aligned to 64 bytes. FailedToWriteOutputsError.
Result<void> writePth(const fs::path &file, const StateDict &weights);
/// Plain state_dict of a zip-format .pth (also {'state_dict': …}, `module.` prefix). A restricted
/// pickle machine: fixed allowed names and opcodes, bounded depth and memory, no code ever runs.
/// InvalidModelDirectoryError naming the file, what was met and what to save instead.
Result<StateDict> readPth(const fs::path &file);
Result<void> writeSafetensors(const fs::path &file, const StateDict &weights);
/// With every check of the published format. InvalidModelDirectoryError.
Result<StateDict> readSafetensors(const fs::path &file);
/// By content: zip → readPth, else safetensors. InvalidModelDirectoryError.
Result<StateDict> readWeights(const fs::path &file);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/model/statedict.h"

#include <QStringList>

namespace tw {

class ByteSink; // outputfile.h

/// What a reader met besides the tensors, for `inspect` and for the log.
struct WeightsReport
{
    QString format; ///< "pytorch" (zip) | "pytorch-legacy" (before 1.6) | "pytorch-tar" | "safetensors"
    /// Key of a checkpoint that held the tensors, keys of checkpoints in one another joined by '/'; empty:
    /// the file itself.
    QString weightsUnder;
    QStringList extras; ///< other entries of the file, left out (the first 500); safetensors: keys of its metadata
    void addExtra(const QString &name);
    /// Names of the classes where the file has them: a list of texts under 'classes' or 'class_names' beside
    /// the weights of a checkpoint, or a JSON list in the metadata key 'classes' of safetensors.
    std::vector<std::string> classes;
    QStringList warnings; ///< sentences, e.g. naming the tensors that hold a NaN or an infinity
};

/// Zip-format .pth that torch.load(weights_only=True) reads: an OrderedDict of tensors, one storage
/// each, stored records aligned to 64 bytes. Written to a temporary sibling, synced, renamed; needs
/// no memory beside the tensors'. FailedToWriteOutputsError.
Result<void> writePth(const fs::path &file, const StateDict &weights);
/// The same bytes to anything that takes them; names and sizes of the tensors are not checked.
Result<void> writePth(ByteSink &out, const StateDict &weights);
/// Tensors of a file that torch.save wrote, whichever of its three containers it is (zip since PyTorch 1.6,
/// pickles and storages one after the other, tar before 0.1.10): a state_dict, or one below 'state_dict',
/// 'model_state_dict', 'model', 'net' and the like, or the moving average (EMA) beside them where nothing
/// else is there. Views become contiguous copies, as do elements with their highest byte first; the rest
/// stays in the mapped file. Names as they stand in the file (see stripNamePrefix). A restricted pickle
/// machine: fixed allowed names and opcodes, bounded memory, no code ever runs. InvalidModelDirectoryError
/// naming the file, what was met and what to save instead. `report` may be null; with it, values are
/// searched for NaN.
Result<StateDict> readPth(const fs::path &file, WeightsReport *report = nullptr);
/// Header in the order of `weights`, data by falling element size, so that each tensor is aligned.
Result<void> writeSafetensors(const fs::path &file, const StateDict &weights);
/// The same bytes to anything that takes them; names and sizes of the tensors are not checked.
Result<void> writeSafetensors(ByteSink &out, const StateDict &weights);
/// With every check of the published format. InvalidModelDirectoryError.
Result<StateDict> readSafetensors(const fs::path &file, WeightsReport *report = nullptr);
/// By content: readPth or readSafetensors. InvalidModelDirectoryError that says what the file is where it
/// is neither (empty, a web page, a Git LFS pointer, a pickle of something else).
Result<StateDict> readWeights(const fs::path &file, WeightsReport *report = nullptr);
/// Takes "module." and "_orig_mod." off while every name begins with it; returns what was taken off.
std::string stripNamePrefix(StateDict &weights);

} // namespace tw

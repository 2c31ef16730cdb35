// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/modelcomponent.h"
#include "core/model/pretrainedfiles.h"

namespace tw {

/// Preflight of `weights` pretrained, which downloads nothing: the summary says whether the weights are
/// here, facts get fingerprint (the file's name, which holds the start of its hash: another file, another
/// node key). InvalidModelDirectoryError, CheckpointMismatchError and CanceledError at weights.
void preflightPretrained(const ModelConfig &config, const NetworkFunctions &networks, const StopToken *stop,
                         PreflightReply &reply, PortFacts &facts);

/// Writes untrained_model.json with a copy of the weights, their mean and deviation; downloads them first
/// where they are not on this machine. Errors of obtainPretrainedFile() at weights;
/// FailedToWriteOutputsError.
Result<void> runPretrained(const ModelConfig &config, const fs::path &folder, RunContext &context);

} // namespace tw

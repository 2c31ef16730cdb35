// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"
#include "core/model/modeldirectory.h"
#include "core/train/architectures.h"

namespace tw {

/// What the model components ask of the networks: the functions of those names in
/// core/train/architectures.h, handed in because this part knows no LibTorch.
struct NetworkFunctions
{
    Result<ModelSummary> (*summarizeModel)(const ModelConfig &, int channels, int height, int width);
    Result<void> (*checkInitialWeights)(const ModelConfig &, const fs::path &);
};

/// The parameter model_name: the networks of a family, the first is the default.
void addModelName(ComponentType &type, std::initializer_list<const char *> names);
/// The parameters weights and weights_file, alike in every family.
void addWeightsParameters(ComponentType &type);
/// Output, checks and run of a family whose pictures are 224×224 colour ones unless the data decide
/// otherwise. `ofFamily`: architecture and arguments from the parameters, without the number of classes.
/// Preflight: InvalidModelDirectoryError and CheckpointMismatchError at weights_file; the node shows
/// parameters, multiply-adds and input size. Adds the parameter input_channels (3 | 1), which becomes the
/// argument in_channels where it is not 3.
void finishModelComponent(ComponentType &type, std::function<ModelConfig(const ParameterValues &)> ofFamily,
                          const NetworkFunctions &networks);

/// Facts of the output untrained_model; a component adds fresh_weights where it knows it.
PortFacts modelFacts(const ModelConfig &config);
/// "11.7 M parameters · 1.8 GMAC · 224 × 224" for the node; facts get parameters and multiply_adds.
QString addFigures(const ModelSummary &summary, PortFacts &facts);
/// How pictures were prepared for a weights file, as a model.json beside it says; nothing without one,
/// or where it does not resize and crop.
std::optional<WeightsPreprocessing> preprocessingBeside(const fs::path &weightsFile);
/// Writes untrained_model.json with a copy of `weightsFile` beside it (empty: none), so that the job keeps
/// all it needs. A model.json beside the weights gives their normalisation
/// and preprocessing.
/// InvalidModelDirectoryError, FailedToWriteOutputsError.
Result<void> writeUntrainedModel(const fs::path &folder, const ModelConfig &config, const fs::path &weightsFile);
/// The same with what `model` says of the weights besides their file.
Result<void> writeUntrainedModel(const fs::path &folder, UntrainedModel model, const fs::path &weightsFile);

} // namespace tw

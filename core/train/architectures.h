// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/modeldirectory.h"

#include <QStringList>

#include <optional>

namespace tw {

struct ModelSummary
{
    std::int64_t parameters = 0;
    std::int64_t multiplyAdds = 0; ///< one picture of the given size
    int height = 0, width = 0, channels = 0;
};

/// All architecture names this build knows.
QStringList architectureNames();
/// InvalidModelDirectoryError: unknown architecture or argument, size too small.
Result<ModelSummary> summarizeModel(const ModelConfig &config, int channels, int height, int width);
/// Fresh weights with torchvision's initialisation; same seed, same bits.
Result<StateDict> freshWeights(const ModelConfig &config, std::uint64_t seed);
/// Names, shapes and types of the weights, in order, without their values (`data` is null).
Result<StateDict> weightsLayout(const ModelConfig &config);
/// Names, shapes and types equal, else CheckpointMismatchError listing every missing, unexpected
/// and misshapen name.
Result<void> checkWeights(const ModelConfig &config, const StateDict &weights);

/// What a network reads. `fixed`: this and no other size; its arguments in_channels, height and width
/// are filled in. Others: the usual size of its family. InvalidModelDirectoryError.
struct ModelInput
{
    ModelConfig config;
    int channels = 3, height = 224, width = 224;
    bool fixed = false;
};
Result<ModelInput> modelInput(const ModelConfig &config);
/// model.json of a network with these classes (as many as config's num_classes says) whose preparation of
/// pictures is not known: what a fixed input needs with ImageNet's mean and deviation, else the preparation
/// for the architecture's published weights. InvalidModelDirectoryError.
Result<ModelInfo> usualModelInfo(const ModelConfig &config, std::vector<std::string> classes);
/// Whether the network of a model.json exists, takes its arguments and reads its input.
/// InvalidModelDirectoryError naming file, key, value and what it must be.
Result<void> checkModel(const ModelInfo &info, const fs::path &folder);

/// Weights to begin with, under the network's own names.
struct InitialWeights
{
    StateDict weights;
    QStringList notes; ///< sentences: what was taken off, renamed or taken for granted
};
/// A weights file for the network of `config`, whose number of classes may be another: a common prefix
/// is taken off, names of older files are the network's afterwards. InvalidModelDirectoryError, also
/// where the file's SHA-256 is not `sha256` (empty: any).
Result<InitialWeights> readInitialWeights(const ModelConfig &config, const fs::path &file,
                                          const QByteArray &sha256 = {});
/// Whether training could begin with them: everything but the head fits.
/// CheckpointMismatchError listing every missing, unexpected and misshapen name.
Result<void> checkInitialWeights(const ModelConfig &config, const fs::path &file);
/// The tensors in the network's order and types (floating types are converted, absent counters are 0).
/// CheckpointMismatchError, also for a head of another number of classes.
Result<StateDict> fittedWeights(const ModelConfig &config, const StateDict &weights, const QString &what);

struct RecognisedModel
{
    ModelConfig config; ///< num_classes as the head has it
    InitialWeights initial;
};
/// The network that names and shapes belong to; with `architecture` only whether they are that one's.
/// `what` names the file. CheckpointMismatchError listing every name against `architecture`, or against
/// the network that is nearest; InvalidModelDirectoryError where none is near.
Result<RecognisedModel> recogniseModel(StateDict weights, const QString &architecture, const QString &what);

/// What is known of weights that need not fit.
struct ModelGuess
{
    std::optional<RecognisedModel> model; ///< all names and shapes agree
    QString nearest;                      ///< else the network that shares at least half of them; may be empty
    QString differences;                  ///< names that lack, are too many or have another shape there
};
/// The network that names and shapes belong to, or the one that is nearest; `what` names the file.
Result<ModelGuess> guessModel(StateDict weights, const QString &what);

} // namespace tw

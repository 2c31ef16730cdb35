// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/modeldirectory.h"

#include <QStringList>

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

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/train/trainingspec.h"

#include <QStringList>

namespace tw {

/// Both data sets, checked and speaking of the same class ids.
struct TrainingData
{
    ManifestPtr training;
    ManifestPtr validation; ///< category ids are those of `training`
    TransformList trainingTransforms;
    TransformList validationTransforms;
    TransformList inferenceTransforms; ///< what the model stores: deterministic
    QStringList warnings;
};

/// Checks labels by name (contracts.md › Labels) and the batch size, and resolves the transforms.
/// NotLabeledDatasetError, InvalidDatasetError, LessThanOrEqualToError (batch_size).
Result<TrainingData> checkTrainingData(const TrainingSpec &spec);

/// What is said before and in a training of the head alone whose other layers have no initial weights.
QString freshHeadWarning();

struct InputSize
{
    int height = 0, width = 0;
};
/// Size of the network's input: fixed by the transforms, else that of the first readable image.
/// InvalidDatasetError, InvalidImageError.
Result<InputSize> inputSize(const ManifestPtr &manifest, const TransformList &transforms, std::uint64_t seed);

/// Resolves `normalization` weights | imagenet | half | dataset | none; `weights` is the one stored
/// with the initial weights or in the model directory that they lie in, else ImageNet's. NotInRangeValueError.
Result<Normalization> resolveNormalization(const TrainingSpec &spec, const TrainingData &data, const StopToken *stop);

} // namespace tw

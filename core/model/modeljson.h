// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/modeldirectory.h"

#include <QByteArray>

namespace tw {

/// Hashes that model.json states; empty: that file is not stated.
struct WeightsHashes
{
    QByteArray pth, safetensors;
};

/// model.json with the keys in their published order (core/model's format version 1).
QByteArray modelJson(const ModelInfo &info, const WeightsHashes &hashes);
/// The "weights" member of a model.json that readModelInfo() accepts.
Result<WeightsHashes> readWeightsHashes(const fs::path &folder);

} // namespace tw

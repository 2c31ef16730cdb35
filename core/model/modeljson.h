// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/modeldirectory.h"

#include <QByteArray>
#include <QJsonValue>

#include <array>

namespace tw {

inline constexpr int modelVersion = 1;

/// Hashes that model.json states; empty: that file is not stated.
struct WeightsHashes
{
    QByteArray pth, safetensors;
};

/// InvalidModelDirectoryError: "FILE: "KEY" is VALUE; it must be WANTED." Long values are cut.
Error badField(const fs::path &file, const QString &key, const QJsonValue &value, const QString &wanted);
/// Format and version of a file; a newer version has a sentence of its own. `version` is the newest known.
Result<void> checkFormat(const fs::path &file, const QJsonObject &json, const char *format, int version);
/// {mean, std}: lists of `channels` finite numbers that a float holds, std above 0; one is spread to three,
/// of four the first three are kept.
Result<Normalization> normalizationFromJson(const fs::path &file, const QJsonObject &json, const QString &prefix,
                                            int channels);
/// "[0.485,0.456,0.406]": the shortest texts that read back to the same floats.
/// A fourth is `further`.
QByteArray floatListJson(const std::array<float, 3> &values, int count, float further);
/// Of the first resize; bilinear where nothing is resized.
Interpolation firstInterpolation(const TransformList &list);
/// model.json with the keys in their published order (core/model's format version 1).
QByteArray modelJson(const ModelInfo &info, const WeightsHashes &hashes);
/// The "weights" member of a model.json that readModelInfo() accepts.
Result<WeightsHashes> readWeightsHashes(const fs::path &folder);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/data/batchloader.h"
#include "core/data/interpolation.h"
#include "core/data/transforms.h"

#include <QByteArray>
#include <QJsonValue>
#include <QString>

#include <array>
#include <optional>

namespace tw {

/// How pictures are prepared for weights: the shorter edge resized, a square cut out of the middle,
/// then (value / 255 − mean) / std per channel.
struct WeightsPreprocessing
{
    int resize = 256; ///< pixels of the shorter edge, ≥ 1
    int crop = 224;   ///< pixels of the square's edge, 1 to `resize`
    Interpolation interpolation = Interpolation::Bilinear;
    std::array<float, 3> mean{0.485F, 0.456F, 0.406F};
    std::array<float, 3> std{0.229F, 0.224F, 0.225F}; ///< above 0
    bool operator==(const WeightsPreprocessing &) const = default;

    Normalization normalization() const { return {mean, std}; }
    /// Resize and center crop.
    TransformList transforms() const;
    /// {"resize":256,"crop":224,"interpolation":"bilinear","mean":[…],"std":[…]}
    QByteArray toJson() const;
    /// InvalidModelDirectoryError naming `file`, key (`prefix` before it) and value.
    static Result<WeightsPreprocessing> fromJson(const fs::path &file, const QJsonValue &value, const QString &prefix);
    /// Of a list's first resize and first center crop; nothing where one of them is absent or the crop
    /// is larger than what it is cut out of.
    static std::optional<WeightsPreprocessing> of(const TransformList &transforms, const Normalization &normalization);
};

} // namespace tw

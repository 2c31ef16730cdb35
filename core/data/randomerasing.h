// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/batchloader.h"

namespace tw {

struct EraseRegion
{
    int x = 0, y = 0, width = 0, height = 0;
    bool operator==(const EraseRegion &) const = default;
};

/// torchvision's RandomErasing for a picture of this size: drawn with chance p; share of the area
/// uniform, ratio of height to width log-uniform, ten tries, strictly smaller than the picture.
/// Nothing where `list` has no such operation, the chance says no, or no try fits. To be called
/// after transformView() with the same `random`.
std::optional<EraseRegion> drawErasing(const TransformList &list, int width, int height, SampleRandom &random);
/// Sets the region of one normalised picture (channels·H·W floats in either order) to 0.
void eraseRegion(const EraseRegion &region, int width, int height, int channels, MemoryOrder order, float *pixels);

} // namespace tw

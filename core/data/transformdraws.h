// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/transforms.h"

namespace tw {

/// What resizing the shorter edge gives: the longer one is cut, not rounded, as in torchvision.
ImageSize shorterEdgeSize(ImageSize image, int size);
/// Size after one operation. InvalidDatasetError as applyTransforms().
Result<ImageSize> sizeAfter(const TransformOp &op, ImageSize image, const std::string &name);
/// Draws one operation for a picture of this size (torchvision's get_params), which sizeAfter()
/// accepts, and appends what it comes down to.
void drawOp(const TransformOp &op, ImageSize image, SampleRandom &random, std::vector<PixelStep> &steps);

} // namespace tw

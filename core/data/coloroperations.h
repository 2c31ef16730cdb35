// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/transforms.h"

namespace tw {

// Pillow's ImageEnhance, ImageOps and HSV conversion, bit for bit, on 1 (gray) or 3 channels; gray
// gives what three equal channels give. Results point into `image` (where nothing changes) or
// `scratch`. Factors: 0 the degenerate picture, 1 the picture itself, any finite number allowed.

PixelView adjustBrightness(const PixelView &image, double factor, TransformScratch &scratch);
/// Towards the rounded mean of the luma.
PixelView adjustContrast(const PixelView &image, double factor, TransformScratch &scratch);
/// Towards the luma.
PixelView adjustSaturation(const PixelView &image, double factor, TransformScratch &scratch);
/// Turns the hue by `turn` (−0.5 to 0.5) of the circle, in PIL's 8-bit HSV.
PixelView adjustHue(const PixelView &image, double turn, TransformScratch &scratch);
/// Towards Pillow's SMOOTH filter; pictures less than 3 pixels wide or high stay as they are.
PixelView adjustSharpness(const PixelView &image, double factor, TransformScratch &scratch);
/// Keeps the upper `bits` (1 to 8) of each value.
PixelView posterize(const PixelView &image, int bits, TransformScratch &scratch);
/// Inverts values that are not below `threshold`.
PixelView solarize(const PixelView &image, double threshold, TransformScratch &scratch);
/// Stretches each channel to 0 to 255.
PixelView autoContrast(const PixelView &image, TransformScratch &scratch);
/// Equalises the histogram of each channel.
PixelView equalize(const PixelView &image, TransformScratch &scratch);
/// Pillow's L, as three equal channels (one where the picture has one).
PixelView grayscale(const PixelView &image, TransformScratch &scratch);

} // namespace tw

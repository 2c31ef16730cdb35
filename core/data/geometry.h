// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/transforms.h"

namespace tw {

/// From a pixel of the result to its source: x' = (a·x + b·y + c) / (g·x + h·y + 1), y' = (d·x +
/// e·y + f) / the same; g and h are 0 for affine mappings.
using Coefficients = std::array<double, 8>;

/// torchvision's inverse affine matrix for a picture of this size.
Coefficients affineCoefficients(const AffineArguments &arguments, int width, int height);
/// Pillow's rotation about the centre, cosine and sine rounded to 15 decimals.
Coefficients rotationCoefficients(double degrees, int width, int height);
/// Takes `corners` (PixelStep::corners) back to the corners of a picture of this size; nothing
/// where they lie so that no such mapping exists.
std::optional<Coefficients> perspectiveCoefficients(const std::array<int, 8> &corners, int width, int height);

// The size stays, what comes from outside is 0. Results point into `image` (where nothing changes)
// or `scratch`.

/// Nearest neighbour in Pillow's arithmetic: 16.16 fixed point where it fits, tables for mere
/// scaling, else double.
PixelView affineNearest(const PixelView &image, const Coefficients &matrix, TransformScratch &scratch);
/// PIL.Image.rotate: quarter turns are exact.
PixelView rotateNearest(const PixelView &image, double degrees, TransformScratch &scratch);
/// Pillow's BILINEAR (double, cut to 8 bits).
PixelView perspectiveBilinear(const PixelView &image, const Coefficients &mapping, TransformScratch &scratch);

} // namespace tw

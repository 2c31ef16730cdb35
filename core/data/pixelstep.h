// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/interpolation.h"

#include <array>

namespace tw {

/// Arguments of torchvision's affine(): angle and shear in degrees, clockwise; translation in
/// pixels after the rotation.
struct AffineArguments
{
    double angle = 0;
    int translateX = 0, translateY = 0;
    double scale = 1; ///< > 0
    double shearX = 0, shearY = 0;
    bool aboutOrigin = false; ///< the upper left corner stays in place, else the centre
    bool operator==(const AffineArguments &) const = default;
};

/// One thing done to the pixels of one picture, everything random already drawn: what a list of
/// operations comes down to for a picture of a given size. `kind` decides which fields count.
struct PixelStep
{
    enum class Kind {
        Resize,
        Crop,
        ResizedCrop,
        Pad,
        Grayscale,
        FlipHorizontally,
        FlipVertically,
        Rotate,
        Affine,
        Perspective,
        Brightness,
        Contrast,
        Saturation,
        Hue,
        Sharpness,
        Posterize,
        Solarize,
        AutoContrast,
        Equalize
    };
    Kind kind = Kind::Grayscale;
    int x = 0, y = 0;          ///< Crop, ResizedCrop: upper left corner of the region
    int width = 0, height = 0; ///< Crop, ResizedCrop: the region; Resize: what comes out; pixels
    int size = 0;              ///< ResizedCrop: edge of what comes out; Pad: border; Posterize: bits kept, 1 to 8
    /// Rotate: degrees counter-clockwise; Brightness, Contrast, Saturation, Sharpness: factor, 1
    /// changes nothing; Hue: −0.5 to 0.5 of the circle; Solarize: values from here on are inverted
    double value = 0;
    AffineArguments affine{};
    /// Perspective: where the picture's corners go, x and y of the upper left, upper right, lower
    /// right and lower left one
    std::array<int, 8> corners{};
    Interpolation interpolation = Interpolation::Bilinear; ///< Resize, ResizedCrop
    bool operator==(const PixelStep &) const = default;
};

} // namespace tw

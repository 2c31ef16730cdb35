// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/transforms.h"

namespace tw {

/// What is wanted of a resized picture: `window` of the `to` pixels that a picture of `from` pixels
/// becomes. The window is not empty and lies within `to`.
struct Resample
{
    ImageSize from, to;
    PixelRegion window;
    Interpolation interpolation = Interpolation::Bilinear;
    bool operator==(const Resample &) const = default;
};

/// The part of the `from` pixels that the window is made of.
PixelRegion sourceOf(const Resample &resample);
/// Pillow's 8-bit antialiased BILINEAR or BICUBIC of 1 or 3 channels. `source` holds just the pixels of
/// sourceOf(). `out` takes window width·height·channels bytes and is none of the scratch's `columns`,
/// `transposed`, `rows`.
void resampleExact(const PixelView &source, const Resample &resample, TransformScratch &scratch, std::uint8_t *out);
/// The same for a whole picture.
void resizeView(const PixelView &image, int width, int height, Interpolation interpolation, TransformScratch &scratch,
                std::uint8_t *out);

} // namespace tw

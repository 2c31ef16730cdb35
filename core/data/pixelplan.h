// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/pixelstep.h"
#include "core/data/resize.h"

#include <span>

namespace tw {

/// A list of steps in the order in which little is decoded and copied: the crops and the resize that
/// it begins with as one reading of a part of the picture, the mirroring that it ends with as a way
/// of writing. The pixels are those of the steps one by one.
struct PixelPlan
{
    PixelRegion source;                ///< what is resized, of the picture
    Resample resample;                 ///< from.width·height is source's; to equals from where nothing is resized
    std::span<const PixelStep> middle; ///< done one by one in between
    bool flipHorizontally = false, flipVertically = false; ///< at the end

    bool resizes() const { return !(resample.from == resample.to); }
    /// The part of the picture whose pixels are needed.
    PixelRegion neededRegion() const;
    /// Whether resampleFast() can do the resize. Bicubic is always exact: its overshoot is cut off after each
    /// pass, which no sum without rounding in between comes near.
    bool canBeFast() const { return resizes() && resample.interpolation == Interpolation::Bilinear; }
    /// 1, 2, 4 or 8: how much smaller the picture may be decoded, so that what is resized stays at
    /// least twice as large as what comes out, in both directions. 1 where it cannot be fast.
    int largestReduce() const;
};

/// For a picture of this size, which the steps were drawn for. `steps` must outlive the plan.
PixelPlan planPixels(std::span<const PixelStep> steps, ImageSize picture);

/// Pixels on their way into a batch: what writes them mirrors them.
struct PlannedPixels
{
    PixelView view;
    bool flipHorizontally = false, flipVertically = false;
};
/// Carries the plan out on the pixels of neededRegion(), Pillow's bit for bit. The view points into
/// `needed` or `scratch`.
PlannedPixels runPlan(const PixelPlan &plan, const PixelView &needed, TransformScratch &scratch);

} // namespace tw

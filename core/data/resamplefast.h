// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/pixelplan.h"

#include <array>

namespace tw {

/// Where in the pixels that were decoded the picture to be resized lies, and what it becomes. Source
/// and window are those of a PixelPlan, the source in decoded pixels, which may lie between two.
struct FastResample
{
    double x = 0, y = 0, width = 0, height = 0; ///< of the source, from the first decoded pixel on
    ImageSize to;
    PixelRegion window;
};
/// For pixels that a reader gave for plan.neededRegion() at 1/reduce.
FastResample fastResample(const PixelPlan &plan, int reduce);

/// Receives one row of the window: `row` of it, its width·3 interleaved values 0 to 255, not rounded.
using FastRowSink = void (*)(void *context, int row, const float *values);

/// The triangle filter of resampleExact() on RGB pixels in float32 without rounding in between:
/// rows first, then columns. Without a reduced decoding the values differ from the exact ones by at
/// most one level.
void resampleFast(const PixelView &decoded, const FastResample &resample, TransformScratch &scratch, FastRowSink sink,
                  void *context);

} // namespace tw

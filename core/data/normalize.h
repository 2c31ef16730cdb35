// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/batchloader.h"
#include "core/data/pixelplan.h"

#include <array>

namespace tw {

/// One table of 256 floats per channel: what (value / 255 − mean) / std gives in float32, step by
/// step as torchvision's ToTensor and Normalize do. Pictures are mirrored as they are written.
class Normalizer
{
public:
    Normalizer(const Normalization &normalization, int channels, MemoryOrder order);
    /// `out` holds channels·H·W floats. Any thread.
    void run(const PixelView &image, float *out) const { run(PlannedPixels{image}, out); }
    void run(const PlannedPixels &image, float *out) const;
    /// Row `row` of a picture of this size from interleaved RGB values that are not rounded, straight
    /// to its place in `out`; for 3 channels.
    void runRow(const float *values, int row, ImageSize size, const PixelPlan &plan, float *out) const;

private:
    void runFirst(const PlannedPixels &image, float *out) const;
    void runLast(const PlannedPixels &image, float *out) const;

    std::array<std::array<float, 256>, 3> m_tables;
    std::array<float, 3> m_factors, m_offsets; // the same as one multiplication and addition
    int m_channels;
    MemoryOrder m_order;
};

} // namespace tw

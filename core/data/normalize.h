// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/batchloader.h"

#include <array>

namespace tw {

/// One table of 256 floats per channel: what (value / 255 − mean) / std gives in float32, step by
/// step as torchvision's ToTensor and Normalize do.
class Normalizer
{
public:
    Normalizer(const Normalization &normalization, int channels, MemoryOrder order);
    /// `out` holds channels·H·W floats. Any thread.
    void run(const PixelView &image, float *out) const;

private:
    void runFirst(const PixelView &image, float *out) const;
    void runLast(const PixelView &image, float *out) const;

    std::array<std::array<float, 256>, 3> m_tables;
    int m_channels;
    MemoryOrder m_order;
};

} // namespace tw

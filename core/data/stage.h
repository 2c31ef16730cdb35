// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/transforms.h"

namespace tw {

/// A picture to be written: one of the scratch's two stages, never the one that was written last,
/// so that a step does not write where its input lies.
struct Stage
{
    std::uint8_t *data;
    PixelView view;

    std::uint8_t *row(int y) const { return data + std::size_t(y) * view.stride; }
};

inline Stage newStage(TransformScratch &scratch, int width, int height, int channels)
{
    scratch.turn ^= 1;
    std::vector<std::uint8_t> &bytes = scratch.stages[std::size_t(scratch.turn)];
    const std::size_t stride = std::size_t(width) * std::size_t(channels);
    if (bytes.size() < stride * std::size_t(height))
        bytes.resize(stride * std::size_t(height));
    return {bytes.data(), {bytes.data(), width, height, channels, stride}};
}
inline Stage stageLike(const PixelView &image, TransformScratch &scratch)
{
    return newStage(scratch, image.width, image.height, image.channels);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tw {

/// 8-bit RGB picture, H×W×3 interleaved, no row padding.
struct ImageBuffer
{
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> pixels;

    const std::uint8_t *row(int y) const { return pixels.data() + std::size_t(y) * std::size_t(width) * 3; }
    std::uint8_t *row(int y) { return pixels.data() + std::size_t(y) * std::size_t(width) * 3; }
    bool operator==(const ImageBuffer &) const = default;
};

struct ImageSize
{
    int width = 0, height = 0;
    bool operator==(const ImageSize &) const = default;
};

/// A rectangle of pixels: upper left corner and size.
struct PixelRegion
{
    int x = 0, y = 0, width = 0, height = 0;
    bool operator==(const PixelRegion &) const = default;
};

/// Pixels that someone else owns: 1 (gray, stands for three equal channels) or 3 (RGB) interleaved
/// bytes a pixel, `stride` bytes from row to row.
struct PixelView
{
    const std::uint8_t *data = nullptr;
    int width = 0;
    int height = 0;
    int channels = 3;
    std::size_t stride = 0;

    const std::uint8_t *row(int y) const { return data + std::size_t(y) * stride; }
    std::size_t rowBytes() const { return std::size_t(width) * std::size_t(channels); }
    /// A part of it, which must lie within.
    PixelView region(const PixelRegion &part) const
    {
        return {row(part.y) + std::size_t(part.x) * std::size_t(channels), part.width, part.height, channels, stride};
    }
};

inline PixelView viewOf(const ImageBuffer &image)
{
    return {image.pixels.data(), image.width, image.height, 3, std::size_t(image.width) * 3};
}
/// Pillow's "L" of an RGB pixel: ITU-R 601-2 luma in 16-bit fixed point, rounded.
inline std::uint8_t luma(const std::uint8_t *rgb)
{
    return std::uint8_t((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
}
/// A copy; gray becomes three equal channels.
ImageBuffer bufferOf(const PixelView &view);

} // namespace tw

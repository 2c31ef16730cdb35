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

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tw {

/// How the samples of a TIFF picture become 8-bit RGB.
struct TiffColours
{
    enum class Kind { Gray, Palette, Rgb, Cmyk };

    Kind kind = Kind::Gray;
    bool isInverted = false; ///< gray: 0 is white
    int bits = 8;            ///< a sample, 1–16
    int used = 1;            ///< samples a pixel that say anything: the colours, and a premultiplied alpha after them
    bool isPremultiplied = false;
    std::array<std::uint8_t, 256 * 3> palette{};

    /// Levels 0–255 (for a palette: indices) of `count` samples packed as libtiff gives them. Sixteen
    /// bits are in the machine's byte order.
    void unpack(const std::uint8_t *in, std::size_t count, std::uint8_t *levels) const;
    /// RGB of `count` pixels whose levels lie `stride` apart.
    void toRgb(const std::uint8_t *levels, std::size_t stride, std::size_t count, std::uint8_t *out) const;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/tiffcolours.h"

#include <algorithm>
#include <cstring>

namespace tw {

namespace {

void unpackDeep(const std::uint8_t *in, std::size_t count, std::uint8_t *levels)
{
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t value = 0;
        std::memcpy(&value, in + 2 * i, sizeof value);
        levels[i] = std::uint8_t((value + 128U) / 257U);
    }
}

// Samples that cross bytes, the highest bit first.
void unpackBits(const std::uint8_t *in, int bits, bool asIndex, std::size_t count, std::uint8_t *levels)
{
    const std::uint32_t largest = (1U << bits) - 1;
    std::uint32_t store = 0;
    int held = 0;
    for (std::size_t i = 0; i < count; ++i) {
        for (; held < bits; held += 8)
            store = store << 8 | *in++;
        held -= bits;
        const std::uint32_t value = store >> held & largest;
        levels[i] = std::uint8_t(asIndex ? value : (value * 255 + largest / 2) / largest);
    }
}

// Divides as Pillow does; a pixel that is wholly transparent has no colour left.
std::uint8_t undoAlpha(unsigned level, unsigned alpha)
{
    return std::uint8_t(alpha == 0 ? 0 : std::min(255U, level * 255U / alpha));
}

void fromCmyk(const std::uint8_t *in, std::uint8_t *out)
{
    const int white = 255 - in[3];
    for (std::size_t c = 0; c < 3; ++c) {
        const int product = in[c] * white + 128;
        out[c] = std::uint8_t(std::max(0, white - ((product + (product >> 8)) >> 8)));
    }
}

} // namespace

void TiffColours::unpack(const std::uint8_t *in, std::size_t count, std::uint8_t *levels) const
{
    if (bits == 8)
        std::memcpy(levels, in, count);
    else if (bits == 16)
        unpackDeep(in, count, levels);
    else
        unpackBits(in, bits, kind == Kind::Palette, count, levels);
}

void TiffColours::toRgb(const std::uint8_t *levels, std::size_t stride, std::size_t count, std::uint8_t *out) const
{
    const std::uint8_t flip = isInverted ? 255 : 0;
    for (std::size_t i = 0; i < count; ++i, levels += stride, out += 3)
        switch (kind) {
        case Kind::Gray:
            out[0] = out[1] = out[2] =
                std::uint8_t((isPremultiplied ? undoAlpha(levels[0], levels[1]) : levels[0]) ^ flip);
            break;
        case Kind::Palette:
            std::memcpy(out, palette.data() + std::size_t(levels[0]) * 3, 3);
            break;
        case Kind::Rgb:
            for (std::size_t c = 0; c < 3; ++c)
                out[c] = isPremultiplied ? undoAlpha(levels[c], levels[3]) : levels[c];
            break;
        case Kind::Cmyk:
            fromCmyk(levels, out);
            break;
        }
}

} // namespace tw

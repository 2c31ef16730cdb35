// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/coloroperations.h"
#include "core/data/stage.h"

#include <algorithm>
#include <cmath>

namespace tw {

namespace {

// What Pillow's conversion from HSV computes from the hue and the saturation alone.
struct HsvTables
{
    std::array<int, 256> sixth;
    std::array<float, 256> rest, share;

    HsvTables()
    {
        for (std::size_t i = 0; i < 256; ++i) {
            const auto value = float(i);
            const int whole = int(std::floor(value * 6.0 / 255.0));
            sixth[i] = whole % 6;
            rest[i] = float(value * 6.0 / 255.0 - double(float(whole)));
            share[i] = float(value / 255.0);
        }
    }
};

const HsvTables &tables()
{
    static const HsvTables made;
    return made;
}

// Pillow's 8-bit hue of a pixel that is not gray; float32 and double where Pillow has them.
std::uint8_t hueOf(const std::uint8_t *rgb, int highest, float range)
{
    const float red = float(highest - rgb[0]) / range;
    const float green = float(highest - rgb[1]) / range;
    const float blue = float(highest - rgb[2]) / range;
    float hue = 0;
    if (rgb[0] == highest)
        hue = blue - green;
    else if (rgb[1] == highest)
        hue = float(2.0 + double(red) - double(blue));
    else
        hue = float(4.0 + double(green) - double(red));
    const double turned = double(hue) / 6.0 + 1.0; // in [5/6, 2)
    const auto circle = float(turned >= 1.0 ? turned - 1.0 : turned);
    return std::uint8_t(std::clamp(int(double(circle) * 255.0), 0, 255));
}

inline std::uint8_t rounded(double value)
{
    return std::uint8_t(std::clamp(int(value + 0.5), 0, 255));
}

void fromHsv(std::uint8_t hue, std::uint8_t saturation, int value, std::uint8_t *out)
{
    const HsvTables &table = tables();
    const float rest = table.rest[hue], share = table.share[saturation];
    const auto brightness = double(float(value));
    const auto full = std::uint8_t(value);
    const std::uint8_t low = rounded(brightness * (1.0 - double(share)));
    const std::uint8_t falling = rounded(brightness * (1.0 - double(share * rest)));
    const std::uint8_t rising = rounded(brightness * (1.0 - double(share) * (1.0 - double(rest))));
    const std::uint8_t choices[6][3] = {{full, rising, low},  {falling, full, low}, {low, full, rising},
                                        {low, falling, full}, {rising, low, full},  {full, low, falling}};
    std::copy_n(choices[table.sixth[hue]], 3, out);
}

void turnPixel(const std::uint8_t *in, std::uint8_t turn, std::uint8_t *out)
{
    const int highest = std::max({in[0], in[1], in[2]});
    const int lowest = std::min({in[0], in[1], in[2]});
    const auto range = float(highest - lowest);
    const float saturation = highest == lowest ? 0.0F : range / float(highest);
    const auto stored = std::uint8_t(std::clamp(int(double(saturation) * 255.0), 0, 255));
    if (stored == 0)
        out[0] = out[1] = out[2] = std::uint8_t(highest);
    else
        fromHsv(std::uint8_t(hueOf(in, highest, range) + turn), stored, highest, out);
}

} // namespace

PixelView adjustHue(const PixelView &image, double turn, TransformScratch &scratch)
{
    if (image.channels == 1)
        return image;
    // A negative turn wraps around as in numpy's conversion to uint8.
    const auto shift = std::uint8_t(int(turn * 255.0));
    const Stage out = stageLike(image, scratch);
    for (int y = 0; y < image.height; ++y) {
        const std::uint8_t *in = image.row(y);
        std::uint8_t *to = out.row(y);
        for (int x = 0; x < image.width; ++x, in += 3, to += 3)
            turnPixel(in, shift, to);
    }
    return out.view;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/coloroperations.h"

#include "core/data/stage.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tw {

namespace {

using Table = std::array<std::uint8_t, 256>;
using Tables = std::array<Table, 3>;
using Histogram = std::array<std::uint32_t, 256>;

// ImagingBlend: `base` at 0, `value` at 1, beyond them clipped; float32 as there.
inline std::uint8_t blend(int base, int value, float factor)
{
    const float mixed = float(base) + factor * float(value - base);
    return std::uint8_t(int(std::min(std::max(mixed, 0.0F), 255.0F)));
}

void blendRow(const std::uint8_t *base, const std::uint8_t *value, float factor, std::size_t length, std::uint8_t *out)
{
    for (std::size_t i = 0; i < length; ++i)
        out[i] = blend(base[i], value[i], factor);
}

PixelView mapped(const PixelView &image, const Tables &tables, TransformScratch &scratch)
{
    const Stage out = stageLike(image, scratch);
    const bool gray = image.channels == 1;
    for (int y = 0; y < image.height; ++y) {
        const std::uint8_t *in = image.row(y);
        std::uint8_t *to = out.row(y);
        if (gray)
            for (int x = 0; x < image.width; ++x)
                to[x] = tables[0][in[x]];
        else
            for (int x = 0; x < image.width; ++x, in += 3, to += 3) {
                to[0] = tables[0][in[0]];
                to[1] = tables[1][in[1]];
                to[2] = tables[2][in[2]];
            }
    }
    return out.view;
}

PixelView mapped(const PixelView &image, const Table &table, TransformScratch &scratch)
{
    return mapped(image, Tables{table, table, table}, scratch);
}

// From one value towards the picture: what blending with a picture of that value gives.
PixelView blendedWithValue(const PixelView &image, int value, double factor, TransformScratch &scratch)
{
    const auto alpha = float(factor);
    if (alpha == 1.0F)
        return image;
    Table table;
    for (int i = 0; i < 256; ++i)
        table[std::size_t(i)] = blend(value, i, alpha);
    return mapped(image, table, scratch);
}

int meanLuma(const PixelView &image)
{
    std::uint64_t sum = 0;
    for (int y = 0; y < image.height; ++y) {
        const std::uint8_t *in = image.row(y);
        std::uint32_t rowSum = 0;
        for (int x = 0; x < image.width; ++x, in += image.channels)
            rowSum += image.channels == 1 ? in[0] : luma(in);
        sum += rowSum;
    }
    return int(double(sum) / (double(image.width) * double(image.height)) + 0.5);
}

std::array<Histogram, 3> histograms(const PixelView &image)
{
    std::array<Histogram, 3> counts{};
    for (int y = 0; y < image.height; ++y) {
        const std::uint8_t *in = image.row(y);
        for (int x = 0; x < image.width; ++x, in += image.channels)
            for (std::size_t c = 0; c < std::size_t(image.channels); ++c)
                ++counts[c][in[c]];
    }
    return counts;
}

Table identity()
{
    Table table;
    for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = std::uint8_t(i);
    return table;
}

Table stretching(const Histogram &counts)
{
    const auto isUsed = [](std::uint32_t count) { return count > 0; };
    const auto low = int(std::find_if(counts.begin(), counts.end(), isUsed) - counts.begin());
    const auto high = 255 - int(std::find_if(counts.rbegin(), counts.rend(), isUsed) - counts.rbegin());
    if (high <= low)
        return identity();
    const double scale = 255.0 / (high - low);
    const double offset = -low * scale;
    Table table;
    for (int i = 0; i < 256; ++i)
        table[std::size_t(i)] = std::uint8_t(std::clamp(int(i * scale + offset), 0, 255));
    return table;
}

Table equalizing(const Histogram &counts)
{
    std::uint64_t total = 0, last = 0;
    int used = 0;
    for (const std::uint32_t count : counts) {
        total += count;
        last = count > 0 ? count : last;
        used += count > 0 ? 1 : 0;
    }
    const std::uint64_t step = used <= 1 ? 0 : (total - last) / 255;
    if (step == 0)
        return identity();
    Table table;
    std::uint64_t below = step / 2;
    for (std::size_t i = 0; i < table.size(); ++i) {
        table[i] = std::uint8_t(std::min<std::uint64_t>(below / step, 255));
        below += counts[i];
    }
    return table;
}

PixelView mappedByHistogram(const PixelView &image, Table (*make)(const Histogram &), TransformScratch &scratch)
{
    const std::array<Histogram, 3> counts = histograms(image);
    Tables tables;
    for (std::size_t c = 0; c < std::size_t(image.channels); ++c)
        tables[c] = make(counts[c]);
    return mapped(image, tables, scratch);
}

// One inner row of Pillow's SMOOTH (1 1 1, 1 5 1, 1 1 1 by 13): float32, the lower row first.
void smoothRow(const std::uint8_t *above, const std::uint8_t *row, const std::uint8_t *below, std::size_t pixel,
               std::size_t length, std::uint8_t *out)
{
    constexpr float Side = 1.0F / 13.0F, Middle = 5.0F / 13.0F;
    std::memcpy(out, row, pixel);
    for (std::size_t i = pixel; i < length - pixel; ++i) {
        float sum = 0.5F;
        sum += float(below[i - pixel]) * Side + float(below[i]) * Side + float(below[i + pixel]) * Side;
        sum += float(row[i - pixel]) * Side + float(row[i]) * Middle + float(row[i + pixel]) * Side;
        sum += float(above[i - pixel]) * Side + float(above[i]) * Side + float(above[i + pixel]) * Side;
        out[i] = std::uint8_t(int(std::min(sum, 255.0F)));
    }
    std::memcpy(out + length - pixel, row + length - pixel, pixel);
}

} // namespace

PixelView adjustBrightness(const PixelView &image, double factor, TransformScratch &scratch)
{
    return blendedWithValue(image, 0, factor, scratch);
}

PixelView adjustContrast(const PixelView &image, double factor, TransformScratch &scratch)
{
    return blendedWithValue(image, meanLuma(image), factor, scratch);
}

PixelView adjustSaturation(const PixelView &image, double factor, TransformScratch &scratch)
{
    const auto alpha = float(factor);
    if (image.channels == 1 || alpha == 1.0F)
        return image;
    const Stage out = stageLike(image, scratch);
    scratch.rows.resize(image.rowBytes());
    for (int y = 0; y < image.height; ++y) {
        const std::uint8_t *in = image.row(y);
        std::uint8_t *gray = scratch.rows.data();
        for (int x = 0; x < image.width; ++x)
            gray[3 * x] = gray[3 * x + 1] = gray[3 * x + 2] = luma(in + 3 * x);
        blendRow(gray, in, alpha, image.rowBytes(), out.row(y));
    }
    return out.view;
}

PixelView adjustSharpness(const PixelView &image, double factor, TransformScratch &scratch)
{
    const auto alpha = float(factor);
    if (image.width < 3 || image.height < 3 || alpha == 1.0F)
        return image;
    const Stage out = stageLike(image, scratch);
    const std::size_t length = image.rowBytes();
    scratch.rows.resize(length);
    std::memcpy(out.row(0), image.row(0), length);
    for (int y = 1; y < image.height - 1; ++y) {
        smoothRow(image.row(y - 1), image.row(y), image.row(y + 1), std::size_t(image.channels), length,
                  scratch.rows.data());
        blendRow(scratch.rows.data(), image.row(y), alpha, length, out.row(y));
    }
    std::memcpy(out.row(image.height - 1), image.row(image.height - 1), length);
    return out.view;
}

PixelView posterize(const PixelView &image, int bits, TransformScratch &scratch)
{
    if (bits >= 8)
        return image;
    Table table;
    for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = std::uint8_t(i & (0xff00U >> bits));
    return mapped(image, table, scratch);
}

PixelView solarize(const PixelView &image, double threshold, TransformScratch &scratch)
{
    Table table;
    for (int i = 0; i < 256; ++i)
        table[std::size_t(i)] = std::uint8_t(i < threshold ? i : 255 - i);
    return mapped(image, table, scratch);
}

PixelView autoContrast(const PixelView &image, TransformScratch &scratch)
{
    return mappedByHistogram(image, stretching, scratch);
}

PixelView equalize(const PixelView &image, TransformScratch &scratch)
{
    return mappedByHistogram(image, equalizing, scratch);
}

PixelView grayscale(const PixelView &image, TransformScratch &scratch)
{
    if (image.channels == 1)
        return image;
    const Stage out = stageLike(image, scratch);
    for (int y = 0; y < image.height; ++y) {
        const std::uint8_t *in = image.row(y);
        std::uint8_t *to = out.row(y);
        for (int x = 0; x < image.width; ++x, in += 3, to += 3)
            to[0] = to[1] = to[2] = luma(in);
    }
    return out.view;
}

} // namespace tw

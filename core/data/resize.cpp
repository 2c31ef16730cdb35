// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/resize.h"

#include "core/data/resizekernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tw {

namespace {

double triangle(double distance)
{
    return distance < 1.0 ? 1.0 - distance : 0.0;
}

// Keys' cubic convolution, a = −½.
double cubic(double x)
{
    constexpr double A = -0.5;
    if (x < 1.0)
        return ((A + 2.0) * x - (A + 3.0)) * x * x + 1;
    return x < 2.0 ? (((x - 5) * x + 8) * x - 4) * A : 0.0;
}

// Pillow's arithmetic, step by step: a filter that widens with the scale.
struct Filter
{
    Filter(int inSize, int outSize, Interpolation chosen)
        : scale(double(inSize) / outSize), support((chosen == Interpolation::Bicubic ? 2.0 : 1.0) * widened()),
          inverse(1.0 / widened()), size(inSize), interpolation(chosen)
    {
    }
    double widened() const { return std::max(scale, 1.0); }
    double center(int position) const { return (position + 0.5) * scale; }
    int first(int position) const { return std::max(int(center(position) - support + 0.5), 0); }
    int end(int position) const { return std::min(int(center(position) + support + 0.5), size); }
    double weight(double distance) const
    {
        return interpolation == Interpolation::Bicubic ? cubic(distance) : triangle(distance);
    }

    double scale, support, inverse;
    int size;
    Interpolation interpolation;
};

int halves(int low, int high)
{
    return int((unsigned(high) << 16) | (unsigned(low) & 0xFFFFU));
}

// The coefficients two and two, as Taps::pairs says.
void makePairs(const int *coefficients, int count, int *pairs)
{
    constexpr int LowerMask = (1 << PartBits) - 1;
    for (int k = 0; k < count; k += 2, pairs += 2) {
        const int first = coefficients[k], second = k + 1 < count ? coefficients[k + 1] : 0;
        pairs[0] = halves(first & LowerMask, second & LowerMask);
        pairs[1] = halves(first >> PartBits, second >> PartBits);
    }
}

// For `count` output positions from `from` on.
Taps makeTaps(const Filter &filter, int from, int count, TransformScratch &scratch)
{
    const int stride = int(std::ceil(filter.support)) * 2 + 1;
    scratch.bounds.resize(std::size_t(count) * 2);
    scratch.coefficients.assign(std::size_t(count) * std::size_t(stride), 0);
    scratch.coefficientPairs.resize(std::size_t(count) * std::size_t(stride + 1));
    scratch.weights.resize(std::size_t(stride));
    for (int i = 0; i < count; ++i) {
        const double center = filter.center(from + i);
        const int first = filter.first(from + i);
        const int taps = filter.end(from + i) - first;
        double sum = 0;
        for (int k = 0; k < taps; ++k) {
            scratch.weights[std::size_t(k)] = filter.weight(std::abs((k + first - center + 0.5) * filter.inverse));
            sum += scratch.weights[std::size_t(k)];
        }
        int *coefficients = scratch.coefficients.data() + std::size_t(i) * std::size_t(stride);
        for (int k = 0; k < taps; ++k) {
            const double weight = sum != 0.0 ? scratch.weights[std::size_t(k)] / sum : scratch.weights[std::size_t(k)];
            coefficients[k] = int((weight < 0 ? -0.5 : 0.5) + weight * (1 << PrecisionBits));
        }
        scratch.bounds[std::size_t(i) * 2] = first;
        scratch.bounds[std::size_t(i) * 2 + 1] = taps;
        makePairs(coefficients, taps, scratch.coefficientPairs.data() + std::size_t(i) * std::size_t(stride + 1));
    }
    return {scratch.bounds.data(), scratch.coefficients.data(), scratch.coefficientPairs.data(), stride};
}

// Columns [window.x, window.x + window.width) of all rows of `image`, which starts at column `origin`.
void horizontalPass(const PixelView &image, int origin, const Resample &resample, TransformScratch &scratch,
                    std::uint8_t *out)
{
    const int width = resample.window.width;
    const Filter filter(resample.from.width, resample.to.width, resample.interpolation);
    const Taps taps = makeTaps(filter, resample.window.x, width, scratch);
    const std::size_t inBytes = image.rowBytes();
    const std::size_t outBytes = std::size_t(width) * std::size_t(image.channels);
    scratch.columns.resize(inBytes * Lanes);
    scratch.transposed.resize(outBytes * Lanes);
    for (int y = 0; y < image.height; y += Lanes) {
        const auto rows = std::size_t(std::min(Lanes, image.height - y));
        transposeBytes(image.row(y), image.stride, rows, inBytes, scratch.columns.data(), Lanes);
        resizeKernels().columns(scratch.columns.data(), origin, taps, width, image.channels, scratch.transposed.data());
        transposeBytes(scratch.transposed.data(), Lanes, outBytes, rows, out + std::size_t(y) * outBytes, outBytes);
    }
}

// Rows [window.y, window.y + window.height) of `image`, which starts at row `origin`.
void verticalPass(const PixelView &image, int origin, const Resample &resample, TransformScratch &scratch,
                  std::uint8_t *out)
{
    const Filter filter(resample.from.height, resample.to.height, resample.interpolation);
    const Taps taps = makeTaps(filter, resample.window.y, resample.window.height, scratch);
    const std::size_t length = image.rowBytes();
    for (int y = 0; y < resample.window.height; ++y)
        resizeKernels().lines(image.row(taps.bounds[2 * y] - origin), image.stride, taps, y, length,
                              out + std::size_t(y) * length);
}

void copyRows(const PixelView &image, std::uint8_t *out)
{
    for (int y = 0; y < image.height; ++y)
        std::memcpy(out + std::size_t(y) * image.rowBytes(), image.row(y), image.rowBytes());
}

std::pair<int, int> sourceRange(int from, int to, int first, int count, Interpolation interpolation)
{
    if (from == to)
        return {first, count};
    const Filter filter(from, to, interpolation);
    const int begin = filter.first(first);
    return {begin, filter.end(first + count - 1) - begin};
}

} // namespace

PixelRegion sourceOf(const Resample &resample)
{
    const auto [x, width] = sourceRange(resample.from.width, resample.to.width, resample.window.x,
                                        resample.window.width, resample.interpolation);
    const auto [y, height] = sourceRange(resample.from.height, resample.to.height, resample.window.y,
                                         resample.window.height, resample.interpolation);
    return {x, y, width, height};
}

void resampleExact(const PixelView &source, const Resample &resample, TransformScratch &scratch, std::uint8_t *out)
{
    const PixelRegion held = sourceOf(resample);
    const bool sameWidth = resample.from.width == resample.to.width;
    const bool sameHeight = resample.from.height == resample.to.height;
    if (sameWidth && sameHeight)
        return copyRows(source, out);
    if (sameWidth)
        return verticalPass(source, held.y, resample, scratch, out);
    if (sameHeight)
        return horizontalPass(source, held.x, resample, scratch, out);
    PixelView narrow{nullptr, resample.window.width, source.height, source.channels,
                     std::size_t(resample.window.width) * std::size_t(source.channels)};
    scratch.rows.resize(narrow.stride * std::size_t(source.height));
    horizontalPass(source, held.x, resample, scratch, scratch.rows.data());
    narrow.data = scratch.rows.data();
    verticalPass(narrow, held.y, resample, scratch, out);
}

void resizeView(const PixelView &image, int width, int height, Interpolation interpolation, TransformScratch &scratch,
                std::uint8_t *out)
{
    resampleExact(image, {{image.width, image.height}, {width, height}, {0, 0, width, height}, interpolation}, scratch,
                  out);
}

ImageBuffer resizeExact(const ImageBuffer &image, int width, int height, Interpolation interpolation)
{
    return resizedCropExact(image, 0, 0, image.width, image.height, width, height, interpolation);
}

ImageBuffer resizedCropExact(const ImageBuffer &image, int x, int y, int w, int h, int width, int height,
                             Interpolation interpolation)
{
    ImageBuffer out{width, height, {}};
    out.pixels.resize(std::size_t(width) * std::size_t(height) * 3);
    TransformScratch scratch;
    resizeView(viewOf(image).region({x, y, w, h}), width, height, interpolation, scratch, out.pixels.data());
    return out;
}

} // namespace tw

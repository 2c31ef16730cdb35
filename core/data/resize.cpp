// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Integer sums are exact in any order, so every instruction set gives the same bits.
namespace tw {

namespace {

constexpr int PrecisionBits = 32 - 8 - 2;
constexpr int Lanes = 32; // rows that the horizontal pass treats at once
constexpr std::size_t BlockEdge = 16;

struct Taps
{
    const int *bounds;       // first source position and count, per output position
    const int *coefficients; // `stride` per output position
    int stride;
};

// Pillow's arithmetic, step by step: a triangle filter that widens with the scale.
struct Filter
{
    Filter(int inSize, int outSize)
        : scale(double(inSize) / outSize), support(std::max(scale, 1.0)), inverse(1.0 / support), size(inSize)
    {
    }
    double center(int position) const { return (position + 0.5) * scale; }
    int first(int position) const { return std::max(int(center(position) - support + 0.5), 0); }
    int end(int position) const { return std::min(int(center(position) + support + 0.5), size); }

    double scale, support, inverse;
    int size;
};

// For `count` output positions from `from` on.
Taps makeTaps(int inSize, int outSize, int from, int count, TransformScratch &scratch)
{
    const Filter filter(inSize, outSize);
    const int stride = int(std::ceil(filter.support)) * 2 + 1;
    scratch.bounds.resize(std::size_t(count) * 2);
    scratch.coefficients.assign(std::size_t(count) * std::size_t(stride), 0);
    scratch.weights.resize(std::size_t(stride));
    for (int i = 0; i < count; ++i) {
        const double center = filter.center(from + i);
        const int first = filter.first(from + i);
        const int taps = filter.end(from + i) - first;
        double sum = 0;
        for (int k = 0; k < taps; ++k) {
            const double distance = std::abs((k + first - center + 0.5) * filter.inverse);
            scratch.weights[std::size_t(k)] = distance < 1.0 ? 1.0 - distance : 0.0;
            sum += scratch.weights[std::size_t(k)];
        }
        int *coefficients = scratch.coefficients.data() + std::size_t(i) * std::size_t(stride);
        for (int k = 0; k < taps; ++k) {
            const double weight = sum != 0.0 ? scratch.weights[std::size_t(k)] / sum : scratch.weights[std::size_t(k)];
            coefficients[k] = int(0.5 + weight * (1 << PrecisionBits));
        }
        scratch.bounds[std::size_t(i) * 2] = first;
        scratch.bounds[std::size_t(i) * 2 + 1] = taps;
    }
    return {scratch.bounds.data(), scratch.coefficients.data(), stride};
}

inline std::uint8_t clip8(int sum)
{
    return std::uint8_t(std::clamp(sum >> PrecisionBits, 0, 255));
}

#define TW_INLINE inline __attribute__((always_inline))

// One output line of `length` bytes from `count` source lines that lie `stride` bytes apart.
TW_INLINE void blendLines(const std::uint8_t *in, std::size_t stride, const int *coefficients, int count,
                          std::size_t length, std::uint8_t *out)
{
    constexpr std::size_t Block = 64;
    std::size_t x = 0;
    for (; x + Block <= length; x += Block) {
        int sums[Block];
        for (std::size_t i = 0; i < Block; ++i)
            sums[i] = 1 << (PrecisionBits - 1);
        for (int k = 0; k < count; ++k) {
            const std::uint8_t *line = in + std::size_t(k) * stride + x;
            for (std::size_t i = 0; i < Block; ++i)
                sums[i] += line[i] * coefficients[k];
        }
        for (std::size_t i = 0; i < Block; ++i)
            out[x + i] = clip8(sums[i]);
    }
    for (; x < length; ++x) {
        int sum = 1 << (PrecisionBits - 1);
        for (int k = 0; k < count; ++k)
            sum += in[std::size_t(k) * stride + x] * coefficients[k];
        out[x] = clip8(sum);
    }
}

// All lanes at once: `in` and `out` hold, per byte of a row, the bytes of the rows. `in` starts at the
// pixel `origin` of the row.
TW_INLINE void blendColumns(const std::uint8_t *in, int origin, const Taps &taps, int outWidth, int channels,
                            std::uint8_t *out)
{
    const std::size_t pixel = std::size_t(channels) * Lanes;
    for (int x = 0; x < outWidth; ++x) {
        const std::uint8_t *source = in + std::size_t(taps.bounds[2 * x] - origin) * pixel;
        const int count = taps.bounds[2 * x + 1];
        const int *coefficients = taps.coefficients + std::size_t(x) * std::size_t(taps.stride);
        for (int c = 0; c < channels; ++c, out += Lanes) {
            int sums[Lanes];
            for (int i = 0; i < Lanes; ++i)
                sums[i] = 1 << (PrecisionBits - 1);
            const std::uint8_t *line = source + c * Lanes;
            for (int k = 0; k < count; ++k, line += pixel)
                for (int i = 0; i < Lanes; ++i)
                    sums[i] += line[i] * coefficients[k];
            for (int i = 0; i < Lanes; ++i)
                out[i] = clip8(sums[i]);
        }
    }
}

using BlendLines = void (*)(const std::uint8_t *, std::size_t, const int *, int, std::size_t, std::uint8_t *);
using BlendColumns = void (*)(const std::uint8_t *, int, const Taps &, int, int, std::uint8_t *);
struct Kernels
{
    BlendLines lines;
    BlendColumns columns;
};

#define TW_KERNELS(suffix, attribute)                                                                                  \
    attribute void blendLines##suffix(const std::uint8_t *in, std::size_t stride, const int *coefficients, int count,  \
                                      std::size_t length, std::uint8_t *out)                                           \
    {                                                                                                                  \
        blendLines(in, stride, coefficients, count, length, out);                                                      \
    }                                                                                                                  \
    attribute void blendColumns##suffix(const std::uint8_t *in, int origin, const Taps &taps, int outWidth,            \
                                        int channels, std::uint8_t *out)                                               \
    {                                                                                                                  \
        blendColumns(in, origin, taps, outWidth, channels, out);                                                       \
    }
TW_KERNELS(Plain, )
#if defined(__x86_64__)
TW_KERNELS(Avx2, __attribute__((target("avx2"))))
#endif

Kernels chooseKernels()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return {blendLinesAvx2, blendColumnsAvx2};
#endif
    return {blendLinesPlain, blendColumnsPlain};
}

const Kernels &kernels()
{
    static const Kernels chosen = chooseKernels();
    return chosen;
}

#if defined(__SSE2__)
// 16×16 bytes: four rounds of interleaving the first half of the rows with the second.
void transposeBlock(const std::uint8_t *in, std::size_t inStride, std::uint8_t *out, std::size_t outStride)
{
    __m128i rows[BlockEdge], next[BlockEdge];
    for (std::size_t i = 0; i < BlockEdge; ++i)
        rows[i] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i * inStride));
    for (int round = 0; round < 4; ++round) {
        for (std::size_t i = 0; i < BlockEdge / 2; ++i) {
            next[2 * i] = _mm_unpacklo_epi8(rows[i], rows[i + BlockEdge / 2]);
            next[2 * i + 1] = _mm_unpackhi_epi8(rows[i], rows[i + BlockEdge / 2]);
        }
        std::copy(next, next + BlockEdge, rows);
    }
    for (std::size_t i = 0; i < BlockEdge; ++i)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(out + i * outStride), rows[i]);
}
#endif

void transposeEdge(const std::uint8_t *in, std::size_t inStride, std::size_t rows, std::size_t columns,
                   std::uint8_t *out, std::size_t outStride)
{
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
            out[c * outStride + r] = in[r * inStride + c];
}

void transpose(const std::uint8_t *in, std::size_t inStride, std::size_t rows, std::size_t columns, std::uint8_t *out,
               std::size_t outStride)
{
    std::size_t r = 0;
#if defined(__SSE2__)
    for (; r + BlockEdge <= rows; r += BlockEdge) {
        std::size_t c = 0;
        for (; c + BlockEdge <= columns; c += BlockEdge)
            transposeBlock(in + r * inStride + c, inStride, out + c * outStride + r, outStride);
        transposeEdge(in + r * inStride + c, inStride, BlockEdge, columns - c, out + c * outStride + r, outStride);
    }
#endif
    transposeEdge(in + r * inStride, inStride, rows - r, columns, out + r, outStride);
}

// Columns [window.x, window.x + window.width) of all rows of `image`, which starts at column `origin`.
void horizontalPass(const PixelView &image, int origin, const Resample &resample, TransformScratch &scratch,
                    std::uint8_t *out)
{
    const int width = resample.window.width;
    const Taps taps = makeTaps(resample.from.width, resample.to.width, resample.window.x, width, scratch);
    const std::size_t inBytes = image.rowBytes();
    const std::size_t outBytes = std::size_t(width) * std::size_t(image.channels);
    scratch.columns.resize(inBytes * Lanes);
    scratch.transposed.resize(outBytes * Lanes);
    for (int y = 0; y < image.height; y += Lanes) {
        const auto rows = std::size_t(std::min(Lanes, image.height - y));
        transpose(image.row(y), image.stride, rows, inBytes, scratch.columns.data(), Lanes);
        kernels().columns(scratch.columns.data(), origin, taps, width, image.channels, scratch.transposed.data());
        transpose(scratch.transposed.data(), Lanes, outBytes, rows, out + std::size_t(y) * outBytes, outBytes);
    }
}

// Rows [window.y, window.y + window.height) of `image`, which starts at row `origin`.
void verticalPass(const PixelView &image, int origin, const Resample &resample, TransformScratch &scratch,
                  std::uint8_t *out)
{
    const Taps taps =
        makeTaps(resample.from.height, resample.to.height, resample.window.y, resample.window.height, scratch);
    const std::size_t length = image.rowBytes();
    for (int y = 0; y < resample.window.height; ++y)
        kernels().lines(image.row(taps.bounds[2 * y] - origin), image.stride,
                        taps.coefficients + std::size_t(y) * std::size_t(taps.stride), taps.bounds[2 * y + 1], length,
                        out + std::size_t(y) * length);
}

void copyRows(const PixelView &image, std::uint8_t *out)
{
    for (int y = 0; y < image.height; ++y)
        std::memcpy(out + std::size_t(y) * image.rowBytes(), image.row(y), image.rowBytes());
}

std::pair<int, int> sourceRange(int from, int to, int first, int count)
{
    if (from == to)
        return {first, count};
    const Filter filter(from, to);
    const int begin = filter.first(first);
    return {begin, filter.end(first + count - 1) - begin};
}

} // namespace

PixelRegion sourceOf(const Resample &resample)
{
    const auto [x, width] =
        sourceRange(resample.from.width, resample.to.width, resample.window.x, resample.window.width);
    const auto [y, height] =
        sourceRange(resample.from.height, resample.to.height, resample.window.y, resample.window.height);
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

void resizeView(const PixelView &image, int width, int height, TransformScratch &scratch, std::uint8_t *out)
{
    resampleExact(image, {{image.width, image.height}, {width, height}, {0, 0, width, height}}, scratch, out);
}

ImageBuffer resizeExact(const ImageBuffer &image, int width, int height)
{
    return resizedCropExact(image, 0, 0, image.width, image.height, width, height);
}

ImageBuffer resizedCropExact(const ImageBuffer &image, int x, int y, int w, int h, int width, int height)
{
    ImageBuffer out{width, height, {}};
    out.pixels.resize(std::size_t(width) * std::size_t(height) * 3);
    TransformScratch scratch;
    resizeView(viewOf(image).region({x, y, w, h}), width, height, scratch, out.pixels.data());
    return out;
}

} // namespace tw

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
constexpr int Lanes = 16; // rows that the horizontal pass treats at once

struct Taps
{
    const int *bounds;       // first source position and count, per output position
    const int *coefficients; // `stride` per output position
    int stride;
};

// Weights of a triangle filter that widens with the scale; Pillow's arithmetic, step by step.
Taps makeTaps(int inSize, int outSize, TransformScratch &scratch)
{
    const double scale = double(inSize) / outSize;
    const double filterScale = std::max(scale, 1.0);
    const int stride = int(std::ceil(filterScale)) * 2 + 1;
    const double inverse = 1.0 / filterScale;
    scratch.bounds.resize(std::size_t(outSize) * 2);
    scratch.coefficients.assign(std::size_t(outSize) * std::size_t(stride), 0);
    scratch.weights.resize(std::size_t(stride));
    for (int position = 0; position < outSize; ++position) {
        const double center = (position + 0.5) * scale;
        const int first = std::max(int(center - filterScale + 0.5), 0);
        const int count = std::min(int(center + filterScale + 0.5), inSize) - first;
        double sum = 0;
        for (int i = 0; i < count; ++i) {
            const double distance = std::abs((i + first - center + 0.5) * inverse);
            scratch.weights[std::size_t(i)] = distance < 1.0 ? 1.0 - distance : 0.0;
            sum += scratch.weights[std::size_t(i)];
        }
        int *coefficients = scratch.coefficients.data() + std::size_t(position) * std::size_t(stride);
        for (int i = 0; i < count; ++i) {
            const double weight = sum != 0.0 ? scratch.weights[std::size_t(i)] / sum : scratch.weights[std::size_t(i)];
            coefficients[i] = int(0.5 + weight * (1 << PrecisionBits));
        }
        scratch.bounds[std::size_t(position) * 2] = first;
        scratch.bounds[std::size_t(position) * 2 + 1] = count;
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

// Sixteen rows at once: `in` and `out` hold, per byte of a row, the bytes of the 16 rows.
TW_INLINE void blendColumns(const std::uint8_t *in, const Taps &taps, int outWidth, int channels, std::uint8_t *out)
{
    const std::size_t pixel = std::size_t(channels) * Lanes;
    for (int x = 0; x < outWidth; ++x) {
        const std::uint8_t *source = in + std::size_t(taps.bounds[2 * x]) * pixel;
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
using BlendColumns = void (*)(const std::uint8_t *, const Taps &, int, int, std::uint8_t *);
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
    attribute void blendColumns##suffix(const std::uint8_t *in, const Taps &taps, int outWidth, int channels,          \
                                        std::uint8_t *out)                                                             \
    {                                                                                                                  \
        blendColumns(in, taps, outWidth, channels, out);                                                               \
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
    __m128i rows[Lanes], next[Lanes];
    for (std::size_t i = 0; i < Lanes; ++i)
        rows[i] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i * inStride));
    for (int round = 0; round < 4; ++round) {
        for (std::size_t i = 0; i < Lanes / 2; ++i) {
            next[2 * i] = _mm_unpacklo_epi8(rows[i], rows[i + Lanes / 2]);
            next[2 * i + 1] = _mm_unpackhi_epi8(rows[i], rows[i + Lanes / 2]);
        }
        std::copy(next, next + Lanes, rows);
    }
    for (std::size_t i = 0; i < Lanes; ++i)
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
    for (; r + Lanes <= rows; r += Lanes) {
        std::size_t c = 0;
        for (; c + Lanes <= columns; c += Lanes)
            transposeBlock(in + r * inStride + c, inStride, out + c * outStride + r, outStride);
        transposeEdge(in + r * inStride + c, inStride, Lanes, columns - c, out + c * outStride + r, outStride);
    }
#endif
    transposeEdge(in + r * inStride, inStride, rows - r, columns, out + r, outStride);
}

void horizontalPass(const PixelView &image, int width, TransformScratch &scratch, std::uint8_t *out)
{
    const Taps taps = makeTaps(image.width, width, scratch);
    const std::size_t inBytes = image.rowBytes();
    const std::size_t outBytes = std::size_t(width) * std::size_t(image.channels);
    scratch.columns.resize(inBytes * Lanes);
    scratch.transposed.resize(outBytes * Lanes);
    for (int y = 0; y < image.height; y += Lanes) {
        const auto rows = std::size_t(std::min(Lanes, image.height - y));
        transpose(image.row(y), image.stride, rows, inBytes, scratch.columns.data(), Lanes);
        kernels().columns(scratch.columns.data(), taps, width, image.channels, scratch.transposed.data());
        transpose(scratch.transposed.data(), Lanes, outBytes, rows, out + std::size_t(y) * outBytes, outBytes);
    }
}

void verticalPass(const PixelView &image, int height, TransformScratch &scratch, std::uint8_t *out)
{
    const Taps taps = makeTaps(image.height, height, scratch);
    const std::size_t length = image.rowBytes();
    for (int y = 0; y < height; ++y)
        kernels().lines(image.row(taps.bounds[2 * y]), image.stride,
                        taps.coefficients + std::size_t(y) * std::size_t(taps.stride), taps.bounds[2 * y + 1], length,
                        out + std::size_t(y) * length);
}

void copyRows(const PixelView &image, std::uint8_t *out)
{
    for (int y = 0; y < image.height; ++y)
        std::memcpy(out + std::size_t(y) * image.rowBytes(), image.row(y), image.rowBytes());
}

} // namespace

void resizeView(const PixelView &image, int width, int height, TransformScratch &scratch, std::uint8_t *out)
{
    if (width == image.width && height == image.height)
        return copyRows(image, out);
    if (width == image.width)
        return verticalPass(image, height, scratch, out);
    if (height == image.height)
        return horizontalPass(image, width, scratch, out);
    PixelView narrow{nullptr, width, image.height, image.channels, std::size_t(width) * std::size_t(image.channels)};
    scratch.rows.resize(narrow.stride * std::size_t(image.height));
    horizontalPass(image, width, scratch, scratch.rows.data());
    narrow.data = scratch.rows.data();
    verticalPass(narrow, height, scratch, out);
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
    const PixelView region{image.row(y) + std::size_t(x) * 3, w, h, 3, std::size_t(image.width) * 3};
    resizeView(region, width, height, scratch, out.pixels.data());
    return out;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/resizekernels.h"

#include <algorithm>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tw {

namespace {

constexpr std::size_t BlockEdge = 16;

inline std::uint8_t clip8(int sum)
{
    return std::uint8_t(std::clamp(sum >> PrecisionBits, 0, 255));
}

const int *coefficientsOf(const Taps &taps, int position)
{
    return taps.coefficients + std::size_t(position) * std::size_t(taps.stride);
}

void blendBytes(const std::uint8_t *in, std::size_t stride, const int *coefficients, int count, std::size_t length,
                std::uint8_t *out)
{
    for (std::size_t x = 0; x < length; ++x) {
        int sum = 1 << (PrecisionBits - 1);
        for (int k = 0; k < count; ++k)
            sum += in[std::size_t(k) * stride + x] * coefficients[k];
        out[x] = clip8(sum);
    }
}

void blendLinesPlain(const std::uint8_t *in, std::size_t stride, const Taps &taps, int y, std::size_t length,
                     std::uint8_t *out)
{
    constexpr std::size_t Block = 64;
    const int *coefficients = coefficientsOf(taps, y);
    const int count = taps.bounds[2 * y + 1];
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
    blendBytes(in + x, stride, coefficients, count, length - x, out + x);
}

void blendColumnsPlain(const std::uint8_t *in, int origin, const Taps &taps, int outWidth, int channels,
                       std::uint8_t *out)
{
    const std::size_t pixel = std::size_t(channels) * Lanes;
    for (int x = 0; x < outWidth; ++x) {
        const std::uint8_t *source = in + std::size_t(taps.bounds[2 * x] - origin) * pixel;
        const int count = taps.bounds[2 * x + 1];
        const int *coefficients = coefficientsOf(taps, x);
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

#if defined(__x86_64__)
#define TW_AVX2 __attribute__((target("avx2")))
#define TW_AVX2_INLINE inline __attribute__((target("avx2"), always_inline))

constexpr std::size_t Wide = 32; // bytes of a register

// Sums over the lower and the upper parts of the coefficients: products of 16 bits, two taps at once. The
// four quarters of the bytes are in the order in which unpacking gives and packing takes them. A sum
// that overflows is right again once the parts are put together.
struct WideSums
{
    __m256i lower[4], upper[4];
};

TW_AVX2_INLINE void clearSums(WideSums &sums)
{
    for (int i = 0; i < 4; ++i) {
        sums.lower[i] = _mm256_set1_epi32(1 << (PrecisionBits - 1));
        sums.upper[i] = _mm256_setzero_si256();
    }
}

TW_AVX2_INLINE void addTwo(WideSums &sums, const std::uint8_t *first, const std::uint8_t *second, const int *pair)
{
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(first));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(second));
    const __m256i zero = _mm256_setzero_si256();
    const __m256i lower = _mm256_set1_epi32(pair[0]), upper = _mm256_set1_epi32(pair[1]);
    const __m256i low = _mm256_unpacklo_epi8(a, b), high = _mm256_unpackhi_epi8(a, b);
    const __m256i quarters[4] = {_mm256_unpacklo_epi8(low, zero), _mm256_unpackhi_epi8(low, zero),
                                 _mm256_unpacklo_epi8(high, zero), _mm256_unpackhi_epi8(high, zero)};
    for (int i = 0; i < 4; ++i) {
        sums.lower[i] = _mm256_add_epi32(sums.lower[i], _mm256_madd_epi16(quarters[i], lower));
        sums.upper[i] = _mm256_add_epi32(sums.upper[i], _mm256_madd_epi16(quarters[i], upper));
    }
}

TW_AVX2_INLINE void writeClipped(const WideSums &sums, std::uint8_t *out)
{
    __m256i quarters[4];
    for (int i = 0; i < 4; ++i)
        quarters[i] = _mm256_srai_epi32(_mm256_add_epi32(sums.lower[i], _mm256_slli_epi32(sums.upper[i], PartBits)),
                                        PrecisionBits);
    const __m256i all =
        _mm256_packus_epi16(_mm256_packs_epi32(quarters[0], quarters[1]), _mm256_packs_epi32(quarters[2], quarters[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out), all);
}

// 32 bytes of a line from `count` pieces that lie `stride` bytes apart.
TW_AVX2_INLINE void blendWide(const std::uint8_t *in, std::size_t stride, const int *pairs, int count,
                              std::uint8_t *out)
{
    WideSums sums;
    clearSums(sums);
    int k = 0;
    for (; k + 1 < count; k += 2, in += 2 * stride, pairs += 2)
        addTwo(sums, in, in + stride, pairs);
    if (k < count)
        addTwo(sums, in, in, pairs); // the second coefficient is 0
    writeClipped(sums, out);
}

const int *pairsOf(const Taps &taps, int position)
{
    return taps.pairs + std::size_t(position) * std::size_t(taps.stride + 1);
}

TW_AVX2 void blendLinesAvx2(const std::uint8_t *in, std::size_t stride, const Taps &taps, int y, std::size_t length,
                            std::uint8_t *out)
{
    const int count = taps.bounds[2 * y + 1];
    const int *pairs = pairsOf(taps, y);
    if (length < Wide)
        return blendBytes(in, stride, coefficientsOf(taps, y), count, length, out);
    std::size_t x = 0;
    for (; x + Wide <= length; x += Wide)
        blendWide(in + x, stride, pairs, count, out + x);
    if (x < length) // some bytes once more
        blendWide(in + length - Wide, stride, pairs, count, out + length - Wide);
}

TW_AVX2 void blendColumnsAvx2(const std::uint8_t *in, int origin, const Taps &taps, int outWidth, int channels,
                              std::uint8_t *out)
{
    static_assert(Lanes == Wide);
    const std::size_t pixel = std::size_t(channels) * Lanes;
    for (int x = 0; x < outWidth; ++x) {
        const std::uint8_t *source = in + std::size_t(taps.bounds[2 * x] - origin) * pixel;
        for (int c = 0; c < channels; ++c, out += Lanes)
            blendWide(source + c * Lanes, pixel, pairsOf(taps, x), taps.bounds[2 * x + 1], out);
    }
}
#endif

ResizeKernels chooseKernels()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return {blendLinesAvx2, blendColumnsAvx2};
#endif
    return plainResizeKernels();
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

} // namespace

const ResizeKernels &plainResizeKernels()
{
    static const ResizeKernels plain{blendLinesPlain, blendColumnsPlain};
    return plain;
}

const ResizeKernels &resizeKernels()
{
    static const ResizeKernels chosen = chooseKernels();
    return chosen;
}

void transposeBytes(const std::uint8_t *in, std::size_t inStride, std::size_t rows, std::size_t columns,
                    std::uint8_t *out, std::size_t outStride)
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

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/resamplefast.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tw {

namespace {

#define TW_INLINE inline __attribute__((always_inline))

struct FloatTaps
{
    const int *bounds; // first source position and count, per output position
    const float *weights;
    int stride;
};

// For `count` output positions from `from` on, of `to` that `length` source pixels from `start` on
// become; the source ends at the pixels that it touches.
FloatTaps makeTaps(double start, double length, int limit, int to, int from, int count, std::vector<int> &bounds,
                   std::vector<float> &weights)
{
    const double scale = length / to;
    const double support = std::max(scale, 1.0);
    const int stride = int(std::ceil(support)) * 2 + 1;
    const int first = std::max(int(std::floor(start)), 0), end = std::min(int(std::ceil(start + length)), limit);
    bounds.resize(std::size_t(count) * 2);
    weights.assign(std::size_t(count) * std::size_t(stride), 0.0F);
    for (int i = 0; i < count; ++i) {
        const double center = start + (from + i + 0.5) * scale;
        const int low = std::clamp(int(center - support + 0.5), first, end - 1);
        const int taps = std::clamp(int(center + support + 0.5), low + 1, end) - low;
        float *out = weights.data() + std::size_t(i) * std::size_t(stride);
        double sum = 0;
        for (int k = 0; k < taps; ++k)
            sum += std::max(0.0, 1.0 - std::abs((k + low - center + 0.5) / support));
        for (int k = 0; k < taps; ++k) {
            const double weight = std::max(0.0, 1.0 - std::abs((k + low - center + 0.5) / support));
            out[k] = sum > 0 ? float(weight / sum) : 1.0F / float(taps);
        }
        bounds[std::size_t(i) * 2] = low;
        bounds[std::size_t(i) * 2 + 1] = taps;
    }
    return {bounds.data(), weights.data(), stride};
}

// One line of `length` values from `count` lines that lie `stride` bytes apart.
TW_INLINE void blendLines(const std::uint8_t *in, std::size_t stride, const float *weights, int count,
                          std::size_t length, float *out)
{
    constexpr std::size_t Block = 32;
    std::size_t x = 0;
    for (; x + Block <= length; x += Block) {
        float sums[Block] = {};
        for (int k = 0; k < count; ++k) {
            const std::uint8_t *line = in + std::size_t(k) * stride + x;
            for (std::size_t i = 0; i < Block; ++i)
                sums[i] += float(line[i]) * weights[k];
        }
        std::memcpy(out + x, sums, sizeof sums);
    }
    for (; x < length; ++x) {
        float sum = 0;
        for (int k = 0; k < count; ++k)
            sum += float(in[std::size_t(k) * stride + x]) * weights[k];
        out[x] = sum;
    }
}

// Four floats at once, of which three are a pixel: `in` and `out` have one value to spare.
typedef float Four __attribute__((vector_size(16)));

TW_INLINE void blendPixels(const float *in, const FloatTaps &taps, int origin, int count, float *out)
{
    for (int x = 0; x < count; ++x, out += 3) {
        const float *source = in + std::size_t(taps.bounds[2 * x] - origin) * 3;
        const float *weights = taps.weights + std::size_t(x) * std::size_t(taps.stride);
        Four sum = {0, 0, 0, 0};
        for (int k = 0; k < taps.bounds[2 * x + 1]; ++k, source += 3) {
            Four pixel;
            std::memcpy(&pixel, source, sizeof pixel);
            sum += pixel * weights[k];
        }
        std::memcpy(out, &sum, sizeof sum);
    }
}

using BlendLines = void (*)(const std::uint8_t *, std::size_t, const float *, int, std::size_t, float *);
using BlendPixels = void (*)(const float *, const FloatTaps &, int, int, float *);
struct Kernels
{
    BlendLines lines;
    BlendPixels pixels;
};

#define TW_KERNELS(suffix, attribute)                                                                                  \
    attribute void blendLines##suffix(const std::uint8_t *in, std::size_t stride, const float *weights, int count,     \
                                      std::size_t length, float *out)                                                  \
    {                                                                                                                  \
        blendLines(in, stride, weights, count, length, out);                                                           \
    }                                                                                                                  \
    attribute void blendPixels##suffix(const float *in, const FloatTaps &taps, int origin, int count, float *out)      \
    {                                                                                                                  \
        blendPixels(in, taps, origin, count, out);                                                                     \
    }
TW_KERNELS(Plain, )
#if defined(__x86_64__)
TW_KERNELS(Avx2, __attribute__((target("avx2"))))
#endif

Kernels chooseKernels()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return {blendLinesAvx2, blendPixelsAvx2};
#endif
    return {blendLinesPlain, blendPixelsPlain};
}

const Kernels &kernels()
{
    static const Kernels chosen = chooseKernels();
    return chosen;
}

} // namespace

FastResample fastResample(const PixelPlan &plan, int reduce)
{
    const PixelRegion needed = plan.neededRegion();
    const double scale = 1.0 / reduce;
    FastResample out;
    out.x = plan.source.x * scale - needed.x / reduce;
    out.y = plan.source.y * scale - needed.y / reduce;
    out.width = plan.source.width * scale;
    out.height = plan.source.height * scale;
    out.to = plan.resample.to;
    out.window = plan.resample.window;
    return out;
}

void resampleFast(const PixelView &decoded, const FastResample &resample, TransformScratch &scratch, FastRowSink sink,
                  void *context)
{
    const PixelRegion &window = resample.window;
    FastScratch &own = scratch.fast;
    const FloatTaps columns = makeTaps(resample.x, resample.width, decoded.width, resample.to.width, window.x,
                                       window.width, own.columnBounds, own.columnWeights);
    const FloatTaps rows = makeTaps(resample.y, resample.height, decoded.height, resample.to.height, window.y,
                                    window.height, own.rowBounds, own.rowWeights);
    own.line.resize(decoded.rowBytes() + 1);
    own.result.resize(std::size_t(window.width) * 3 + 1);
    for (int y = 0; y < window.height; ++y) {
        kernels().lines(decoded.row(rows.bounds[2 * y]), decoded.stride,
                        rows.weights + std::size_t(y) * std::size_t(rows.stride), rows.bounds[2 * y + 1],
                        decoded.rowBytes(), own.line.data());
        kernels().pixels(own.line.data(), columns, 0, window.width, own.result.data());
        sink(context, y, own.result.data());
    }
}

} // namespace tw

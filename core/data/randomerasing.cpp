// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/randomerasing.h"

#include <algorithm>
#include <cmath>

namespace tw {

namespace {

std::optional<EraseRegion> drawRegion(const TransformOp &op, int width, int height, SampleRandom &random)
{
    constexpr int Tries = 10;
    const double area = double(width) * height;
    for (int attempt = 0; attempt < Tries; ++attempt) {
        const double target = area * random.uniform(op.scaleLow, op.scaleHigh);
        const double aspect = std::exp(random.uniform(std::log(op.ratioLow), std::log(op.ratioHigh)));
        const double rows = std::nearbyint(std::sqrt(target * aspect));
        const double columns = std::nearbyint(std::sqrt(target / aspect));
        if (!(rows < height && columns < width))
            continue;
        EraseRegion region{0, 0, int(columns), int(rows)};
        region.y = int(random.below(std::uint32_t(height - region.height + 1)));
        region.x = int(random.below(std::uint32_t(width - region.width + 1)));
        return region;
    }
    return std::nullopt;
}

} // namespace

std::optional<EraseRegion> drawErasing(const TransformList &list, int width, int height, SampleRandom &random)
{
    if (list.empty() || list.back().kind != TransformOp::Kind::RandomErasing)
        return std::nullopt;
    if (!(random.uniform() < list.back().p))
        return std::nullopt;
    return drawRegion(list.back(), width, height, random);
}

void eraseRegion(const EraseRegion &region, int width, int height, int channels, MemoryOrder order, float *pixels)
{
    const bool first = order == MemoryOrder::ChannelsFirst;
    const std::size_t planes = first ? std::size_t(channels) : 1;
    const std::size_t step = first ? 1 : std::size_t(channels);
    for (std::size_t plane = 0; plane < planes; ++plane)
        for (int y = 0; y < region.height; ++y) {
            const std::size_t row = plane * std::size_t(height) + std::size_t(region.y + y);
            float *begin = pixels + (row * std::size_t(width) + std::size_t(region.x)) * step;
            std::fill_n(begin, std::size_t(region.width) * step, 0.0F);
        }
}

} // namespace tw

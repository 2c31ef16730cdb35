// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/decimate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tw {

namespace {
constexpr size_t blockSize = 64;
constexpr double largestDrawable = 1e200; // plot ranges overflow beyond
constexpr double lineBreak = std::numeric_limits<double>::quiet_NaN();

/// First position in [begin, end) whose abscissa is not below (or, with `after`, above) `value`.
size_t boundary(const AxisValues &x, size_t begin, size_t end, double value, bool after)
{
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        const bool before = after ? x[middle] <= value : x[middle] < value;
        if (before)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

class CurveBuilder
{
public:
    CurveBuilder(const AxisValues &x, std::span<const double> y, const DrawWindow &window)
        : m_x(x), m_y(y), m_window(window)
    {
    }

    void sample(size_t i)
    {
        double x = m_x[i];
        if (!m_curve.x.empty())
            x = std::max(x, m_curve.x.back());
        m_curve.x.push_back(x);
        m_curve.y.push_back(m_y[i]);
        if (m_x[i] >= m_window.low && m_x[i] <= m_window.high) {
            m_curve.lowest = std::min(m_curve.lowest, m_y[i]);
            m_curve.highest = std::max(m_curve.highest, m_y[i]);
        }
    }

    void gap(size_t i)
    {
        if (m_curve.y.empty() || std::isnan(m_curve.y.back()))
            return;
        m_curve.x.push_back(std::max(m_x[i], m_curve.x.back()));
        m_curve.y.push_back(lineBreak);
    }

    void mark(size_t i) { m_curve.notFinite.push_back(m_x[i]); }

    DrawnCurve take()
    {
        const std::vector<double> &y = m_curve.y;
        for (size_t i = 0; i < y.size(); ++i) {
            const bool leftOpen = i == 0 || std::isnan(y[i - 1]);
            const bool rightOpen = i + 1 == y.size() || std::isnan(y[i + 1]);
            if (!std::isnan(y[i]) && leftOpen && rightOpen)
                m_curve.singles.push_back(i);
        }
        return std::move(m_curve);
    }

private:
    const AxisValues &m_x;
    std::span<const double> m_y;
    const DrawWindow &m_window;
    DrawnCurve m_curve;
};

void drawEverySample(std::span<const double> y, const ExtremesIndex &index, size_t begin, size_t end,
                     CurveBuilder &builder)
{
    for (size_t i = begin; i < end; ++i) {
        if (isDrawable(y[i], index.positiveOnly())) {
            builder.sample(i);
            continue;
        }
        builder.gap(i);
        if (!isDrawable(y[i], false))
            builder.mark(i);
    }
}

void drawColumn(std::span<const double> y, const ExtremesIndex &index, size_t begin, size_t end, CurveBuilder &builder)
{
    const Extremes found = index.find(y, begin, end);
    if (!isDrawable(y[begin], index.positiveOnly()))
        builder.gap(begin);
    if (found.first != Extremes::none) {
        std::array<size_t, 4> positions{found.first, found.lowest, found.highest, found.last};
        std::sort(positions.begin(), positions.end());
        const auto unique = std::unique(positions.begin(), positions.end());
        for (auto position = positions.begin(); position != unique; ++position)
            builder.sample(*position);
    }
    if (found.notFinite != Extremes::none)
        builder.mark(found.notFinite);
    if (!isDrawable(y[end - 1], index.positiveOnly()))
        builder.gap(end - 1);
}
} // namespace

bool isDrawable(double value, bool positiveOnly)
{
    return std::abs(value) <= largestDrawable && (!positiveOnly || value > 0); // false for NaN too
}

void ExtremesIndex::update(std::span<const double> values)
{
    truncate(values.size());
    while ((m_blocks.size() + 1) * blockSize <= values.size()) {
        const size_t begin = m_blocks.size() * blockSize;
        Extremes block;
        scan(values, begin, begin + blockSize, block);
        m_blocks.push_back(block);
    }
}

void ExtremesIndex::truncate(size_t position)
{
    m_blocks.resize(std::min(m_blocks.size(), position / blockSize));
}

void ExtremesIndex::scan(std::span<const double> values, size_t begin, size_t end, Extremes &found) const
{
    for (size_t i = begin; i < end; ++i) {
        if (isDrawable(values[i], m_positiveOnly))
            merge(values, {i, i, i, i, Extremes::none}, found);
        else if (found.notFinite == Extremes::none && !isDrawable(values[i], false))
            found.notFinite = i;
    }
}

void ExtremesIndex::merge(std::span<const double> values, const Extremes &block, Extremes &found) const
{
    if (found.notFinite == Extremes::none)
        found.notFinite = block.notFinite;
    if (block.first == Extremes::none)
        return;
    if (found.first == Extremes::none) {
        const size_t notFinite = found.notFinite;
        found = block;
        found.notFinite = notFinite;
        return;
    }
    found.last = block.last;
    if (values[block.lowest] < values[found.lowest])
        found.lowest = block.lowest;
    if (values[block.highest] > values[found.highest])
        found.highest = block.highest;
}

Extremes ExtremesIndex::find(std::span<const double> values, size_t begin, size_t end) const
{
    Extremes found;
    size_t i = begin;
    const size_t firstBlock = (begin + blockSize - 1) / blockSize;
    const size_t lastBlock = std::min(end / blockSize, m_blocks.size());
    if (firstBlock < lastBlock) {
        scan(values, i, firstBlock * blockSize, found);
        for (size_t block = firstBlock; block < lastBlock; ++block)
            merge(values, m_blocks[block], found);
        i = lastBlock * blockSize;
    }
    scan(values, i, end, found);
    return found;
}

DrawnCurve decimate(const AxisValues &x, std::span<const double> y, const ExtremesIndex &index,
                    const DrawWindow &window)
{
    CurveBuilder builder(x, y, window);
    const size_t inside = boundary(x, 0, y.size(), window.low, false);
    const size_t outside = boundary(x, inside, y.size(), window.high, true);
    const size_t begin = inside > 0 ? inside - 1 : 0;
    const size_t end = std::min(outside + 1, y.size());
    const size_t columns = size_t(std::max(window.columns, 1));
    if (end - begin <= 2 * columns) {
        drawEverySample(y, index, begin, end, builder);
        return builder.take();
    }
    drawEverySample(y, index, begin, inside, builder);
    const double width = (window.high - window.low) / double(columns);
    size_t i = inside;
    for (size_t column = 1; column <= columns && i < outside; ++column) {
        const double right = window.low + double(column) * width;
        const size_t next = column == columns ? outside : boundary(x, i, outside, right, false);
        if (next > i)
            drawColumn(y, index, i, next, builder);
        i = next;
    }
    drawEverySample(y, index, outside, end, builder);
    return builder.take();
}

size_t nearestSample(const AxisValues &x, size_t count, double value)
{
    const size_t right = boundary(x, 0, count, value, false);
    if (right == 0)
        return 0;
    if (right == count)
        return count - 1;
    return value - x[right - 1] <= x[right] - value ? right - 1 : right;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/geometry.h"
#include "core/data/stage.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tw {

namespace {

constexpr std::size_t Unknowns = 8;
// Wider than double, so that the coefficients are the nearest doubles: values between two levels are
// cut, not rounded.
using Real = long double;
using Equations = std::array<std::array<Real, Unknowns + 1>, Unknowns>;

// Elimination with the largest pivot; nothing where the equations have no single solution.
std::optional<Coefficients> solve(Equations rows)
{
    Real largestEntry = 0;
    for (const auto &row : rows)
        for (const Real entry : row)
            largestEntry = std::max(largestEntry, std::abs(entry));
    const Real smallestPivot = Real(1e-14) * largestEntry;
    for (std::size_t column = 0; column < Unknowns; ++column) {
        const auto largest =
            std::max_element(rows.begin() + std::ptrdiff_t(column), rows.end(), [column](const auto &a, const auto &b) {
                return std::abs(a[column]) < std::abs(b[column]);
            });
        std::swap(*largest, rows[column]);
        const Real pivot = rows[column][column];
        if (std::abs(pivot) <= smallestPivot)
            return std::nullopt;
        for (std::size_t row = 0; row < Unknowns; ++row) {
            if (row == column)
                continue;
            const Real factor = rows[row][column] / pivot;
            for (std::size_t i = column; i <= Unknowns; ++i)
                rows[row][i] -= factor * rows[column][i];
        }
    }
    Coefficients out;
    for (std::size_t i = 0; i < Unknowns; ++i)
        out[i] = double(rows[i][Unknowns] / rows[i][i]);
    return out;
}

// A load is quicker than a conversion.
struct Levels
{
    std::array<double, 256> values;
    constexpr Levels() : values()
    {
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = double(i);
    }
};
constexpr Levels levels;

inline double between(double from, double to, double share)
{
    return from + (to - from) * share;
}

inline double between(std::uint8_t from, std::uint8_t to, double share)
{
    return between(levels.values[from], levels.values[to], share);
}

// Pillow's BILINEAR at a place inside the picture; neighbours are clipped at the edges.
template <int Channels> void bilinear(const PixelView &image, double x, double y, std::uint8_t *out)
{
    x -= 0.5;
    y -= 0.5;
    const int left = x < 0.0 ? -1 : int(x), top = y < 0.0 ? -1 : int(y);
    const double shareX = x - left, shareY = y - top;
    const std::size_t first = std::size_t(std::max(left, 0)) * Channels;
    const std::size_t second = std::size_t(std::min(left + 1, image.width - 1)) * Channels;
    const std::uint8_t *upper = image.row(std::max(top, 0));
    const std::uint8_t *lower = image.row(std::min(top + 1, image.height - 1));
    for (std::size_t c = 0; c < Channels; ++c) {
        const double above = between(upper[first + c], upper[second + c], shareX);
        const double below = between(lower[first + c], lower[second + c], shareX);
        out[c] = std::uint8_t(int(between(above, below, shareY)));
    }
}

template <int Channels> void bilinearAll(const PixelView &image, const Coefficients &m, const Stage &out)
{
    for (int y = 0; y < image.height; ++y) {
        const double placeY = y + 0.5;
        std::uint8_t *to = out.row(y);
        std::memset(to, 0, out.view.stride);
        for (int x = 0; x < image.width; ++x, to += Channels) {
            const double placeX = x + 0.5;
            const double depth = m[6] * placeX + m[7] * placeY + 1;
            const double sourceX = (m[0] * placeX + m[1] * placeY + m[2]) / depth;
            const double sourceY = (m[3] * placeX + m[4] * placeY + m[5]) / depth;
            if (sourceX >= 0.0 && sourceX < image.width && sourceY >= 0.0 && sourceY < image.height)
                bilinear<Channels>(image, sourceX, sourceY, to);
        }
    }
}

} // namespace

std::optional<Coefficients> perspectiveCoefficients(const std::array<int, 8> &corners, int width, int height)
{
    const std::array<int, 8> original{0, 0, width - 1, 0, width - 1, height - 1, 0, height - 1};
    Equations rows{};
    for (std::size_t i = 0; i < 4; ++i) {
        const Real toX = corners[2 * i], toY = corners[2 * i + 1];
        const Real fromX = original[2 * i], fromY = original[2 * i + 1];
        rows[2 * i] = {toX, toY, 1, 0, 0, 0, -fromX * toX, -fromX * toY, fromX};
        rows[2 * i + 1] = {0, 0, 0, toX, toY, 1, -fromY * toX, -fromY * toY, fromY};
    }
    return solve(rows);
}

PixelView perspectiveBilinear(const PixelView &image, const Coefficients &mapping, TransformScratch &scratch)
{
    const Stage out = stageLike(image, scratch);
    if (image.channels == 1)
        bilinearAll<1>(image, mapping, out);
    else
        bilinearAll<3>(image, mapping, out);
    return out.view;
}

} // namespace tw

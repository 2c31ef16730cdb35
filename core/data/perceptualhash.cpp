// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/perceptualhash.h"

#include <cmath>
#include <numbers>

namespace tw {

namespace {

constexpr std::size_t Edge = 32, Frequencies = 12, Bits = 64;
constexpr double CosineScale = 4096, GrayScale = 256;
constexpr double LeastDeviation = 5;
constexpr int LeastStrong = 40;
// A cosine pattern of amplitude a sums to a·(Edge/2)² at its own place.
constexpr double StrongValue = 0.2 * GrayScale * (Edge / 2.0) * (Edge / 2.0) * CosineScale * CosineScale;

struct Place
{
    std::uint8_t u, v;
};

struct Tables
{
    // Whole numbers below 2^53 throughout: doubles hold them exactly and are quick to multiply.
    std::array<std::array<double, Edge>, Frequencies> cosines{};
    std::array<Place, 2 * Bits> places{};

    Tables()
    {
        for (std::size_t u = 0; u < Frequencies; ++u)
            for (std::size_t k = 0; k < Edge; ++k)
                cosines[u][k] =
                    std::round(CosineScale * std::cos(std::numbers::pi * double((2 * k + 1) * u) / double(2 * Edge)));
        std::size_t next = 0;
        for (std::size_t sum = 1; sum < 2 * Frequencies - 1 && next < places.size(); ++sum)
            for (std::size_t u = 0; u <= sum && next < places.size(); ++u)
                if (u < Frequencies && sum - u < Frequencies)
                    places[next++] = {std::uint8_t(u), std::uint8_t(sum - u)};
    }
};

const Tables &tables()
{
    static const Tables shared;
    return shared;
}

using Spectrum = std::array<std::array<double, Frequencies>, Frequencies>;

Spectrum transform(const std::array<std::int32_t, 1024> &cells, const Tables &tables)
{
    std::array<std::array<double, Edge>, Frequencies> columns{};
    for (std::size_t y = 0; y < Edge; ++y) {
        std::array<double, Edge> row;
        for (std::size_t x = 0; x < Edge; ++x)
            row[x] = double(cells[y * Edge + x]);
        for (std::size_t u = 0; u < Frequencies; ++u)
            for (std::size_t x = 0; x < Edge; ++x)
                columns[u][x] += tables.cosines[u][y] * row[x];
    }
    Spectrum out{};
    for (std::size_t u = 0; u < Frequencies; ++u)
        for (std::size_t v = 0; v < Frequencies; ++v) {
            double even = 0, odd = 0;
            for (std::size_t x = 0; x < Edge; x += 2) {
                even += columns[u][x] * tables.cosines[v][x];
                odd += columns[u][x + 1] * tables.cosines[v][x + 1];
            }
            out[u][v] = even + odd;
        }
    return out;
}

bool hasContrast(const std::array<std::int32_t, 1024> &cells)
{
    std::int64_t sum = 0, squares = 0;
    for (const std::int32_t value : cells) {
        sum += value;
        squares += std::int64_t(value) * value;
    }
    const double count = double(cells.size());
    const double variance = (double(squares) - double(sum) * double(sum) / count) / count;
    return variance >= LeastDeviation * LeastDeviation * GrayScale * GrayScale;
}

} // namespace

PerceptualHash perceptualHash(const std::array<std::int32_t, 1024> &cells)
{
    if (!hasContrast(cells))
        return {};
    const Tables &constant = tables();
    const Spectrum spectrum = transform(cells, constant);
    PerceptualHash hash;
    int strong = 0;
    for (std::size_t i = 0; i < 2 * Bits; ++i) {
        const double value = spectrum[constant.places[i].u][constant.places[i].v];
        if (value > 0)
            (i < Bits ? hash.code : hash.check) |= std::uint64_t(1) << (i % Bits);
        strong += i < Bits && std::abs(value) >= StrongValue;
    }
    if (strong < LeastStrong)
        return {};
    hash.known = true;
    return hash;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/philox.h"

#include <cmath>
#include <numbers>

namespace tw {

namespace {
constexpr std::uint32_t MultiplierA = 0xD2511F53;
constexpr std::uint32_t MultiplierB = 0xCD9E8D57;
constexpr std::uint32_t WeylA = 0x9E3779B9;
constexpr std::uint32_t WeylB = 0xBB67AE85;
constexpr int Rounds = 10;
} // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key)
{
    for (int round = 0; round < Rounds; ++round) {
        const std::uint64_t a = std::uint64_t(MultiplierA) * counter[0];
        const std::uint64_t b = std::uint64_t(MultiplierB) * counter[2];
        counter = {std::uint32_t(b >> 32) ^ counter[1] ^ key[0], std::uint32_t(b),
                   std::uint32_t(a >> 32) ^ counter[3] ^ key[1], std::uint32_t(a)};
        key[0] += WeylA;
        key[1] += WeylB;
    }
    return counter;
}

SampleRandom::SampleRandom(std::uint64_t seed, RandomPurpose purpose, std::uint32_t epoch, std::uint32_t sample)
    : m_counter{std::uint32_t(purpose), epoch, sample, 0}, m_key{std::uint32_t(seed), std::uint32_t(seed >> 32)}
{
}

std::uint32_t SampleRandom::next()
{
    if (m_used == 4) {
        m_block = philox4x32(m_counter, m_key);
        ++m_counter[3];
        m_used = 0;
    }
    return m_block[std::size_t(m_used++)];
}

double SampleRandom::uniform()
{
    const std::uint64_t high = next() >> 5;
    const std::uint64_t low = next() >> 6;
    return double((high << 26) | low) * 0x1p-53;
}

double SampleRandom::uniform(double low, double high)
{
    return low + (high - low) * uniform();
}

// Lemire, "Fast random integer generation in an interval", 2019.
std::uint32_t SampleRandom::below(std::uint32_t n)
{
    std::uint64_t product = std::uint64_t(next()) * n;
    if (std::uint32_t(product) < n) {
        const std::uint32_t threshold = (0U - n) % n;
        while (std::uint32_t(product) < threshold)
            product = std::uint64_t(next()) * n;
    }
    return std::uint32_t(product >> 32);
}

double SampleRandom::normal()
{
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

} // namespace tw

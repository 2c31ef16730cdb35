// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>

namespace tw {

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

enum class RandomPurpose : std::uint32_t { Shuffle = 1, Split = 2, Augment = 3, Synthetic = 4 };

/// Stream of draws: key = seed, counter = (purpose, epoch, sample index, draw). The same numbers
/// on every machine, whatever thread asks. Sample indices are positions in the training manifest.
class SampleRandom
{
public:
    SampleRandom(std::uint64_t seed, RandomPurpose purpose, std::uint32_t epoch, std::uint32_t sample);
    std::uint32_t next();
    /// [0, 1) with 53 random bits.
    double uniform();
    double uniform(double low, double high);
    /// Unbiased integer in [0, n), n ≥ 1.
    std::uint32_t below(std::uint32_t n);
    /// Standard normal (Box–Muller).
    double normal();

private:
    std::array<std::uint32_t, 4> m_counter;
    std::array<std::uint32_t, 2> m_key;
    std::array<std::uint32_t, 4> m_block{};
    int m_used = 4;
};

} // namespace tw

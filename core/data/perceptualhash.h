// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>

namespace tw {

/// What a picture looks like, in 2 × 64 bits: signs of the lowest frequencies of its cosine
/// transform (after E. Klinger and D. Starkweather's pHash, with signs in place of the median, so
/// that a flat part does not move the bits of the rest). Exactly:
///  1. gray g[y][x], 32 × 32: the mean over the cell's area of Pillow's luma (weights 19595, 38470,
///     7471 of 65536) after orientation, pixels on a border shared by area, in 1/256 gray levels,
///     rounded to nearest;
///  2. c[u][v] = Σ g[y][x]·t[u][y]·t[v][x], t[u][k] = round(4096·cos(π(2k+1)u/64)), whole numbers;
///  3. the places u, v < 12 but (0, 0) in the order of u + v, then u: bit i (from the lowest) of `code`
///     is c > 0 at place i, of `check` at place 64 + i.
/// Nothing is said (`known` false) of pictures with a side of less than 32 pixels, whose cells would be
/// parts of pixels, and of those with too little to tell them apart: the standard
/// deviation of g below 5 gray levels, or fewer than 40 of the first 64 values at least as large as
/// a pattern of 0.2 gray levels gives (one colour, gradients, plain bars).
struct PerceptualHash
{
    std::uint64_t code = 0, check = 0;
    bool known = false;
    bool operator==(const PerceptualHash &) const = default;
};

/// `cells`: step 1 in 1/256 gray levels, [0, 65280], row by row. Any thread.
PerceptualHash perceptualHash(const std::array<std::int32_t, 1024> &cells);

/// Pictures of less than this many pixels on the shorter side are held to the closer limits.
inline constexpr int SmallPicture = 64;
/// Largest numbers of differing bits at which two pictures are called near duplicates, besides
/// equal shape and tone (nearduplicates.h).
struct HashLimits
{
    int code, check;
};
inline constexpr HashLimits OrdinaryLimits{3, 6}, SmallLimits{2, 3};

} // namespace tw

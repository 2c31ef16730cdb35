// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace tw {

/// The filter of a resize, both antialiased as Pillow's: a triangle of support 1, or the cubic
/// convolution of Keys with a = −½ and support 2. The filter widens with the scale.
enum class Interpolation : std::uint8_t { Bilinear, Bicubic };

/// As files write it: "bilinear", "bicubic".
constexpr const char *interpolationId(Interpolation interpolation)
{
    return interpolation == Interpolation::Bicubic ? "bicubic" : "bilinear";
}
/// Nothing for any other text.
constexpr std::optional<Interpolation> interpolationOf(std::string_view id)
{
    for (const Interpolation one : {Interpolation::Bilinear, Interpolation::Bicubic})
        if (id == interpolationId(one))
            return one;
    return std::nullopt;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace tw {

/// Fraction bits of a coefficient, as Pillow has them; sums stay within 32 bits.
constexpr int PrecisionBits = 32 - 8 - 2;
/// A coefficient is its upper part times 2^PartBits plus its lower part; both fit 16 bits.
constexpr int PartBits = 11;
/// Rows that the horizontal pass treats at once.
constexpr int Lanes = 32;

/// The weights of output positions, each with its source positions in a row.
struct Taps
{
    const int *bounds;       ///< first source position and count, per output position
    const int *coefficients; ///< `stride` per output position
    /// `stride` + 1 per output position: for each two coefficients their lower and then their upper
    /// parts, the first one's in the lower half; the parts of what is missing are 0
    const int *pairs;
    int stride; ///< odd
};

/// What resizing does with the pixels, by the best instructions of this machine. Integer sums are exact in
/// any order, so every instruction set gives the same bits.
struct ResizeKernels
{
    /// One output line, that of the taps' position `y`, of `length` bytes from lines that lie `stride`
    /// bytes apart; `in` is the first that it is made of.
    void (*lines)(const std::uint8_t *in, std::size_t stride, const Taps &taps, int y, std::size_t length,
                  std::uint8_t *out);
    /// All lanes at once: `in` and `out` hold, per byte of a row, the bytes of the rows. `in` starts at the
    /// pixel `origin` of the row.
    void (*columns)(const std::uint8_t *in, int origin, const Taps &taps, int outWidth, int channels,
                    std::uint8_t *out);
};
const ResizeKernels &resizeKernels();
/// Those that need no instructions beyond the compiler's.
const ResizeKernels &plainResizeKernels();

/// Rows × columns bytes to columns × rows bytes.
void transposeBytes(const std::uint8_t *in, std::size_t inStride, std::size_t rows, std::size_t columns,
                    std::uint8_t *out, std::size_t outStride);

} // namespace tw

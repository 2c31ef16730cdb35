// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtGlobal>

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace tw {

/// Abscissae of a series without a copy: steps are whole numbers, epochs and seconds are not.
/// Ascending; exactly one pointer is set.
struct AxisValues
{
    const qint64 *whole = nullptr;
    const double *real = nullptr;
    double operator[](size_t i) const { return whole ? double(whole[i]) : real[i]; }
};

/// Finite, of drawable size, and above zero where `positiveOnly` (logarithmic axis).
bool isDrawable(double value, bool positiveOnly);

/// Where the extremes of a stretch of samples are. Positions are `none` where there is no such sample.
struct Extremes
{
    static constexpr size_t none = std::numeric_limits<size_t>::max();
    size_t first = none, last = none; ///< first and last drawable sample
    size_t lowest = none, highest = none;
    size_t notFinite = none; ///< first NaN or infinity
};

/// Extremes of blocks of 64 samples, so that the extremes of any stretch cost little. Grows with
/// its series; after a change in the middle call truncate() with the changed position.
class ExtremesIndex
{
public:
    explicit ExtremesIndex(bool positiveOnly = false) : m_positiveOnly(positiveOnly) {}
    bool positiveOnly() const { return m_positiveOnly; }
    /// Takes in the samples beyond those already known.
    void update(std::span<const double> values);
    void truncate(size_t position);
    Extremes find(std::span<const double> values, size_t begin, size_t end) const;

private:
    void scan(std::span<const double> values, size_t begin, size_t end, Extremes &found) const;
    void merge(std::span<const double> values, const Extremes &block, Extremes &found) const;

    bool m_positiveOnly;
    std::vector<Extremes> m_blocks; ///< complete blocks only
};

/// What is left to draw of a series.
struct DrawnCurve
{
    std::vector<double> x, y;      ///< NaN in y breaks the line
    std::vector<size_t> singles;   ///< positions in x, y without a neighbour to draw a line to
    std::vector<double> notFinite; ///< abscissae of NaN and infinities, one a column at most
    double lowest = std::numeric_limits<double>::infinity(); ///< of what is inside the window
    double highest = -std::numeric_limits<double>::infinity();
};

struct DrawWindow
{
    double low = 0, high = 1; ///< visible abscissae
    int columns = 1;          ///< pixels across
};

/// Samples in the window and one more on either side. Where more than two samples fall on a pixel
/// column, first, lowest, highest and last of the column stand for them: the picture is the same.
DrawnCurve decimate(const AxisValues &x, std::span<const double> y, const ExtremesIndex &index,
                    const DrawWindow &window);

/// Position in [0, count) of the abscissa nearest to `value`; count must not be 0.
size_t nearestSample(const AxisValues &x, size_t count, double value);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtGlobal>

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace tw {

inline constexpr std::size_t calibrationBinCount = 15;

/// One row of the reliability table: images whose top probability lies in (lower, upper].
struct CalibrationBin
{
    double lower = 0, upper = 0;
    qint64 count = 0;
    std::optional<double> meanConfidence, accuracy; ///< nothing in an empty bin
};

struct CalibrationFigures
{
    /// Guo et al. 2017: mean gap between confidence and accuracy, weighted by images; largest gap.
    std::optional<double> expectedError, largestError;
    std::optional<double> brierScore; ///< Brier 1950: mean of Σ (p − y)² over all classes, 0 to 2
    std::array<CalibrationBin, calibrationBinCount> bins;
};

/// Bins of equal width over the probability of the predicted class; memory is fixed.
class CalibrationCounter
{
public:
    /// `confidence` in [0, 1] of the predicted class.
    void add(double confidence, bool right);
    /// Every class's probability, none of them NaN; `trueClass` none: a category that the model lacks.
    void addBrier(std::span<const double> probabilities, std::optional<std::size_t> trueClass);
    CalibrationFigures figures() const;

private:
    struct Bin
    {
        qint64 count = 0, right = 0;
        double confidenceSum = 0;
    };
    std::array<Bin, calibrationBinCount> m_bins;
    double m_brierSum = 0;
    qint64 m_brierCount = 0;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/calibration.h"

#include <algorithm>
#include <cmath>

namespace tw {

void CalibrationCounter::add(double confidence, bool right)
{
    const double place = std::ceil(confidence * double(calibrationBinCount)) - 1;
    Bin &bin = m_bins[std::size_t(std::clamp(place, 0.0, double(calibrationBinCount - 1)))];
    ++bin.count;
    bin.right += right ? 1 : 0;
    bin.confidenceSum += confidence;
}

void CalibrationCounter::addBrier(std::span<const double> probabilities, std::optional<std::size_t> trueClass)
{
    double sum = trueClass ? 0 : 1;
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        const double gap = probabilities[i] - (trueClass == i ? 1 : 0);
        sum += gap * gap;
    }
    m_brierSum += sum;
    ++m_brierCount;
}

CalibrationFigures CalibrationCounter::figures() const
{
    CalibrationFigures figures;
    qint64 total = 0;
    double weighted = 0, largest = 0;
    for (std::size_t i = 0; i < calibrationBinCount; ++i) {
        const Bin &bin = m_bins[i];
        CalibrationBin &out = figures.bins[i];
        out.lower = double(i) / double(calibrationBinCount);
        out.upper = double(i + 1) / double(calibrationBinCount);
        out.count = bin.count;
        if (bin.count == 0)
            continue;
        out.meanConfidence = bin.confidenceSum / double(bin.count);
        out.accuracy = double(bin.right) / double(bin.count);
        const double gap = std::abs(*out.meanConfidence - *out.accuracy);
        total += bin.count;
        weighted += gap * double(bin.count);
        largest = std::max(largest, gap);
    }
    if (total > 0) {
        figures.expectedError = weighted / double(total);
        figures.largestError = largest;
    }
    if (m_brierCount > 0)
        figures.brierScore = m_brierSum / double(m_brierCount);
    return figures;
}

} // namespace tw

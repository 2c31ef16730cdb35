// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tw {

/// What calling everything of at least `threshold` positive gives. The first point of a curve is
/// (infinity, 0, 0). False positive rate, recall and precision follow from the counts.
struct CurvePoint
{
    double threshold = 0;
    qint64 truePositives = 0, falsePositives = 0;
};

/// One class against the rest.
struct RankCurve
{
    qint64 positives = 0, negatives = 0;
    std::optional<double> auc; ///< trapezoid, ties as half; nothing without positives or negatives
    /// Σ (recallᵢ − recallᵢ₋₁)·precisionᵢ over distinct scores; nothing without positives.
    std::optional<double> averagePrecision;
    std::vector<CurvePoint> points; ///< at most CurveCollector::largestPointCount
};

struct RankCurves
{
    int bins = 0; ///< 0: from the scores themselves; else from a histogram of so many bins a class
    std::vector<RankCurve> classes;
    RankCurve micro;                                       ///< all classes' decisions pooled
    std::optional<double> macroAuc, macroAveragePrecision; ///< means over the classes that have one
};

/// Collects scores for ROC and precision-recall curves, 8 bytes a score while that fits
/// `exactBytes`; else counts them in at most 2¹⁶ bins over [0, 1] a class (fewer with many classes,
/// so that the counts take no more memory). The areas come from all scores or bins; only the points
/// are thinned, evenly along both curves.
class CurveCollector
{
public:
    static constexpr std::size_t largestPointCount = 1000; ///< of a curve
    static constexpr std::size_t allPointCount = 200000;   ///< of all curves together, about
    static constexpr qint64 defaultExactBytes = qint64(256) << 20;
    static constexpr std::size_t largestBinCount = std::size_t(1) << 16;

    CurveCollector(std::size_t classes, qint64 rows, qint64 exactBytes = defaultExactBytes);
    /// One probability in [0, 1] per class. `trueClass` none: negative for every class.
    void add(std::span<const double> probabilities, std::optional<std::size_t> trueClass);
    /// Uses up what was collected. Nothing when `stop` was set.
    std::optional<RankCurves> finish(const StopToken *stop = nullptr);

private:
    void collectExact(RankCurves &out, const StopToken *stop);
    void collectBins(RankCurves &out);

    std::size_t m_classes;
    std::size_t m_bins = 0;
    std::size_t m_pointLimit;
    std::vector<double> m_scores;        ///< row by row; the sign bit marks the true class
    std::vector<std::uint32_t> m_counts; ///< class, bin, negative | positive
};

} // namespace tw

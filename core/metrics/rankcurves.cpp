// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/rankcurves.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace tw {

namespace {

/// Equal scores.
struct Group
{
    double score = 0;
    qint64 positives = 0, negatives = 0;
};
/// Calls with one group after the other, by falling score.
using Walk = std::function<void(const std::function<void(const Group &)> &)>;

bool isCanceled(const StopToken *stop)
{
    return stop && stop->cancel.load(std::memory_order_relaxed);
}

void sortByFallingScore(std::span<double> scores)
{
    std::sort(scores.begin(), scores.end(), [](double a, double b) { return std::abs(a) > std::abs(b); });
}

Walk walkOf(std::span<const double> sorted)
{
    return [sorted](const std::function<void(const Group &)> &visit) {
        for (std::size_t i = 0; i < sorted.size();) {
            Group group{std::abs(sorted[i]), 0, 0};
            for (; i < sorted.size() && std::abs(sorted[i]) == group.score; ++i)
                ++(std::signbit(sorted[i]) ? group.positives : group.negatives);
            visit(group);
        }
    };
}

template <typename Count> Walk walkOfBins(std::span<const Count> counts)
{
    return [counts](const std::function<void(const Group &)> &visit) {
        const std::size_t bins = counts.size() / 2;
        for (std::size_t i = bins; i-- > 0;) {
            const Group group{double(i) / double(bins), qint64(counts[2 * i + 1]), qint64(counts[2 * i])};
            if (group.positives + group.negatives > 0)
                visit(group);
        }
    };
}

/// How far along both curves a point lies: true positive rate, false positive rate, and false
/// positives against positives as long as these still move the precision.
double positionOf(const RankCurve &curve, qint64 truePositives, qint64 falsePositives)
{
    const double positives = double(std::max<qint64>(1, curve.positives)),
                 negatives = double(std::max<qint64>(1, curve.negatives));
    return double(truePositives) / positives + double(falsePositives) / negatives
           + std::min(1.0, double(falsePositives) / positives);
}

/// Keeps the points of a walk: all of them, or the first of every `step` along the curves and the
/// last.
class Thinner
{
public:
    Thinner(RankCurve &curve, qint64 groups, std::size_t limit) : m_curve(curve), m_left(groups)
    {
        curve.points = {{std::numeric_limits<double>::infinity(), 0, 0}};
        if (groups + 1 > qint64(limit))
            m_step = positionOf(curve, curve.positives, curve.negatives) / double(limit - 3);
    }
    void add(const CurvePoint &point)
    {
        const double position = positionOf(m_curve, point.truePositives, point.falsePositives);
        if (--m_left > 0 && position < m_next)
            return;
        m_curve.points.push_back(point);
        m_next = m_step > 0 ? (std::floor(position / m_step) + 1) * m_step : 0;
    }

private:
    RankCurve &m_curve;
    qint64 m_left;
    double m_step = 0, m_next = 0;
};

RankCurve curveOf(const Walk &walk, std::size_t limit)
{
    RankCurve curve;
    qint64 groups = 0;
    walk([&](const Group &group) {
        curve.positives += group.positives;
        curve.negatives += group.negatives;
        ++groups;
    });
    Thinner thinner(curve, groups, limit);
    qint64 hits = 0, misses = 0;
    double area = 0, precisionSum = 0;
    walk([&](const Group &group) {
        area += double(group.negatives) * (double(hits) + double(group.positives) / 2);
        hits += group.positives;
        misses += group.negatives;
        precisionSum += double(group.positives) * double(hits) / double(hits + misses);
        thinner.add({group.score, hits, misses});
    });
    if (curve.positives > 0 && curve.negatives > 0)
        curve.auc = area / (double(curve.positives) * double(curve.negatives));
    if (curve.positives > 0)
        curve.averagePrecision = precisionSum / double(curve.positives);
    return curve;
}

std::optional<double> mean(const std::vector<RankCurve> &curves, std::optional<double> RankCurve::*figure)
{
    double sum = 0;
    int defined = 0;
    for (const RankCurve &curve : curves) {
        sum += (curve.*figure).value_or(0);
        defined += (curve.*figure).has_value() ? 1 : 0;
    }
    return defined > 0 ? std::optional<double>(sum / defined) : std::nullopt;
}

} // namespace

CurveCollector::CurveCollector(std::size_t classes, qint64 rows, qint64 exactBytes)
    : m_classes(classes), m_pointLimit(std::clamp<std::size_t>(allPointCount / (classes + 1), 20, largestPointCount))
{
    const double scores = double(classes) * double(rows), roomForScores = double(exactBytes) / sizeof(double);
    if (scores <= roomForScores) {
        m_scores.reserve(std::size_t(scores));
        return;
    }
    const auto roomForBins = std::size_t(exactBytes) / (2 * sizeof(std::uint32_t) * std::max<std::size_t>(1, classes));
    m_bins = std::min(largestBinCount, std::bit_floor(std::max<std::size_t>(256, roomForBins)));
    m_counts.resize(classes * m_bins * 2);
}

void CurveCollector::add(std::span<const double> probabilities, std::optional<std::size_t> trueClass)
{
    for (std::size_t i = 0; i < m_classes; ++i) {
        const double score = probabilities[i];
        const bool isTrue = trueClass == i;
        if (m_bins == 0) {
            m_scores.push_back(isTrue ? -score : score);
            continue;
        }
        const auto bin = std::size_t(std::clamp(score * double(m_bins), 0.0, double(m_bins - 1)));
        ++m_counts[(i * m_bins + bin) * 2 + (isTrue ? 1 : 0)];
    }
}

void CurveCollector::collectExact(RankCurves &out, const StopToken *stop)
{
    std::vector<double> column(m_scores.size() / std::max<std::size_t>(1, m_classes));
    for (std::size_t id = 0; id < m_classes && !isCanceled(stop); ++id) {
        for (std::size_t row = 0; row < column.size(); ++row)
            column[row] = m_scores[row * m_classes + id];
        sortByFallingScore(column);
        out.classes.push_back(curveOf(walkOf(std::span<const double>(column)), m_pointLimit));
    }
    if (isCanceled(stop))
        return;
    sortByFallingScore(m_scores);
    out.micro = curveOf(walkOf(std::span<const double>(m_scores)), m_pointLimit);
}

void CurveCollector::collectBins(RankCurves &out)
{
    const std::span<const std::uint32_t> all(m_counts);
    std::vector<qint64> pooled(m_bins * 2);
    for (std::size_t id = 0; id < m_classes; ++id) {
        const auto own = all.subspan(id * m_bins * 2, m_bins * 2);
        out.classes.push_back(curveOf(walkOfBins(own), m_pointLimit));
        for (std::size_t i = 0; i < own.size(); ++i)
            pooled[i] += own[i];
    }
    out.micro = curveOf(walkOfBins(std::span<const qint64>(pooled)), m_pointLimit);
}

std::optional<RankCurves> CurveCollector::finish(const StopToken *stop)
{
    RankCurves curves;
    curves.bins = int(m_bins);
    if (m_bins == 0)
        collectExact(curves, stop);
    else
        collectBins(curves);
    if (isCanceled(stop))
        return std::nullopt;
    curves.macroAuc = mean(curves.classes, &RankCurve::auc);
    curves.macroAveragePrecision = mean(curves.classes, &RankCurve::averagePrecision);
    m_scores = {};
    m_counts = {};
    return curves;
}

} // namespace tw

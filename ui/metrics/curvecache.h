// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/metricstore.h"
#include "ui/metrics/decimate.h"
#include "ui/metrics/smoothing.h"

#include <unordered_map>

namespace tw {

/// Smoothed values and block extremes of the series of a store, kept up to date as it grows.
class CurveCache
{
public:
    struct Curve
    {
        ExtremesIndex raw, smooth;
        Smoother smoother;
    };

    void clear();
    void setSmoothing(double weight);
    double smoothing() const { return m_weight; }
    /// The samples from `position` on have changed or moved.
    void invalidate(const SeriesKey &key, size_t position);
    /// Brought up to date; `smoothed` false leaves the smoothed part alone. Valid until the series
    /// changes or is asked for with another `logarithmic`.
    const Curve &curve(const SeriesKey &key, const MetricSeries &series, bool smoothed, bool logarithmic);

private:
    struct KeyHash
    {
        size_t operator()(const SeriesKey &key) const { return qHash(key); }
    };
    std::unordered_map<SeriesKey, Curve, KeyHash> m_curves; // its elements stay where they are
    double m_weight = 0;
};

} // namespace tw

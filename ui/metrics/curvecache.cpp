// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/curvecache.h"

namespace tw {

void CurveCache::clear()
{
    m_curves.clear();
}

void CurveCache::setSmoothing(double weight)
{
    if (m_weight == weight)
        return;
    m_weight = weight;
    for (auto &[key, curve] : m_curves) {
        curve.smoother = Smoother(weight);
        curve.smooth.truncate(0);
    }
}

void CurveCache::invalidate(const SeriesKey &key, size_t position)
{
    const auto found = m_curves.find(key);
    if (found == m_curves.end())
        return;
    found->second.raw.truncate(position);
    found->second.smoother.restart();
    found->second.smooth.truncate(0);
}

const CurveCache::Curve &CurveCache::curve(const SeriesKey &key, const MetricSeries &series, bool smoothed,
                                           bool logarithmic)
{
    Curve &curve = m_curves.try_emplace(key).first->second;
    if (curve.raw.positiveOnly() != logarithmic)
        curve.raw = curve.smooth = ExtremesIndex(logarithmic);
    curve.raw.update(series.values);
    if (!smoothed)
        return curve;
    if (curve.smoother.weight() != m_weight) {
        curve.smoother = Smoother(m_weight);
        curve.smooth.truncate(0);
    }
    curve.smoother.update(series.values);
    curve.smooth.update(curve.smoother.values());
    return curve;
}

} // namespace tw

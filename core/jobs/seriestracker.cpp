// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/seriestracker.h"

#include <cmath>

namespace tw {

namespace {

bool isBetter(const QString &series, double value, double best)
{
    if (!std::isfinite(best))
        return true;
    if (!std::isfinite(value))
        return false;
    if (series.endsWith(QLatin1String("_top1")) || series.endsWith(QLatin1String("_top5")))
        return value > best;
    if (series.endsWith(QLatin1String("_loss")))
        return value < best;
    return true;
}

} // namespace

void SeriesTracker::add(const MetricPoint &point)
{
    const Key key(point.series, point.rank);
    const auto [found, isNew] = m_series.try_emplace(key);
    SeriesSummary &summary = found->second;
    if (isNew) {
        summary.node = point.node;
        summary.series = point.series;
        summary.rank = point.rank;
    }
    if (isNew || isBetter(point.series, point.value, summary.best)) {
        summary.best = point.value;
        summary.bestStep = point.step;
    }
    summary.last = point.value;
    summary.lastStep = point.step;
    m_changed.insert(key);
}

QList<SeriesSummary> SeriesTracker::changed() const
{
    QList<SeriesSummary> list;
    for (const Key &key : m_changed)
        list.append(m_series.at(key));
    return list;
}

} // namespace tw

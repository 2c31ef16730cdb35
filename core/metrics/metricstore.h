// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/metricpoint.h"

#include <QHash>
#include <QList>

#include <vector>

namespace tw {

/// Points of one series of one node and rank, ascending by step; a repeated step replaces.
struct MetricSeries
{
    std::vector<qint64> steps;
    std::vector<double> epochs;
    std::vector<double> seconds;
    std::vector<double> values;
    size_t size() const { return steps.size(); }
};

struct SeriesKey
{
    QString node, series;
    int rank = 0;
    bool operator==(const SeriesKey &) const = default;
};
size_t qHash(const SeriesKey &key, size_t seed = 0);

/// In-memory points of a job for the plots. One thread (the view's).
class MetricStore
{
public:
    void clear();
    void add(const MetricPoint &point);
    const MetricSeries *find(const SeriesKey &key) const;
    QList<SeriesKey> keys() const;
    /// Reads what metrics.jsonl holds beyond `offset`; returns the new offset. A last line without
    /// its end is left for the next call; lines that are no points are skipped and counted.
    qint64 readFile(const QByteArray &path, qint64 offset);
    qint64 skippedLines() const { return m_skipped; }

private:
    QHash<SeriesKey, MetricSeries> m_series;
    QList<SeriesKey> m_order;
    qint64 m_skipped = 0;
};

} // namespace tw

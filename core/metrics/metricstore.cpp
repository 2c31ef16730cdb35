// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/metricstore.h"

#include "core/base/paths.h"

#include <algorithm>
#include <fstream>

namespace tw {

size_t qHash(const SeriesKey &key, size_t seed)
{
    return qHashMulti(seed, key.node, key.series, key.rank);
}

void MetricStore::clear()
{
    m_series.clear();
    m_order.clear();
    m_skipped = 0;
}

void MetricStore::add(const MetricPoint &point)
{
    const SeriesKey key{point.node, point.series, point.rank};
    auto found = m_series.find(key);
    if (found == m_series.end()) {
        found = m_series.insert(key, {});
        m_order.append(key);
    }
    MetricSeries &series = *found;
    const auto at = series.steps.empty() || series.steps.back() < point.step
                        ? series.steps.end()
                        : std::lower_bound(series.steps.begin(), series.steps.end(), point.step);
    const auto index = at - series.steps.begin();
    if (at == series.steps.end() || *at != point.step) {
        series.steps.insert(at, point.step);
        series.epochs.insert(series.epochs.begin() + index, point.epoch);
        series.seconds.insert(series.seconds.begin() + index, point.seconds);
        series.values.insert(series.values.begin() + index, point.value);
        return;
    }
    const auto position = static_cast<size_t>(index);
    series.epochs[position] = point.epoch;
    series.seconds[position] = point.seconds;
    series.values[position] = point.value;
}

const MetricSeries *MetricStore::find(const SeriesKey &key) const
{
    const auto found = m_series.constFind(key);
    return found == m_series.constEnd() ? nullptr : &*found;
}

QList<SeriesKey> MetricStore::keys() const
{
    return m_order;
}

qint64 MetricStore::readFile(const QByteArray &path, qint64 offset)
{
    std::ifstream file(pathFromBytes(path), std::ios::binary | std::ios::ate);
    if (!file)
        return offset;
    // A file that shrank was written anew: repeated steps replace what is known of it.
    qint64 done = static_cast<qint64>(file.tellg()) < offset ? 0 : offset;
    file.seekg(done);
    constexpr qsizetype blockBytes = 1 << 20;
    QByteArray pending;
    QByteArray block(blockBytes, Qt::Uninitialized);
    while (file.read(block.data(), blockBytes), file.gcount() > 0) {
        pending.append(block.constData(), static_cast<qsizetype>(file.gcount()));
        qsizetype start = 0;
        for (qsizetype end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n', start)) {
            const auto point = MetricPoint::fromJsonLine(pending.mid(start, end - start));
            if (point.ok())
                add(*point);
            else
                ++m_skipped;
            start = end + 1;
        }
        done += start;
        pending.remove(0, start);
    }
    return done;
}

} // namespace tw

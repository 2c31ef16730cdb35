// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/metricsfeed.h"

#include "core/base/json.h"

#include <QJsonArray>
#include <QtConcurrent>

#include <algorithm>

namespace tw {

static QHash<QString, QJsonObject> readParameters(const fs::path &jobFolder)
{
    QHash<QString, QJsonObject> parameters;
    const auto pipeline = readJsonObject(jobFolder / "pipeline.json", errors::InvalidPipeline);
    if (!pipeline.ok())
        return parameters;
    const QJsonArray nodes = pipeline->value(QStringLiteral("nodes")).toArray();
    for (const QJsonValue &node : nodes)
        parameters.insert(node[QStringLiteral("id")].toString(), node[QStringLiteral("parameters")].toObject());
    return parameters;
}

MetricsReading readMetrics(const fs::path &jobFolder, const QHash<QByteArray, qint64> &offsets, bool whole)
{
    MetricsReading reading;
    reading.store = std::make_shared<MetricStore>();
    reading.offsets = offsets;
    std::error_code error;
    reading.folderFound = fs::is_directory(jobFolder, error);
    for (fs::directory_iterator node(jobFolder / "nodes", error), end; !error && node != end; node.increment(error)) {
        const fs::path file = node->path() / "metrics.jsonl";
        const QByteArray name = bytesFromPath(file);
        std::error_code missing;
        if (const auto size = fs::file_size(file, missing); missing || qint64(size) == offsets.value(name, 0))
            continue;
        reading.offsets[name] = reading.store->readFile(name, offsets.value(name, 0));
    }
    if (whole)
        reading.parameters = readParameters(jobFolder);
    return reading;
}

MetricsFeed::MetricsFeed(QObject *parent) : QObject(parent)
{
    connect(&m_reader, &QFutureWatcherBase::finished, this, &MetricsFeed::finish);
}

MetricsFeed::~MetricsFeed() = default;

void MetricsFeed::clear()
{
    m_folder.clear();
    m_reader.setFuture({}); // a reading under way ends unheard
    m_store = std::make_shared<MetricStore>();
    m_cache.clear();
    m_offsets.clear();
    m_parameters.clear();
    m_waiting.clear();
    m_loading = false;
}

void MetricsFeed::setJob(const fs::path &jobFolder)
{
    clear();
    m_folder = jobFolder;
    m_loading = true;
    start(true);
    Q_EMIT changed();
}

void MetricsFeed::start(bool whole)
{
    m_reader.setFuture(QtConcurrent::run(readMetrics, m_folder, m_offsets, whole));
}

void MetricsFeed::poll()
{
    if (!m_folder.empty() && !m_reader.isRunning())
        start(m_parameters.isEmpty());
}

void MetricsFeed::finish()
{
    if (m_reader.future().resultCount() == 0)
        return;
    const MetricsReading reading = m_reader.result();
    m_offsets = reading.offsets;
    if (!reading.parameters.isEmpty())
        m_parameters = reading.parameters;
    const bool first = std::exchange(m_loading, false);
    const bool grew = !reading.store->keys().isEmpty();
    if (first) {
        m_store = reading.store;
        m_cache.clear();
        addPoints(std::exchange(m_waiting, {}));
    } else if (grew) {
        merge(*reading.store);
    }
    if (first || grew)
        Q_EMIT changed();
}

void MetricsFeed::merge(const MetricStore &added)
{
    const QList<SeriesKey> keys = added.keys();
    for (const SeriesKey &key : keys) {
        const MetricSeries &series = *added.find(key);
        for (size_t i = 0; i < series.size(); ++i)
            add({key.node, key.series, series.steps[i], series.epochs[i], series.seconds[i], key.rank,
                 series.values[i]});
    }
}

void MetricsFeed::addPoints(const QList<MetricPoint> &points)
{
    if (m_loading) {
        m_waiting += points;
        return;
    }
    for (const MetricPoint &point : points)
        add(point);
    if (!points.isEmpty())
        Q_EMIT changed();
}

void MetricsFeed::add(const MetricPoint &point)
{
    const SeriesKey key{point.node, point.series, point.rank};
    const MetricSeries *series = m_store->find(key);
    if (series && !series->steps.empty() && point.step <= series->steps.back()) {
        const auto at = std::lower_bound(series->steps.begin(), series->steps.end(), point.step);
        const size_t position = size_t(at - series->steps.begin());
        const double old = series->values[position];
        const bool same = *at == point.step && (old == point.value || (std::isnan(old) && std::isnan(point.value)));
        if (!same)
            m_cache.invalidate(key, position);
    }
    m_store->add(point);
}

qint64 MetricsFeed::pointCount() const
{
    qint64 count = m_waiting.size();
    const QList<SeriesKey> keys = m_store->keys();
    for (const SeriesKey &key : keys)
        count += qint64(m_store->find(key)->size());
    return count;
}

} // namespace tw

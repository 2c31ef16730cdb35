// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/metrics/metricstore.h"
#include "ui/metrics/curvecache.h"

#include <QFutureWatcher>
#include <QHash>
#include <QJsonObject>
#include <QObject>

#include <memory>

namespace tw {

class Workspace;

/// What a reader thread brings back of a job's folder.
struct MetricsReading
{
    std::shared_ptr<MetricStore> store;     ///< points beyond the offsets that were known
    QHash<QByteArray, qint64> offsets;      ///< by metrics.jsonl
    QHash<QString, QJsonObject> parameters; ///< by node, of pipeline.json; first reading only
    bool folderFound = false;
};

/// Any thread. `whole`: from the start, with the parameters.
MetricsReading readMetrics(const fs::path &jobFolder, const QHash<QByteArray, qint64> &offsets, bool whole);

/// The points of one job: read from its files by a worker, followed by live points and by readings
/// of what the files grew. GUI thread.
class MetricsFeed : public QObject
{
    Q_OBJECT
public:
    explicit MetricsFeed(QObject *parent = nullptr);
    ~MetricsFeed() override;

    void setJob(const fs::path &jobFolder);
    void clear();
    void addPoints(const QList<MetricPoint> &points);
    /// Looks for new points in the files, unless a reading is under way.
    void poll();

    bool isLoading() const { return m_loading; }
    const MetricStore &store() const { return *m_store; }
    CurveCache &cache() { return m_cache; }
    const QHash<QString, QJsonObject> &parameters() const { return m_parameters; }
    qint64 pointCount() const;

Q_SIGNALS:
    void changed();

private:
    void start(bool whole);
    void finish();
    void merge(const MetricStore &added);
    void add(const MetricPoint &point);

    fs::path m_folder;
    std::shared_ptr<MetricStore> m_store = std::make_shared<MetricStore>();
    CurveCache m_cache;
    QHash<QByteArray, qint64> m_offsets;
    QHash<QString, QJsonObject> m_parameters;
    QList<MetricPoint> m_waiting; ///< arrived during the first reading
    QFutureWatcher<MetricsReading> m_reader;
    bool m_loading = false;
};

} // namespace tw

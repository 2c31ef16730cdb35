// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/jobs/jobevent.h"
#include "core/jobs/nodefiles.h"
#include "core/jobs/seriestracker.h"
#include "core/jobs/workspace.h"

#include <QElapsedTimer>

#include <functional>
#include <mutex>

namespace tw {

using EventSink = std::function<void(JobEventBody)>;

/// RunContext of one node of a job. Every call may come from any thread; files get the lines and
/// points in the order of the calls. A failed write cancels the node and is its failure.
class NodeRunContext : public RunContext
{
public:
    /// `record` is changed by results and stops and stored at most once a second and at finish().
    NodeRunContext(Workspace &workspace, QString job, NodeRecord &record, StopToken &stop, EventSink sink);

    QString nodeId() const override { return m_record.id; }
    fs::path nodeFolder() const override { return m_folder; }
    fs::path cacheFolder() const override { return m_workspace.cacheFolder(); }
    void progress(double fraction, const QString &text) override;
    void log(LogLevel level, const QString &line) override;
    void driverLog(int rank, const QString &line) override;
    void metric(const MetricPoint &point) override;
    void result(const QString &key, const QJsonValue &value) override;
    void stoppedEarly(const QString &reason) override;
    const StopToken &stopToken() const override { return m_stop; }

    /// Stores the series and syncs the files. The first failure to write a file, then or earlier.
    Result<void> finish();

private:
    void keep(const Result<void> &written);
    void storeSometimes();
    void store();

    Workspace &m_workspace;
    const QString m_job;
    NodeRecord &m_record;
    StopToken &m_stop;
    const EventSink m_sink;
    const fs::path m_folder;

    std::mutex m_mutex;
    NodeFiles m_files;
    SeriesTracker m_series;
    bool m_resultsChanged = false;
    std::optional<Error> m_failure;
    QElapsedTimer m_sinceStore;
    QElapsedTimer m_sinceSync;
};

} // namespace tw

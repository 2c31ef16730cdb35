// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/noderuncontext.h"

#include <cmath>

namespace tw {

constexpr qint64 storeIntervalMs = 1000;
constexpr qint64 syncIntervalMs = 1000;

NodeRunContext::NodeRunContext(Workspace &workspace, QString job, NodeRecord &record, StopToken &stop, EventSink sink)
    : m_workspace(workspace), m_job(std::move(job)), m_record(record), m_stop(stop), m_sink(std::move(sink)),
      m_folder(workspace.nodeFolder(m_job, record.id)), m_files(m_folder)
{
    m_sinceStore.start();
    m_sinceSync.start();
}

void NodeRunContext::keep(const Result<void> &written)
{
    if (written.ok() || m_failure)
        return;
    m_failure = written.error();
    m_stop.cancel = true;
}

void NodeRunContext::progress(double fraction, const QString &text)
{
    m_sink(ProgressEvent{m_record.id, fraction, text});
    const std::lock_guard guard(m_mutex);
    storeSometimes();
}

void NodeRunContext::log(LogLevel level, const QString &line)
{
    const std::lock_guard guard(m_mutex);
    keep(m_files.log(level, line));
    m_sink(LogEvent{m_record.id, 0, level, line, false});
    storeSometimes();
}

void NodeRunContext::driverLog(int rank, const QString &line)
{
    const std::lock_guard guard(m_mutex);
    keep(m_files.driverLog(rank, line));
    m_sink(LogEvent{m_record.id, rank, LogLevel::Info, line, true});
    storeSometimes();
}

void NodeRunContext::metric(const MetricPoint &given)
{
    MetricPoint point = given;
    point.node = m_record.id;
    const std::lock_guard guard(m_mutex);
    keep(m_files.metric(point));
    m_series.add(point);
    m_sink(MetricEvent{point});
    // A whole epoch is the end of one: the moment whose figures must survive a power cut.
    if (point.epoch == std::floor(point.epoch) && m_sinceSync.elapsed() >= syncIntervalMs) {
        keep(m_files.sync());
        m_sinceSync.restart();
    }
    storeSometimes();
}

void NodeRunContext::result(const QString &key, const QJsonValue &value)
{
    const std::lock_guard guard(m_mutex);
    m_record.results.insert(key, value);
    m_resultsChanged = true;
    m_sink(ResultEvent{m_record.id, key, value});
    storeSometimes();
}

void NodeRunContext::stoppedEarly(const QString &reason)
{
    const std::lock_guard guard(m_mutex);
    m_record.stopped = reason;
}

void NodeRunContext::storeSometimes()
{
    if (m_sinceStore.elapsed() < storeIntervalMs)
        return;
    store();
    m_sinceStore.restart();
}

/// A store that another program holds locked must not end a training: the files are the truth,
/// and the next call stores what this one could not.
void NodeRunContext::store()
{
    const QList<SeriesSummary> changed = m_series.changed();
    Result<void> stored;
    if (!changed.isEmpty())
        stored = m_workspace.updateSeries(m_job, changed);
    if (stored.ok())
        m_series.clearChanged();
    if (stored.ok() && m_resultsChanged)
        stored = m_workspace.updateNode(m_job, m_record);
    if (stored.ok())
        m_resultsChanged = false;
    else
        keep(m_files.log(LogLevel::Warning, stored.error().toString()));
}

Result<void> NodeRunContext::finish()
{
    const std::lock_guard guard(m_mutex);
    store();
    keep(m_files.sync());
    return m_failure ? Result<void>(*m_failure) : Result<void>();
}

} // namespace tw

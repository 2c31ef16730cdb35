// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/jobs/jobstate.h"
#include "core/metrics/metricpoint.h"

#include <QJsonObject>
#include <QList>
#include <QMap>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>

namespace tw {

struct NodeRecord
{
    QString id;
    QString component;
    NodeState state = NodeState::NotStarted;
    qint64 startedMs = 0; ///< UTC milliseconds, 0: not yet
    qint64 finishedMs = 0;
    QString stopped;     ///< "user", "patience", … when it ended early
    QString reusedFrom;  ///< job id
    QString key;         ///< node key, hex
    QStringList outputs; ///< ports whose folders were written, in the component's order
    QJsonObject results; ///< RunContext::result()
    std::optional<Error> error;
};

struct JobRecord
{
    QString id;
    QString experiment, name, description;
    QMap<QString, QString> tags;
    JobState state = JobState::NotStarted;
    qint64 createdMs = 0, startedMs = 0, finishedMs = 0;
    std::optional<Error> error;
    QList<NodeRecord> nodes; ///< plan order
};

struct SeriesSummary
{
    QString node, series;
    int rank = 0;
    double last = 0, best = 0; ///< best: highest for *_top1/_top5, lowest for *_loss, else last
    qint64 lastStep = 0, bestStep = 0;
};

/// A workspace folder: studio.db (SQLite, WAL), jobs/, cache/. Any thread (one connection a thread).
/// The runner of a job holds a flock on jobs/<id>/run.lock: a running state with a free lock reads
/// as Interrupted, and nothing else decides that.
class Workspace
{
public:
    /// The platform's data folder ("…/share/trainwright").
    static fs::path defaultFolder();
    /// There is a store in `folder`; nothing is made.
    static bool exists(const fs::path &folder);
    /// Makes what is missing. InvalidWorkspaceError: not a folder, read-only, locked, newer version.
    static Result<std::unique_ptr<Workspace>> open(const fs::path &folder);
    ~Workspace();

    const fs::path &folder() const;
    fs::path jobFolder(const QString &job) const;
    fs::path nodeFolder(const QString &job, const QString &node) const;
    fs::path outputFolder(const QString &job, const QString &node, const QString &port) const;
    fs::path cacheFolder() const;
    /// jobs/<id>/run.lock, held by the runner.
    fs::path lockFile(const QString &job) const;

    Result<void> insertJob(const JobRecord &job);
    /// Also keeps the times: started at Preparing, finished at a final state. A final state stays.
    Result<void> setJobState(const QString &job, JobState state);
    Result<void> setJobError(const QString &job, const Error &error);
    /// InvalidWorkspaceError when the job has no such node.
    Result<void> updateNode(const QString &job, const NodeRecord &node);
    /// All or none.
    Result<void> updateNodes(const QString &job, const QList<NodeRecord> &nodes);
    Result<void> updateSeries(const QString &job, const QList<SeriesSummary> &series);

    /// Newest first. States of jobs whose runner died are Interrupted (nodes too).
    Result<QList<JobRecord>> jobs() const;
    Result<JobRecord> job(const QString &id) const;
    Result<QList<SeriesSummary>> series(const QString &job) const;
    /// Removes row and folder; InvalidWorkspaceError while it runs.
    Result<void> deleteJob(const QString &id);

    /// Nodes with this key that are Completed (or themselves Reused), were not stopped early and
    /// have all their output folders: job and node id, the newest first. Whether the folders still
    /// hold what was written is not asked here (linkOutputs() does). Nodes of `exceptJob` do not count.
    QList<std::pair<QString, QString>> reusableNodes(const QString &nodeKey, const QString &exceptJob = {}) const;

private:
    explicit Workspace(fs::path folder);
    Result<void> tidyInterrupted();
    Result<void> settle(JobRecord *job) const;
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace tw

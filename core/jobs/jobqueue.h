// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobevent.h"
#include "core/pipeline/planner.h"

#include <QMap>
#include <QObject>

#include <memory>

namespace tw {

class Workspace;

struct JobRequest
{
    Pipeline pipeline; ///< already validated
    QStringList upTo;  ///< empty: everything
    QString experiment, name, description;
    QMap<QString, QString> tags;
    QMap<QString, fs::path> exports; ///< "node.port" → folder to copy the output to
    bool force = false;              ///< do not reuse earlier nodes
};

/// Runs jobs one after another on its own QThread. Lives on the thread that made it (the GUI's or
/// the command line's); all calls are made there and do no more than small
/// writes to the store.
///
/// Events are put into a bounded buffer by the running job; the owner drains it with takeEvents()
/// at its own pace (10–30 times a second). When the buffer is full, log lines and progress are
/// dropped (oldest first) and metric points thinned — the files keep everything, and
/// `droppedEvents()` says that they must be re-read. State, error and result events are never dropped.
class JobQueue : public QObject
{
    Q_OBJECT
public:
    JobQueue(Workspace &workspace, const ComponentRegistry &registry, QObject *parent = nullptr);
    /// Cancels what runs and waits for it.
    ~JobQueue() override;

    /// Draws empty seeds, makes the job (id, folder, store row) and queues it. The plan's errors,
    /// InvalidPipelineError (unknown export), InvalidWorkspaceError, FailedToWriteOutputsError.
    Result<QString> submit(const JobRequest &request);
    /// Queued: Canceled at once. Running: the node is told and ends within a batch; nothing is exported.
    void cancel(const QString &job);
    /// Asks the node that runs now; one that cannot keep a part goes on to its end. Later nodes run.
    void stopAndKeep(const QString &job);
    /// Ctrl-C of the command line: stop-and-keep for a running training node (another one is
    /// canceled), later nodes canceled, exports of what exists; the job ends Canceled. Again: cancel().
    void interrupt(const QString &job);

    QString runningJob() const;
    /// stopAndKeep() of the running job has something to keep.
    bool isTraining() const;
    QStringList queuedJobs() const;
    bool isIdle() const;
    QList<JobEvent> takeEvents();
    qint64 droppedEvents() const;

Q_SIGNALS:
    /// Events are waiting; emitted once until takeEvents() is called. Queued across threads.
    void eventsReady();
    void jobQueued(const QString &job);
    void jobFinished(const QString &job, tw::JobState state);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace tw

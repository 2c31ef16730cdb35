// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobqueue.h"
#include "core/jobs/workspace.h"
#include "ui/canvas/nodestatus.h"

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QSet>
#include <QTimer>

#include <memory>

namespace tw {

/// Figures of the running job for the status bar. Negative or empty: not known (yet).
struct RunFigures
{
    QString job;
    JobState state = JobState::NotStarted;
    QString node, text;
    double progress = -1; ///< of the running node, [0, 1]
    double epoch = -1;
    double imagesPerSecond = -1;
    double secondsLeft = -1; ///< of the running node
};

/// The queue of the window: jobs in, events out 20 times a second, sorted for the views. GUI thread.
class JobController : public QObject
{
    Q_OBJECT
public:
    JobController(Workspace &workspace, const ComponentRegistry &registry, QObject *parent = nullptr);

    Workspace &workspace() const { return m_workspace; }
    Result<QString> submit(const JobRequest &request);
    /// Takes a waiting job out of the queue, ends a running one. False: not a job of this window.
    bool cancel(const QString &job);
    void cancelWaiting();
    void stopAndKeep();
    /// stopAndKeep() has something to keep.
    bool isTraining() const { return m_queue.isTraining(); }
    bool isIdle() const;
    QStringList waitingJobs() const { return m_queue.queuedJobs(); }
    QString runningJob() const { return m_queue.runningJob(); }
    const RunFigures &figures() const { return m_figures; }
    /// States of the job's nodes: from events when it ran here, else what loadStates() brought.
    QHash<QString, NodeStatus> states(const QString &job) const { return m_states.value(job); }
    /// What the job ran, when loadStates() has brought it.
    std::optional<Pipeline> pipeline(const QString &job) const;
    /// Brings an earlier job's states and pipeline with a worker thread; statesLoaded() follows.
    void loadStates(const QString &job);
    /// Takes the waiting events now.
    void drain();

Q_SIGNALS:
    void nodeStatusChanged(const QString &job, const QString &node);
    void statesLoaded(const QString &job);
    void pointsArrived(const QString &job, const QList<tw::MetricPoint> &points);
    void lineArrived(const QString &job, const tw::LogEvent &line);
    void jobStateChanged(const QString &job, tw::JobState state);
    void jobFailed(const QString &job, const tw::Error &error);
    void figuresChanged();

private:
    struct Batch;
    void handle(const JobEvent &event, Batch &batch);
    void noteState(const QString &job, const NodeStateEvent &event);
    void noteJobState(const QString &job, JobState state);
    void noteProgress(const QString &job, const ProgressEvent &event);
    void noteFigure(const QString &job, const MetricPoint &point);

    Workspace &m_workspace;
    const ComponentRegistry &m_registry;
    JobQueue m_queue;
    QSet<QString> m_own; ///< submitted here: events tell their states
    QHash<QString, Pipeline> m_pipelines;
    QTimer m_timer;
    QHash<QString, QHash<QString, NodeStatus>> m_states;
    QHash<QString, QHash<QString, QJsonObject>> m_results;
    RunFigures m_figures;
    QElapsedTimer m_nodeClock;
};

/// "best top-1 91.2 %", "60,000 images · 10 classes": what a node's results say in one line.
QString resultLine(const QJsonObject &results);

} // namespace tw

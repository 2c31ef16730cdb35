// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobqueue.h"
#include "core/jobs/workspace.h"
#include "ui/canvas/nodestatus.h"

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QTimer>

#include <memory>

namespace tw {

/// Figures of the running job for the status bar. Negative or empty: not known (yet).
struct RunFigures
{
    QString job;
    JobState state = JobState::NotStarted;
    QString node, text;
    double progress = -1;            ///< of the running node, [0, 1]
    double epoch = -1;
    double imagesPerSecond = -1;
    double secondsLeft = -1;         ///< of the running node
};

/// The queue of the window: jobs in, events out 20 times a second, sorted for the views. GUI thread.
class JobController : public QObject
{
    Q_OBJECT
public:
    JobController(Workspace &workspace, const ComponentRegistry &registry, QObject *parent = nullptr);

    Workspace &workspace() const { return m_workspace; }
    Result<QString> submit(const JobRequest &request);
    void cancel();
    void stopAndKeep();
    bool isIdle() const;
    QString runningJob() const { return m_queue.runningJob(); }
    const RunFigures &figures() const { return m_figures; }
    /// States of the job's nodes: from events when it ran here, else what loadStates() brought.
    QHash<QString, NodeStatus> states(const QString &job) const { return m_states.value(job); }
    /// Reads an earlier job's states on a worker thread; statesLoaded() follows.
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
    void noteProgress(const ProgressEvent &event);
    void noteFigure(const MetricPoint &point);

    Workspace &m_workspace;
    JobQueue m_queue;
    QTimer m_timer;
    QHash<QString, QHash<QString, NodeStatus>> m_states;
    QHash<QString, QHash<QString, QJsonObject>> m_results;
    RunFigures m_figures;
    QElapsedTimer m_nodeClock;
};

/// "best top-1 91.2 %", "60,000 images · 10 classes": what a node's results say in one line.
QString resultLine(const QJsonObject &results);

} // namespace tw

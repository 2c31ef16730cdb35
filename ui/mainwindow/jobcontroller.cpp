// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow/jobcontroller.h"

#include "core/pipeline/pipelinefile.h"
#include "ui/common/words.h"

#include <QCoreApplication>
#include <QFutureWatcher>
#include <QtConcurrent/QtConcurrentRun>

namespace tw {

constexpr int drainMs = 50;

struct JobController::Batch
{
    QHash<QString, QList<MetricPoint>> points;
    QSet<std::pair<QString, QString>> nodes;
    bool figures = false;
};

QString resultLine(const QJsonObject &results)
{
    const auto number = [&](const char *key) { return results.value(QLatin1String(key)); };
    QStringList parts;
    if (number("best_val_top1").isDouble())
        parts.append(QCoreApplication::translate("NodeItem", "best top-1 %1")
                         .arg(percentText(number("best_val_top1").toDouble())));
    if (number("Overall_Accuracy").isDouble())
        parts.append(QCoreApplication::translate("NodeItem", "accuracy %1")
                         .arg(percentText(number("Overall_Accuracy").toDouble())));
    if (number("epochs_done").isDouble())
        parts.append(QCoreApplication::translate("NodeItem", "epochs: %1").arg(number("epochs_done").toInt()));
    if (number("images").isDouble())
        parts.append(
            QCoreApplication::translate("NodeItem", "%1 images").arg(countText(qint64(number("images").toDouble()))));
    if (number("rows").isDouble())
        parts.append(
            QCoreApplication::translate("NodeItem", "%1 rows").arg(countText(qint64(number("rows").toDouble()))));
    if (parts.size() == 1 && number("classes").isDouble())
        parts.append(QCoreApplication::translate("NodeItem", "%1 classes").arg(number("classes").toInt()));
    return parts.mid(0, 2).join(QStringLiteral(" · "));
}

JobController::JobController(Workspace &workspace, const ComponentRegistry &registry, QObject *parent)
    : QObject(parent), m_workspace(workspace), m_registry(registry), m_queue(workspace, registry)
{
    m_timer.setInterval(drainMs);
    connect(&m_timer, &QTimer::timeout, this, &JobController::drain);
    connect(&m_queue, &JobQueue::eventsReady, this, [this] {
        if (!m_timer.isActive())
            m_timer.start();
    });
}

Result<QString> JobController::submit(const JobRequest &request)
{
    TW_ASSIGN(job, m_queue.submit(request));
    m_own.insert(job);
    m_pipelines.insert(job, request.pipeline);
    m_states.insert(job, {});
    return job;
}

bool JobController::cancel(const QString &job)
{
    if (job.isEmpty() || !m_own.contains(job))
        return false;
    m_queue.cancel(job);
    return true;
}

void JobController::cancelWaiting()
{
    const QStringList jobs = m_queue.queuedJobs();
    for (const QString &job : jobs)
        m_queue.cancel(job);
}

void JobController::stopAndKeep()
{
    if (!m_queue.runningJob().isEmpty())
        m_queue.stopAndKeep(m_queue.runningJob());
}

bool JobController::isIdle() const
{
    return m_queue.isIdle();
}

void JobController::drain()
{
    const QList<JobEvent> events = m_queue.takeEvents();
    if (events.isEmpty()) {
        if (m_queue.isIdle())
            m_timer.stop();
        return;
    }
    Batch batch;
    for (const JobEvent &event : events)
        handle(event, batch);
    for (const auto &[job, node] : std::as_const(batch.nodes))
        Q_EMIT nodeStatusChanged(job, node);
    for (auto entry = batch.points.cbegin(); entry != batch.points.cend(); ++entry)
        Q_EMIT pointsArrived(entry.key(), entry.value());
    if (batch.figures)
        Q_EMIT figuresChanged();
}

void JobController::handle(const JobEvent &event, Batch &batch)
{
    const QString &job = event.job;
    if (const auto *state = std::get_if<JobStateEvent>(&event.body)) {
        noteJobState(job, state->state);
        batch.figures = true;
        Q_EMIT jobStateChanged(job, state->state);
    } else if (const auto *node = std::get_if<NodeStateEvent>(&event.body)) {
        noteState(job, *node);
        batch.nodes.insert({job, node->node});
        batch.figures = true;
    } else if (const auto *progress = std::get_if<ProgressEvent>(&event.body)) {
        NodeStatus &status = m_states[job][progress->node];
        status.progress = progress->fraction;
        status.progressText = progress->text;
        noteProgress(job, *progress);
        batch.nodes.insert({job, progress->node});
        batch.figures = true;
    } else if (const auto *line = std::get_if<LogEvent>(&event.body)) {
        Q_EMIT lineArrived(job, *line);
    } else if (const auto *metric = std::get_if<MetricEvent>(&event.body)) {
        batch.points[job].append(metric->point);
        noteFigure(job, metric->point);
        batch.figures = true;
    } else if (const auto *failure = std::get_if<ErrorEvent>(&event.body)) {
        if (!failure->error.nodeId.isEmpty()) {
            m_states[job][failure->error.nodeId].runError = failure->error;
            batch.nodes.insert({job, failure->error.nodeId});
        }
        Q_EMIT jobFailed(job, failure->error);
    } else if (const auto *result = std::get_if<ResultEvent>(&event.body)) {
        QJsonObject &results = m_results[job][result->node];
        results.insert(result->key, result->value);
        m_states[job][result->node].result = resultLine(results);
        batch.nodes.insert({job, result->node});
    }
}

/// The status bar shows the job that runs; one that waits, or is taken out of the queue, does not
/// take its place.
void JobController::noteJobState(const QString &job, JobState state)
{
    const bool shownIsActive =
        !m_figures.job.isEmpty() && !isFinal(m_figures.state) && m_figures.state != JobState::Queued;
    if (m_figures.job != job) {
        if (shownIsActive && (state == JobState::Queued || isFinal(state)))
            return;
        m_figures = {};
    }
    m_figures.job = job;
    m_figures.state = state;
}

void JobController::noteState(const QString &job, const NodeStateEvent &event)
{
    NodeStatus &status = m_states[job][event.node];
    status.state = event.state;
    status.stopped = event.stopped;
    if (event.state == NodeState::Running && m_figures.job == job) {
        m_figures.node = event.node;
        m_figures.progress = m_figures.secondsLeft = m_figures.epoch = m_figures.imagesPerSecond = -1;
        m_figures.text.clear();
        m_nodeClock.start();
    }
    if (isFinal(event.state)) {
        status.progress = -1;
        status.progressText.clear();
        if (m_figures.node == event.node)
            m_figures.secondsLeft = -1;
    }
}

void JobController::noteProgress(const QString &job, const ProgressEvent &event)
{
    if (job != m_figures.job || event.node != m_figures.node)
        return;
    m_figures.progress = event.fraction;
    m_figures.text = event.text;
    const double elapsed = double(m_nodeClock.elapsed()) / 1000;
    // Too early a guess would jump about.
    m_figures.secondsLeft = event.fraction > .01 && elapsed > 2 ? elapsed / event.fraction - elapsed : -1;
}

void JobController::noteFigure(const QString &job, const MetricPoint &point)
{
    if (job != m_figures.job || point.rank != 0 || point.node != m_figures.node)
        return;
    if (point.series == u"images_per_second")
        m_figures.imagesPerSecond = point.value;
    m_figures.epoch = qMax(m_figures.epoch, point.epoch);
}

std::optional<Pipeline> JobController::pipeline(const QString &job) const
{
    const auto found = m_pipelines.constFind(job);
    return found == m_pipelines.cend() ? std::nullopt : std::optional(*found);
}

namespace {

struct StoredJob
{
    QHash<QString, NodeStatus> states;
    std::optional<Pipeline> pipeline;
};

StoredJob readStoredJob(const Workspace &workspace, const ComponentRegistry &registry, const QString &job)
{
    StoredJob found;
    const Result<JobRecord> record = workspace.job(job);
    if (!record)
        return found;
    for (const NodeRecord &node : record->nodes) {
        NodeStatus status;
        status.state = node.state;
        status.stopped = node.stopped;
        status.runError = node.error;
        status.result = resultLine(node.results);
        found.states.insert(node.id, status);
    }
    if (const auto loaded = loadPipelineFile(workspace.jobFolder(job) / "pipeline.json", registry); loaded)
        found.pipeline = loaded->pipeline;
    return found;
}

} // namespace

void JobController::loadStates(const QString &job)
{
    if (m_own.contains(job)) {
        Q_EMIT statesLoaded(job);
        return;
    }
    // Read each time: a job of another program may have gone on since.
    auto *watcher = new QFutureWatcher<StoredJob>(this);
    connect(watcher, &QFutureWatcher<StoredJob>::finished, this, [this, watcher, job] {
        watcher->deleteLater();
        const StoredJob found = watcher->result();
        m_states.insert(job, found.states);
        if (found.pipeline)
            m_pipelines.insert(job, *found.pipeline);
        Q_EMIT statesLoaded(job);
    });
    watcher->setFuture(QtConcurrent::run(
        [workspace = &m_workspace, registry = &m_registry, job] { return readStoredJob(*workspace, *registry, job); }));
}

} // namespace tw

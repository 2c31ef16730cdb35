// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/jobqueue.h"

#include "core/base/files.h"
#include "core/base/ids.h"
#include "core/jobs/database.h"
#include "core/jobs/eventbuffer.h"
#include "core/jobs/jobrunner.h"
#include "core/jobs/workspace.h"
#include "core/pipeline/pipelinefile.h"

#include <QDateTime>
#include <QRandomGenerator>
#include <QThread>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <limits>

namespace tw {

namespace {

/// Fills in the seeds that were left empty; a log line for each, by node.
QMap<QString, QStringList> drawSeeds(Pipeline *pipeline, const ComponentRegistry &registry)
{
    QMap<QString, QStringList> notes;
    for (PipelineNode &node : pipeline->nodes) {
        const ComponentType *component = registry.find(node.component);
        if (!component)
            continue;
        for (const ParameterSpec &spec : component->schema.specs()) {
            const bool isSeed =
                spec.kind == ParameterKind::Int && spec.automatic && (spec.id == u"seed" || spec.id.endsWith(u"_seed"));
            if (!isSeed || component->schema.effective(node.parameters).value(spec.id).isValid())
                continue;
            constexpr qlonglong most = std::numeric_limits<qint32>::max();
            const qlonglong low = spec.minimum ? static_cast<qlonglong>(spec.minimum->value) : 0;
            const qlonglong high = spec.maximum ? qMin(most, static_cast<qlonglong>(spec.maximum->value)) : most;
            const qlonglong seed = low + QRandomGenerator::system()->bounded(qMax<qint64>(1, high - low));
            node.parameters.set(spec.id, seed);
            notes[node.id].append(QStringLiteral("%1 was left empty: %2 was drawn").arg(spec.id).arg(seed));
        }
    }
    return notes;
}

Result<void> checkExports(const JobRequest &request, const Plan &plan)
{
    for (auto wish = request.exports.constBegin(); wish != request.exports.constEnd(); ++wish) {
        const PortAddress from = PortAddress::fromText(wish.key());
        const PlanNode *node = plan.find(from.node);
        if (node && node->component->findOutput(from.port))
            continue;
        return makeError(errors::InvalidPipeline,
                         QT_TRANSLATE_NOOP("Error", "There is no output %1 among the nodes that run."), {wish.key()},
                         QT_TRANSLATE_NOOP("Error", "Name an output as NODE.PORT."));
    }
    return {};
}

/// A new folder below jobs/ and its lock.
Result<QString> claimJob(const Workspace &workspace, RunLock *lock)
{
    constexpr int tries = 100;
    for (int i = 0; i < tries; ++i) {
        const QString id = newJobId();
        std::error_code fault;
        if (!fs::create_directory(workspace.jobFolder(id), fault)) {
            if (fault)
                return writeError(workspace.jobFolder(id), fault.value());
            continue;
        }
        TW_ASSIGN(taken, RunLock::acquire(workspace.lockFile(id)));
        *lock = std::move(taken);
        return id;
    }
    return writeError(workspace.folder() / "jobs", EEXIST);
}

JobRecord recordFor(const QString &id, const JobRequest &request, const Plan &plan)
{
    JobRecord record;
    record.id = id;
    record.experiment = request.experiment;
    record.name = request.name.isEmpty() ? request.pipeline.name : request.name;
    record.description = request.description;
    record.tags = request.tags;
    record.state = JobState::Queued;
    record.createdMs = QDateTime::currentMSecsSinceEpoch();
    for (const PlanNode &node : plan.nodes) {
        NodeRecord one;
        one.id = node.id;
        one.component = node.component->id;
        record.nodes.append(one);
    }
    return record;
}

} // namespace

struct JobQueue::Private
{
    Private(JobQueue *queue, Workspace &store, const ComponentRegistry &types)
        : q(queue), workspace(store), registry(types)
    {
    }

    void push(JobEvent event);
    void tellFinished(const QString &job, JobState state);
    void work();
    std::shared_ptr<JobRunner> find(const QString &job) const;
    Result<JobTask> makeTask(const JobRequest &request);

    JobQueue *q;
    Workspace &workspace;
    const ComponentRegistry &registry;
    EventBuffer events;
    std::unique_ptr<QThread> thread;
    mutable std::mutex mutex; ///< guards what follows
    std::condition_variable wake;
    std::deque<std::shared_ptr<JobRunner>> waiting;
    std::shared_ptr<JobRunner> running;
    bool quit = false;
};

void JobQueue::Private::push(JobEvent event)
{
    if (events.push(std::move(event)))
        QMetaObject::invokeMethod(q, &JobQueue::eventsReady, Qt::QueuedConnection);
}

void JobQueue::Private::tellFinished(const QString &job, JobState state)
{
    QMetaObject::invokeMethod(
        q, [this, job, state] { Q_EMIT q->jobFinished(job, state); }, Qt::QueuedConnection);
}

void JobQueue::Private::work()
{
    for (;;) {
        {
            std::unique_lock guard(mutex);
            wake.wait(guard, [this] { return quit || !waiting.empty(); });
            if (quit)
                return;
            running = waiting.front();
            waiting.pop_front();
        }
        const JobState state = running->run();
        const QString job = running->id();
        {
            const std::lock_guard guard(mutex);
            running.reset();
        }
        tellFinished(job, state);
    }
}

std::shared_ptr<JobRunner> JobQueue::Private::find(const QString &job) const
{
    const std::lock_guard guard(mutex);
    return running && running->id() == job ? running : nullptr;
}

Result<JobTask> JobQueue::Private::makeTask(const JobRequest &request)
{
    JobTask task;
    Pipeline pipeline = request.pipeline;
    task.notes = drawSeeds(&pipeline, registry);
    TW_ASSIGN(planned, plan(pipeline, registry, request.upTo));
    TW_TRY(checkExports(request, *planned));
    task.plan = planned;
    task.exports = request.exports;
    task.force = request.force;
    task.pipelineFile = writeEffectivePipeline(pipeline, registry);
    TW_ASSIGN(id, claimJob(workspace, &task.lock));
    task.record = recordFor(id, request, *planned);
    // Synced when the job begins: syncing may take longer than the window can wait.
    std::ofstream(workspace.jobFolder(id) / "pipeline.json", std::ios::binary)
        .write(task.pipelineFile.constData(), task.pipelineFile.size());
    if (const auto stored = workspace.insertJob(task.record); !stored.ok()) {
        std::error_code ignored;
        fs::remove_all(workspace.jobFolder(id), ignored);
        return stored.error();
    }
    return task;
}

JobQueue::JobQueue(Workspace &workspace, const ComponentRegistry &registry, QObject *parent)
    : QObject(parent), d(std::make_unique<Private>(this, workspace, registry))
{
    d->thread.reset(QThread::create([this] {
        d->work();
        closeThreadConnections();
    }));
    d->thread->setObjectName(QStringLiteral("job"));
    d->thread->start();
}

JobQueue::~JobQueue()
{
    const QStringList jobs = queuedJobs();
    for (const QString &job : jobs)
        cancel(job);
    {
        const std::lock_guard guard(d->mutex);
        d->quit = true;
    }
    d->wake.notify_all();
    if (const QString job = runningJob(); !job.isEmpty())
        cancel(job);
    d->thread->wait();
}

Result<QString> JobQueue::submit(const JobRequest &request)
{
    TW_ASSIGN(task, d->makeTask(request));
    const QString id = task.record.id;
    const auto runner = std::make_shared<JobRunner>(d->workspace, std::move(task),
                                                    [this](JobEvent event) { d->push(std::move(event)); });
    d->push({id, JobStateEvent{JobState::Queued}});
    Q_EMIT jobQueued(id);
    {
        const std::lock_guard guard(d->mutex);
        d->waiting.push_back(runner);
    }
    d->wake.notify_all();
    return id;
}

void JobQueue::cancel(const QString &job)
{
    std::shared_ptr<JobRunner> taken;
    {
        const std::lock_guard guard(d->mutex);
        for (auto one = d->waiting.begin(); one != d->waiting.end() && !taken; ++one)
            if ((*one)->id() == job) {
                taken = *one;
                d->waiting.erase(one);
                break;
            }
    }
    if (taken) {
        taken->abandon();
        d->tellFinished(job, JobState::Canceled);
    } else if (const auto runner = d->find(job)) {
        runner->cancel();
    }
}

void JobQueue::stopAndKeep(const QString &job)
{
    if (const auto runner = d->find(job))
        runner->stopAndKeep();
}

void JobQueue::interrupt(const QString &job)
{
    if (const auto runner = d->find(job))
        runner->interrupt();
    else
        cancel(job);
}

QString JobQueue::runningJob() const
{
    const std::lock_guard guard(d->mutex);
    return d->running ? d->running->id() : QString();
}

bool JobQueue::isTraining() const
{
    const std::lock_guard guard(d->mutex);
    return d->running && d->running->isTraining();
}

QStringList JobQueue::queuedJobs() const
{
    const std::lock_guard guard(d->mutex);
    QStringList ids;
    for (const auto &runner : d->waiting)
        ids.append(runner->id());
    return ids;
}

bool JobQueue::isIdle() const
{
    const std::lock_guard guard(d->mutex);
    return !d->running && d->waiting.empty();
}

QList<JobEvent> JobQueue::takeEvents()
{
    return d->events.take();
}

qint64 JobQueue::droppedEvents() const
{
    return d->events.dropped();
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/jobrunner.h"

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/startup.h"
#include "core/jobs/environment.h"
#include "core/jobs/guarded.h"
#include "core/jobs/nodekey.h"
#include "core/jobs/outputfolders.h"
#include "core/jobs/outputrecord.h"

#include <QDateTime>

#include <algorithm>

namespace tw {

namespace {

bool trains(const ComponentType &component)
{
    const auto has = [](const QList<PortSpec> &ports, DataType type) {
        return std::any_of(ports.begin(), ports.end(), [type](const PortSpec &port) { return port.type == type; });
    };
    return has(component.inputs, DataType::UntrainedModelDirectory) && has(component.outputs, DataType::ModelDirectory);
}

} // namespace

JobRunner::JobRunner(Workspace &workspace, JobTask task, std::function<void(JobEvent)> sink)
    : m_workspace(workspace), m_task(std::move(task)), m_sink(std::move(sink))
{
}

JobState JobRunner::run()
{
    setState(JobState::Preparing);
    if (prepare()) {
        setState(JobState::Running);
        runNodes();
    }
    setState(JobState::Finalizing);
    if (!m_stop.cancel)
        exportOutputs();
    return close();
}

void JobRunner::abandon()
{
    m_stop.cancel = true;
    m_storeTries = 1; // the caller may be the window's thread
    close();
}

Result<void> JobRunner::writeJobFiles()
{
    const fs::path folder = m_workspace.jobFolder(id());
    TW_TRY(makeFolder(folder / "nodes"));
    TW_TRY(writeFileAtomically(folder / "pipeline.json", m_task.pipelineFile));
    return writeFileAtomically(folder / "environment.json", jsonCompact(describeEnvironment()) + '\n');
}

Result<PreflightOutcome> JobRunner::lookAtEverything()
{
    return guarded<PreflightOutcome>([this]() -> Result<PreflightOutcome> {
        return preflight(*m_task.plan, &m_stop, false, m_workspace.cacheFolder());
    });
}

bool JobRunner::prepare()
{
    if (const auto written = writeJobFiles(); !written.ok())
        fail(written.error());
    if (const auto free = checkExportTargets(m_task.exports); !free.ok())
        fail(free.error());
    auto outcome = lookAtEverything();
    if (m_stop.cancel)
        return false;
    if (!outcome.ok())
        fail(outcome.error());
    const QList<Error> faults = outcome.ok() ? outcome->errors : QList<Error>();
    for (const Error &error : faults) {
        const bool known = m_task.plan->find(error.nodeId) != nullptr;
        if (known && recordOf(error.nodeId).state != NodeState::Failed) {
            logFault(error);
            failNode(recordOf(error.nodeId), error);
        } else
            fail(error);
    }
    if (outcome.ok())
        m_facts = std::move(outcome->replies);
    return !m_error;
}

/// Before the node runs there is no context that would write its log.
void JobRunner::logFault(const Error &error)
{
    const fs::path folder = m_workspace.nodeFolder(id(), error.nodeId);
    if (!makeFolder(folder / "logs").ok())
        return; // error_info.json and the store say it too
    NodeFiles files(folder);
    for (const QString &line : {error.toString(), error.hintSentence()}) {
        if (line.isEmpty())
            continue;
        (void)files.log(LogLevel::Error, line).ok();
        emitEvent(LogEvent{error.nodeId, 0, LogLevel::Error, line, false});
    }
}

void JobRunner::runNodes()
{
    {
        const std::lock_guard guard(m_mutex);
        m_runsNodes = true;
    }
    QList<NodeRecord *> all;
    for (NodeRecord &record : m_task.record.nodes)
        all.append(&record);
    setNodeStates(all, NodeState::Queued);
    for (int i = 0; i < m_task.plan->nodes.size(); ++i)
        runNode(i);
}

bool JobRunner::isStopping() const
{
    const std::lock_guard guard(m_mutex);
    return m_stop.cancel || m_interrupted;
}

bool JobRunner::inputFailed(const PlanNode &node) const
{
    return std::any_of(node.inputs.begin(), node.inputs.end(), [this](const PortAddress &from) {
        const NodeState state = recordOf(from.node).state;
        return state != NodeState::Completed && state != NodeState::Reused;
    });
}

void JobRunner::runNode(int index)
{
    const PlanNode &node = m_task.plan->nodes[index];
    NodeRecord &record = m_task.record.nodes[index];
    if (isStopping())
        return setNodeState(record, NodeState::Canceled);
    if (inputFailed(node))
        return setNodeState(record, NodeState::Skipped);
    const auto inputs = inputsOf(node);
    if (!inputs.ok())
        return failNode(record, inputs.error());
    QMap<QString, QByteArray> inputKeys;
    for (auto input = node.inputs.constBegin(); input != node.inputs.constEnd(); ++input)
        inputKeys.insert(input.key(), m_keys.value(input->node));
    const QByteArray key = nodeKey(node, m_facts.value(node.id), inputKeys, &m_stop);
    m_keys.insert(node.id, key);
    record.key = QString::fromLatin1(key);
    const bool fedAnew = std::any_of(node.inputs.begin(), node.inputs.end(),
                                     [this](const PortAddress &from) { return m_anew.contains(from.node); });
    if (fedAnew)
        m_anew.insert(node.id);
    if (m_task.force || fedAnew || readsAddress(node) || !reuse(node, record))
        execute(node, record, *inputs);
    // What was made from a part of a training must not stand for what the whole one gives.
    if (!record.stopped.isEmpty())
        m_keys.remove(node.id);
}

Result<QMap<QString, PortValue>> JobRunner::inputsOf(const PlanNode &node) const
{
    QMap<QString, PortValue> values;
    for (auto input = node.inputs.constBegin(); input != node.inputs.constEnd(); ++input) {
        if (!recordOf(input->node).outputs.contains(input->port))
            return makeError(errors::InvalidPipeline,
                             QT_TRANSLATE_NOOP("Error", "The output %1, which the input %2 needs, was left empty."),
                             {input->toText(), input.key()},
                             QT_TRANSLATE_NOOP("Error", "Connect the input to an output that has something in it."));
        const auto object = m_objects.find({input->node, input->port});
        values.insert(input.key(), {m_workspace.outputFolder(id(), input->node, input->port),
                                    object == m_objects.end() ? std::any() : object->second});
    }
    return values;
}

void JobRunner::execute(const PlanNode &node, NodeRecord &record, const QMap<QString, PortValue> &inputs)
{
    StopToken stop;
    {
        const std::lock_guard guard(m_mutex);
        stop.cancel = m_stop.cancel || m_interrupted;
        m_nodeStop = &stop;
        m_runningNode = node.id;
        m_nodeTrains = trains(*node.component);
    }
    Result<void> outcome = makeFolder(m_workspace.nodeFolder(id(), node.id) / "logs");
    setNodeState(record, NodeState::Running);
    NodeRunContext context(m_workspace, id(), record, stop, [this](JobEventBody body) { emitEvent(std::move(body)); });
    if (outcome.ok())
        outcome = attempt(node, record, inputs, context, stop);
    bool canceled = false;
    {
        const std::lock_guard guard(m_mutex);
        m_nodeStop = nullptr;
        m_runningNode.clear();
        canceled = !outcome.ok() && (m_stop.cancel || (m_interrupted && !m_nodeTrains));
    }
    if (outcome.ok())
        return setNodeState(record, NodeState::Completed);
    context.log(canceled ? LogLevel::Info : LogLevel::Error,
                canceled ? QStringLiteral("Canceled") : outcome.error().toString());
    if (!canceled && !outcome.error().hint.isEmpty())
        context.log(LogLevel::Error, outcome.error().hintSentence());
    (void)context.finish().ok();
    if (canceled) {
        record.stopped.clear(); // it may have been stopped to be kept, and canceled after that
        setNodeState(record, NodeState::Canceled);
    } else {
        failNode(record, outcome.error());
    }
}

/// From the first log line to the listed outputs.
Result<void> JobRunner::attempt(const PlanNode &node, NodeRecord &record, const QMap<QString, PortValue> &inputs,
                                NodeRunContext &context, StopToken &stop)
{
    const QStringList notes = m_task.notes.value(node.id);
    for (const QString &line : notes)
        context.log(LogLevel::Info, line);
    const QStringList warnings = m_facts.value(node.id).warnings;
    for (const QString &line : warnings)
        context.log(LogLevel::Warning, line);
    OutputFolders folders;
    TW_TRY(folders.open(m_workspace, id(), node.id, *node.component));
    RunRequest request{node.values, inputs, folders.temporary(), context};
    const auto reply = guarded<RunReply>([&] { return node.component->run(request); });
    TW_TRY(context.finish());
    if (!reply.ok())
        return reply.error();
    if (stop.cancel)
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The node was canceled."));
    TW_ASSIGN(listed, folders.commit(*reply));
    record.outputs = listed;
    for (auto object = reply->objects.constBegin(); object != reply->objects.constEnd(); ++object)
        m_objects[{node.id, object.key()}] = *object;
    return {};
}

bool JobRunner::reuse(const PlanNode &node, NodeRecord &record)
{
    const auto sources = m_workspace.reusableNodes(record.key, id());
    for (const auto &[jobId, nodeId] : sources) {
        const auto job = m_workspace.job(jobId);
        if (!job.ok())
            continue;
        const auto from =
            std::find_if(job->nodes.begin(), job->nodes.end(), [&](const NodeRecord &one) { return one.id == nodeId; });
        if (from == job->nodes.end())
            continue;
        record.startedMs = QDateTime::currentMSecsSinceEpoch();
        if (const auto linked = linkOutputs(m_workspace, job->id, *from, id(), node.id); linked.ok()) {
            takeOver(record, *job, *from);
            return true;
        } else {
            m_anew.insert(node.id);
            m_task.notes[node.id].append(
                QStringLiteral("Not reused from job %1: %2").arg(job->id, linked.error().sentence()));
        }
    }
    return false;
}

void JobRunner::takeOver(NodeRecord &record, const JobRecord &job, const NodeRecord &from)
{
    m_anew.remove(record.id);
    record.outputs = from.outputs;
    record.results = from.results;
    record.reusedFrom = job.id;
    copyCurves(m_workspace, job.id, from.id, id(), record.id);
    for (auto result = record.results.constBegin(); result != record.results.constEnd(); ++result)
        emitEvent(ResultEvent{record.id, result.key(), *result});
    QStringList lines = m_task.notes.value(record.id);
    lines.append(QStringLiteral("Reused from job %1 (node %2)").arg(job.id, from.id));
    const fs::path folder = m_workspace.nodeFolder(id(), record.id);
    // A log that cannot be written is no reason to run a finished node again.
    if (makeFolder(folder / "logs").ok()) {
        NodeFiles files(folder);
        for (const QString &line : std::as_const(lines)) {
            (void)files.log(LogLevel::Info, line).ok();
            emitEvent(LogEvent{record.id, 0, LogLevel::Info, line, false});
        }
    }
    setNodeState(record, NodeState::Reused);
}

void JobRunner::exportOutputs()
{
    for (auto wish = m_task.exports.constBegin(); wish != m_task.exports.constEnd(); ++wish)
        if (const auto done = exportOutput(PortAddress::fromText(wish.key()), *wish); !done.ok())
            fail(done.error());
}

Result<void> JobRunner::exportOutput(const PortAddress &from, const fs::path &target)
{
    const NodeRecord &record = recordOf(from.node);
    const bool finished = record.state == NodeState::Completed || record.state == NodeState::Reused;
    if (!finished)
        return {};
    if (!record.outputs.contains(from.port))
        return makeError(
            errors::FailedToWriteOutputs,
            QT_TRANSLATE_NOOP("Error", "The output %1 was left empty and cannot be exported."), {from.toText()},
            QT_TRANSLATE_NOOP("Error", "Export another output, or look at the node's log for the reason."));
    TW_TRY(checkOutputs(m_workspace.nodeFolder(id(), from.node), {from.port}));
    return exportFolder(m_workspace.outputFolder(id(), from.node, from.port), target);
}

JobState JobRunner::close()
{
    JobState state = JobState::Completed;
    {
        const std::lock_guard guard(m_mutex);
        m_closing = true;
        if (m_stop.cancel || m_interrupted)
            state = JobState::Canceled;
        else if (m_error)
            state = JobState::Failed;
    }
    QList<NodeRecord *> rest;
    for (NodeRecord &record : m_task.record.nodes)
        if (!isFinal(record.state))
            rest.append(&record);
    setNodeStates(rest, state == JobState::Canceled ? NodeState::Canceled : NodeState::Skipped);
    m_objects.clear();
    returnFreeMemory();
    if (const auto stored = storeEnd(state); !stored.ok()) {
        emitEvent(ErrorEvent{stored.error()});
        state = JobState::Failed;
    }
    // Whoever hears of the end may delete the job at once.
    m_task.lock.release();
    emitEvent(JobStateEvent{state});
    return state;
}

/// Not stored: the caller may be the window's thread, and a batch later the job is Canceled anyway.
void JobRunner::cancel()
{
    const std::lock_guard guard(m_mutex);
    if (m_closing || m_stop.cancel.exchange(true))
        return;
    if (m_nodeStop) {
        m_nodeStop->cancel = true;
        emitEvent(NodeStateEvent{m_runningNode, NodeState::CancelRequested, {}});
    }
    emitEvent(JobStateEvent{JobState::CancelRequested});
}

void JobRunner::stopAndKeep()
{
    const std::lock_guard guard(m_mutex);
    if (m_nodeStop)
        m_nodeStop->stopAndKeep = true;
}

bool JobRunner::isTraining() const
{
    const std::lock_guard guard(m_mutex);
    return m_nodeStop && m_nodeTrains;
}

void JobRunner::interrupt()
{
    {
        const std::lock_guard guard(m_mutex);
        if (m_closing)
            return;
        const bool again = std::exchange(m_interrupted, true);
        if (!again && m_nodeStop)
            (m_nodeTrains ? m_nodeStop->stopAndKeep : m_nodeStop->cancel) = true;
        if (!again && m_runsNodes)
            return;
    }
    cancel();
}

} // namespace tw

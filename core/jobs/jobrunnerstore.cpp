// SPDX-License-Identifier: GPL-3.0-or-later
// What a running job leaves in the store.
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/jobs/jobrunner.h"

#include <QDateTime>

#include <algorithm>

namespace tw {

static void writeErrorInfo(const fs::path &folder, const Error &error)
{
    // Where even this cannot be written, the store and the events still have the error.
    if (makeFolder(folder).ok())
        (void)writeFileAtomically(folder / "error_info.json", jsonCompact(error.toJson()) + '\n').ok();
}

/// The nodes before the state: whoever reads a final state finds the outputs listed. Another program
/// may hold the store for a while; a finished training is worth the wait.
Result<void> JobRunner::storeEnd(JobState state)
{
    Result<void> stored;
    for (int i = 0; i < m_storeTries; ++i) {
        stored = storeNodes();
        if (stored.ok() && m_error)
            stored = m_workspace.setJobError(id(), *m_error);
        if (stored.ok())
            stored = m_workspace.setJobState(id(), state);
        if (stored.ok())
            break;
    }
    return stored;
}

NodeRecord &JobRunner::recordOf(const QString &node)
{
    return const_cast<NodeRecord &>(std::as_const(*this).recordOf(node));
}

const NodeRecord &JobRunner::recordOf(const QString &node) const
{
    const auto &nodes = m_task.record.nodes;
    const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const NodeRecord &one) { return one.id == node; });
    Q_ASSERT(found != nodes.end());
    return *found;
}

void JobRunner::fail(Error error)
{
    emitEvent(ErrorEvent{error});
    if (m_error)
        return;
    m_error = error;
    writeErrorInfo(m_workspace.jobFolder(id()), error);
    (void)m_workspace.setJobError(id(), error).ok(); // storeEnd() writes it again
}

void JobRunner::failNode(NodeRecord &record, Error error)
{
    error.nodeId = record.id;
    record.error = error;
    record.outputs.clear();
    writeErrorInfo(m_workspace.nodeFolder(id(), record.id), error);
    fail(std::move(error));
    setNodeState(record, NodeState::Failed);
}

void JobRunner::setState(JobState state)
{
    {
        const std::lock_guard guard(m_mutex);
        if (m_stop.cancel)
            return;
        emitEvent(JobStateEvent{state});
    }
    (void)m_workspace.setJobState(id(), state).ok(); // only the last one matters
}

void JobRunner::setNodeStates(const QList<NodeRecord *> &records, NodeState state)
{
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    for (NodeRecord *record : records) {
        record->state = state;
        if (state == NodeState::Running)
            record->startedMs = now;
        if (isFinal(state) && record->startedMs != 0)
            record->finishedMs = now;
        m_unstored.insert(record->id);
    }
    // A store that another program holds must not end a training: what fails now is stored later.
    (void)storeNodes().ok();
    for (const NodeRecord *record : records)
        emitEvent(NodeStateEvent{record->id, state, record->stopped});
}

Result<void> JobRunner::storeNodes()
{
    QList<NodeRecord> waiting;
    for (const QString &node : std::as_const(m_unstored))
        waiting.append(recordOf(node));
    if (waiting.isEmpty())
        return {};
    TW_TRY(m_workspace.updateNodes(id(), waiting));
    m_unstored.clear();
    return {};
}

} // namespace tw

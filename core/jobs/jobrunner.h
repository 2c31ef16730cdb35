// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobqueue.h"
#include "core/jobs/noderuncontext.h"
#include "core/jobs/runlock.h"
#include "core/jobs/workspace.h"

#include <QSet>

#include <any>
#include <functional>
#include <map>
#include <mutex>

namespace tw {

/// A job that was submitted: stored, its lock held.
struct JobTask
{
    JobRecord record;
    std::shared_ptr<const Plan> plan;
    QMap<QString, fs::path> exports;
    QMap<QString, QStringList> notes; ///< node → lines for its log (drawn seeds)
    QByteArray pipelineFile;          ///< every effective value
    bool force = false;
    RunLock lock;
};

/// Runs one job, node after node, on the calling thread; requests come from any thread.
class JobRunner
{
public:
    JobRunner(Workspace &workspace, JobTask task, std::function<void(JobEvent)> sink);

    const QString &id() const { return m_task.record.id; }
    /// Everything from Preparing to the final state. Once; the lock is free afterwards.
    JobState run();
    /// Instead of run(), for a job that is taken out of the queue: all Canceled.
    void abandon();

    void cancel();
    void stopAndKeep();
    void interrupt();
    /// The node that runs can be stopped and kept.
    bool isTraining() const;

private:
    bool prepare();
    Result<void> writeJobFiles();
    Result<PreflightOutcome> lookAtEverything();
    void runNodes();
    void runNode(int index);
    Result<QMap<QString, PortValue>> inputsOf(const PlanNode &node) const;
    bool reuse(const PlanNode &node, NodeRecord &record);
    void takeOver(NodeRecord &record, const JobRecord &job, const NodeRecord &from);
    void execute(const PlanNode &node, NodeRecord &record, const QMap<QString, PortValue> &inputs);
    Result<void> attempt(const PlanNode &node, NodeRecord &record, const QMap<QString, PortValue> &inputs,
                         NodeRunContext &context, StopToken &stop);
    void exportOutputs();
    Result<void> exportOutput(const PortAddress &from, const fs::path &target);
    JobState close();

    bool isStopping() const;
    bool inputFailed(const PlanNode &node) const;
    NodeRecord &recordOf(const QString &node);
    const NodeRecord &recordOf(const QString &node) const;
    void fail(Error error);
    void logFault(const Error &error);
    void failNode(NodeRecord &record, Error error);
    void setState(JobState state);
    void setNodeState(NodeRecord &record, NodeState state) { setNodeStates({&record}, state); }
    void setNodeStates(const QList<NodeRecord *> &records, NodeState state);
    Result<void> storeNodes();
    Result<void> storeEnd(JobState state);
    void emitEvent(JobEventBody body) { m_sink({id(), std::move(body)}); }

    Workspace &m_workspace;
    JobTask m_task;
    const std::function<void(JobEvent)> m_sink;
    QMap<QString, PreflightReply> m_facts;
    QMap<QString, QByteArray> m_keys;
    QSet<QString> m_anew; ///< run although an earlier job had them (damaged there), and what they feed
    std::map<std::pair<QString, QString>, std::any> m_objects; ///< by node and port
    std::optional<Error> m_error;                              ///< the first one
    QSet<QString> m_unstored;                                  ///< nodes that the store has not taken yet
    int m_storeTries = 6;                                      ///< of the end, 5 s each

    mutable std::mutex m_mutex;      ///< guards what follows
    StopToken m_stop;                ///< of the job; nodes have their own
    StopToken *m_nodeStop = nullptr; ///< of the node that runs
    QString m_runningNode;
    bool m_nodeTrains = false;
    bool m_runsNodes = false; ///< past Preparing
    bool m_interrupted = false;
    bool m_closing = false;
};

} // namespace tw

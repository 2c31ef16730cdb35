// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files.h"
#include "core/component/componenttype.h"
#include "core/jobs/workspace.h"

#include <map>
#include <memory>

namespace tw {

/// The output folders of a node that runs: written beside their places, listed together or not at all.
class OutputFolders
{
public:
    /// FailedToWriteOutputsError.
    Result<void> open(const Workspace &workspace, const QString &job, const QString &node,
                      const ComponentType &component);
    /// Port → folder to write into.
    QMap<QString, fs::path> temporary() const;
    /// Syncs, renames and records what was written (outputrecord.h). Ports that were left empty and
    /// have no object are not listed. The listed ports, in the component's order.
    Result<QStringList> commit(const RunReply &reply);

private:
    struct Port
    {
        QString id;
        fs::path destination;
        std::unique_ptr<AtomicFolder> folder;
    };
    std::vector<Port> m_ports;
    fs::path m_node;
};

/// Copies the outputs of a node as hard links (as bytes where links fail), whole or not at all.
/// FailedToWriteOutputsError when the outputs are not as they were recorded (checkOutputs()).
Result<void> linkOutputs(const Workspace &workspace, const QString &fromJob, const NodeRecord &from,
                         const QString &toJob, const QString &toNode);

/// metrics.jsonl and series of a reused node, so that its curves show in the new job too. Best effort.
void copyCurves(Workspace &workspace, const QString &fromJob, const QString &fromNode, const QString &toJob,
                const QString &toNode);

/// Before anything runs: FailedToWriteOutputsError when two of the export targets ("node.port" →
/// folder) are one folder or one lies in another, when one exists and is not an empty folder, or
/// when nothing can be written there.
Result<void> checkExportTargets(const QMap<QString, fs::path> &exports);
/// A copy of its own, atomically; the same errors for this one target.
Result<void> exportFolder(const fs::path &folder, const fs::path &target);

} // namespace tw

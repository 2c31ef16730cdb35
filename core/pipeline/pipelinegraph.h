// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/pipeline/pipeline.h"

#include <QHash>

#include <vector>

namespace tw {

/// Who feeds whom, by position in Pipeline::nodes. Wires of absent nodes are left out; of nodes
/// with one id the first counts.
class PipelineGraph
{
public:
    explicit PipelineGraph(const Pipeline &pipeline);

    /// -1 when there is no such node.
    int indexOf(const QString &nodeId) const { return m_index.value(nodeId, -1); }
    /// Disjoint cycles, each along its wires, starting at its first node.
    QList<QList<int>> cycles() const;
    /// True when `to` is `from` or is fed by it, near or far.
    bool reaches(int from, int to) const;
    /// `node` and all that it needs, marked; sized as the nodes.
    std::vector<bool> neededBy(const QList<int> &nodes) const;
    /// The nodes of `chosen`, each after those that feed it, the earliest in the pipeline first.
    /// Everything they need must be chosen or be in `done`. No cycles.
    QList<int> ordered(const std::vector<bool> &chosen, const std::vector<bool> &done) const;

private:
    size_t size() const { return m_before.size(); }
    std::vector<QList<int>> m_before; ///< producers of each node, one entry a wire
    std::vector<QList<int>> m_after;  ///< consumers of each node, one entry a wire
    QHash<QString, int> m_index;
};

} // namespace tw

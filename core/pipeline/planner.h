// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/pipeline/pipeline.h"

#include <memory>

namespace tw {

struct PlanNode
{
    QString id;
    const ComponentType *component = nullptr;
    ParameterValues values;            ///< effective
    QMap<QString, PortAddress> inputs; ///< input port → producing node and port
};

/// Immutable snapshot: nodes in an order in which every input is made before it is used; nodes
/// that are independent keep the pipeline's order. Training nodes come as early as possible.
struct Plan
{
    Pipeline pipeline;
    QList<PlanNode> nodes;
    const PlanNode *find(const QString &nodeId) const;
};

/// `upTo` empty: the whole pipeline; else those nodes and what they need. The first error of
/// validate() when the pipeline has faults.
Result<std::shared_ptr<const Plan>> plan(const Pipeline &pipeline, const ComponentRegistry &registry,
                                         const QStringList &upTo = {});

/// Runs every node's preflight in plan order, passing facts along the wires; all faults at once.
/// Slow (lists folders): never on the GUI thread.
struct PreflightOutcome
{
    QList<Error> errors;
    QMap<QString, PreflightReply> replies; ///< by node id
};
PreflightOutcome preflight(const Plan &plan, const StopToken *stop = nullptr, bool mayBeRecent = false,
                           const fs::path &cacheFolder = {});

} // namespace tw

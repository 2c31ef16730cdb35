// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/planner.h"
#include "core/pipeline/pipelineparameters.h"

#include "core/component/emptyport.h"
#include "core/pipeline/pipelinegraph.h"
#include "core/pipeline/validator.h"

#include <algorithm>
#include <exception>

namespace tw {

const PlanNode *Plan::find(const QString &nodeId) const
{
    const auto it = std::find_if(nodes.begin(), nodes.end(), [&](const PlanNode &node) { return node.id == nodeId; });
    return it == nodes.end() ? nullptr : &*it;
}

static bool isTraining(const ComponentType &type)
{
    const auto has = [](const QList<PortSpec> &ports, DataType wanted) {
        return std::any_of(ports.begin(), ports.end(), [=](const PortSpec &port) { return port.type == wanted; });
    };
    return has(type.inputs, DataType::UntrainedModelDirectory) && has(type.outputs, DataType::ModelDirectory);
}

static Result<QList<int>> targets(const Pipeline &pipeline, const PipelineGraph &graph, const QStringList &upTo)
{
    QList<int> nodes;
    for (const QString &id : upTo) {
        if (graph.indexOf(id) < 0) {
            return makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "There is no node '%1' to run up to."),
                             {id, orderedNodeIds(pipeline).join(QStringLiteral(", "))},
                             QT_TRANSLATE_NOOP("Error", "Nodes are: %2."));
        }
        nodes.append(graph.indexOf(id));
    }
    for (int i = 0; upTo.isEmpty() && i < int(pipeline.nodes.size()); ++i)
        nodes.append(i);
    return nodes;
}

/// What each training node needs comes first, so that training starts as early as it can.
static QList<int> runningOrder(const Pipeline &pipeline, const PipelineGraph &graph, const ComponentRegistry &registry,
                               const QList<int> &wanted)
{
    const std::vector<bool> chosen = graph.neededBy(wanted);
    std::vector<bool> done(chosen.size());
    QList<int> order;
    const auto take = [&](const std::vector<bool> &nodes) {
        const QList<int> next = graph.ordered(nodes, done);
        for (const int node : next)
            done[static_cast<size_t>(node)] = true;
        order += next;
    };
    for (const int node : graph.ordered(chosen, done)) {
        if (isTraining(*registry.find(pipeline.nodes[node].component)))
            take(graph.neededBy({node}));
    }
    take(chosen);
    return order;
}

static PlanNode planNode(const Pipeline &pipeline, const PipelineNode &node, const ComponentType &type)
{
    PlanNode planned{node.id, &type, type.schema.effective(node.parameters), {}};
    for (const ParameterSpec &spec : type.schema.specs()) {
        if (const auto normal = spec.check(planned.values.value(spec.id)); normal.ok())
            planned.values.set(spec.id, *normal);
    }
    for (const PortSpec &port : type.inputs) {
        if (const PipelineConnection *wire = pipeline.into({node.id, port.id}))
            planned.inputs.insert(port.id, wire->from);
    }
    return planned;
}

Result<std::shared_ptr<const Plan>> plan(const Pipeline &pipeline, const ComponentRegistry &registry,
                                         const QStringList &upTo)
{
    if (const QList<Error> faults = validate(pipeline, registry); !faults.isEmpty())
        return faults.first();
    const PipelineGraph graph(pipeline);
    TW_ASSIGN(wanted, targets(pipeline, graph, upTo));
    auto made = std::make_shared<Plan>();
    made->pipeline = pipeline;
    for (const int index : runningOrder(pipeline, graph, registry, wanted)) {
        const PipelineNode &node = pipeline.nodes[index];
        made->nodes.append(planNode(pipeline, node, *registry.find(node.component)));
    }
    return std::shared_ptr<const Plan>(std::move(made));
}

/// The one place where an exception of a library below a component's preflight becomes an Error.
static PreflightReply guardedPreflight(const ComponentType &type, const PreflightRequest &request)
{
    if (!type.preflight)
        return {};
    QString reason;
    try {
        return type.preflight(request);
    } catch (const std::exception &failure) {
        reason = QString::fromLocal8Bit(failure.what());
    } catch (...) {
        reason = QStringLiteral("unknown exception");
    }
    PreflightReply reply;
    reply.errors.append(makeError(errors::Library, QT_TRANSLATE_NOOP("Error", "The check of '%1' failed: %2."),
                                  {type.id, reason},
                                  QT_TRANSLATE_NOOP("Error", "Look at the log and check the node's parameters.")));
    return reply;
}

/// An output that a run will leave empty is an error of its node as soon as something needs it.
static void reportEmptyPorts(const PlanNode &node, const QMap<PortAddress, PortFacts> &facts, QList<Error> &errors)
{
    for (const PortAddress &from : node.inputs) {
        auto reason = emptyReason(facts.value(from));
        if (!reason)
            continue;
        reason->nodeId = from.node;
        if (!errors.contains(*reason))
            errors.append(*reason);
    }
}

PreflightOutcome preflight(const Plan &plan, const StopToken *stop, bool mayBeRecent, const fs::path &cacheFolder)
{
    PreflightOutcome outcome;
    QMap<PortAddress, PortFacts> facts;
    for (const PlanNode &node : plan.nodes) {
        if (stop != nullptr && stop->cancel.load(std::memory_order_relaxed)) {
            outcome.errors.append(
                makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The checks were canceled.")).atNode(node.id));
            break;
        }
        PreflightRequest request{node.values, {}, stop, mayBeRecent, cacheFolder};
        for (auto it = node.inputs.cbegin(); it != node.inputs.cend(); ++it)
            request.inputs.insert(it.key(), facts.value(it.value()));
        reportEmptyPorts(node, facts, outcome.errors);
        PreflightReply reply = guardedPreflight(*node.component, request);
        for (Error &error : reply.errors) {
            if (error.nodeId.isEmpty())
                error.nodeId = node.id;
            outcome.errors.append(error);
        }
        for (auto it = reply.outputs.cbegin(); it != reply.outputs.cend(); ++it)
            facts.insert({node.id, it.key()}, it.value());
        outcome.replies.insert(node.id, std::move(reply));
    }
    return outcome;
}

} // namespace tw

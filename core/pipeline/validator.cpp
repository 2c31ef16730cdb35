// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/validator.h"

#include "core/base/ids.h"
#include "core/base/nearest.h"
#include "core/pipeline/pipelinegraph.h"
#include "core/pipeline/pipelineparameters.h"

namespace tw {

namespace {

const char *const idFormHint = QT_TRANSLATE_NOOP("Error", "An id starts with a letter a–z and goes on with up to 62 "
                                                          "letters a–z, digits or '_'.");

Error missingPort(const PortAddress &address, const QList<PortSpec> &ports, const char *text)
{
    QStringList ids;
    for (const PortSpec &port : ports)
        ids.append(port.id);
    const char *hint = ids.isEmpty() ? QT_TRANSLATE_NOOP("Error", "The component has none on that side.")
                                     : QT_TRANSLATE_NOOP("Error", "Those it has: %3.");
    return makeError(errors::InvalidPipeline, text, {address.port, address.node, ids.join(QStringLiteral(", "))}, hint)
        .atNode(address.node);
}

Error missingNode(const QString &id, const PipelineConnection &connection, const QSet<QString> &known)
{
    const QString nearest = nearestText(id, known.values());
    const char *hint = nearest.isEmpty()
                           ? QT_TRANSLATE_NOOP("Error", "Remove the connection or correct the id.")
                           : QT_TRANSLATE_NOOP("Error", "Did you mean '%4'? Otherwise remove the connection.");
    return makeError(
        errors::InvalidPipeline,
        QT_TRANSLATE_NOOP("Error", "The connection from '%1' to '%2' names node '%3', which does not exist."),
        {connection.from.toText(), connection.to.toText(), id, nearest}, hint);
}

Error typeMismatch(const PipelineConnection &connection, DataType given, DataType taken)
{
    return makeError(errors::InvalidPipeline,
                     QT_TRANSLATE_NOOP("Error", "Output '%1' of '%2' gives %3; input '%4' of '%5' takes %6."),
                     {connection.from.port, connection.from.node, dataTypeName(given), connection.to.port,
                      connection.to.node, dataTypeName(taken)},
                     QT_TRANSLATE_NOOP("Error", "Connect ports of the same type only."))
        .atNode(connection.to.node);
}

Error cycleError(const QStringList &ids)
{
    return makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "The connections form a cycle: %1."),
                     {(ids + QStringList{ids.front()}).join(QStringLiteral(" → "))},
                     QT_TRANSLATE_NOOP("Error", "Remove one of these connections."))
        .atNode(ids.front());
}

/// Port faults of one wire whose nodes exist. Nodes of an unknown component have no known ports.
std::optional<Error> portFault(const PipelineConnection &connection, const ComponentType *source,
                               const ComponentType *target)
{
    const PortSpec *output = source ? source->findOutput(connection.from.port) : nullptr;
    const PortSpec *input = target ? target->findInput(connection.to.port) : nullptr;
    if (source && !output)
        return missingPort(connection.from, source->outputs,
                           QT_TRANSLATE_NOOP("Error", "There is no output '%1' on node '%2'."));
    if (target && !input)
        return missingPort(connection.to, target->inputs,
                           QT_TRANSLATE_NOOP("Error", "There is no input '%1' on node '%2'."));
    if (output && input && output->type != input->type)
        return typeMismatch(connection, output->type, input->type);
    return std::nullopt;
}

class Validator
{
public:
    Validator(const Pipeline &pipeline, const ComponentRegistry &registry)
        : m_pipeline(pipeline), m_registry(registry), m_graph(pipeline)
    {
        for (const PipelineConnection &connection : pipeline.connections)
            ++m_wiresInto[connection.to];
    }

    QList<Error> run()
    {
        if (m_pipeline.nodes.isEmpty())
            m_faults.append(makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "The pipeline is empty."), {},
                                      QT_TRANSLATE_NOOP("Error", "Add a component from the palette.")));
        QSet<QString> seen;
        for (const PipelineNode &node : m_pipeline.nodes) {
            checkId(node, seen);
            checkComponent(node);
        }
        for (const PipelineConnection &connection : m_pipeline.connections)
            checkConnection(connection);
        checkSharedInputs();
        m_faults += checkPipelineParameters(m_pipeline, m_registry);
        for (const QList<int> &cycle : m_graph.cycles()) {
            QStringList ids;
            for (const int node : cycle)
                ids.append(m_pipeline.nodes[node].id);
            m_faults.append(cycleError(ids));
        }
        return m_faults;
    }

private:
    void checkId(const PipelineNode &node, QSet<QString> &seen)
    {
        if (!isNodeId(node.id))
            m_faults.append(makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "'%1' is not a node id."),
                                      {node.id}, idFormHint)
                                .atNode(node.id));
        if (seen.contains(node.id))
            m_faults.append(makeError(errors::DuplicateName, QT_TRANSLATE_NOOP("Error", "Two nodes are called '%1'."),
                                      {node.id}, QT_TRANSLATE_NOOP("Error", "Rename one of them."))
                                .atNode(node.id));
        seen.insert(node.id);
    }

    void checkComponent(const PipelineNode &node)
    {
        const ComponentType *type = m_registry.find(node.component);
        if (type == nullptr) {
            m_faults.append(unknownComponent(node));
            return;
        }
        checkParameters(node, *type);
        for (const PortSpec &port : type->inputs) {
            if (port.optional || m_wiresInto.contains({node.id, port.id}))
                continue;
            m_faults.append(makeError(errors::InvalidPipeline,
                                      QT_TRANSLATE_NOOP("Error", "Input '%1' of node '%2' is not connected."),
                                      {port.id, node.id, dataTypeName(port.type)},
                                      QT_TRANSLATE_NOOP("Error", "Connect an output of type %3 to it."))
                                .atNode(node.id));
        }
    }

    Error unknownComponent(const PipelineNode &node) const
    {
        QStringList ids;
        for (const ComponentType *type : m_registry.all())
            ids.append(type->id);
        const QString nearest = nearestText(node.component, ids);
        const char *hint =
            nearest.isEmpty()
                ? QT_TRANSLATE_NOOP("Error", "Remove the node, or use a version of the program that has the component.")
                : QT_TRANSLATE_NOOP("Error", "Did you mean '%3'? Otherwise remove the node.");
        return makeError(
                   errors::InvalidPipeline,
                   QT_TRANSLATE_NOOP("Error", "Node '%1' is of component '%2', which this program does not have."),
                   {node.id, node.component, nearest}, hint)
            .atNode(node.id);
    }

    void checkParameters(const PipelineNode &node, const ComponentType &type)
    {
        QList<Error> faults = type.schema.check(node.parameters);
        // The component's own check may rely on every value being of its kind and in its range.
        if (faults.isEmpty() && type.validate)
            faults = type.validate(type.schema.effective(node.parameters));
        for (Error &fault : faults)
            m_faults.append(std::move(fault).atNode(node.id));
    }

    void checkConnection(const PipelineConnection &connection)
    {
        const int from = m_graph.indexOf(connection.from.node);
        const int to = m_graph.indexOf(connection.to.node);
        if (from < 0)
            m_faults.append(
                missingNode(connection.from.node, connection, m_pipeline.nodeIds()).atNode(connection.to.node));
        if (to < 0)
            m_faults.append(
                missingNode(connection.to.node, connection, m_pipeline.nodeIds()).atNode(connection.from.node));
        if (from < 0 || to < 0)
            return;
        const auto fault = portFault(connection, m_registry.find(m_pipeline.nodes[from].component),
                                     m_registry.find(m_pipeline.nodes[to].component));
        if (fault)
            m_faults.append(*fault);
    }

    void checkSharedInputs()
    {
        for (auto it = m_wiresInto.cbegin(); it != m_wiresInto.cend(); ++it) {
            if (it.value() < 2)
                continue;
            m_faults.append(makeError(errors::InvalidPipeline,
                                      QT_TRANSLATE_NOOP("Error", "Input '%1' of node '%2' has %3 connections."),
                                      {it.key().port, it.key().node, QString::number(it.value())},
                                      QT_TRANSLATE_NOOP("Error", "An input takes one connection: remove the others."))
                                .atNode(it.key().node));
        }
    }

    const Pipeline &m_pipeline;
    const ComponentRegistry &m_registry;
    PipelineGraph m_graph;
    QMap<PortAddress, int> m_wiresInto;
    QList<Error> m_faults;
};

} // namespace

QList<Error> validate(const Pipeline &pipeline, const ComponentRegistry &registry)
{
    return Validator(pipeline, registry).run();
}

/// The ids from `to` along the wires to `from`: what a wire from `from` to `to` would close.
static QStringList wayBack(const Pipeline &pipeline, const PortAddress &from, const PortAddress &to)
{
    Pipeline closed = pipeline;
    closed.connections.removeIf([&](const PipelineConnection &connection) { return connection.to == to; });
    const PipelineGraph without(closed);
    if (!without.reaches(without.indexOf(to.node), without.indexOf(from.node)))
        return {};
    closed.connections.append({from, to});
    QStringList ids;
    const PipelineGraph graph(closed);
    for (const QList<int> &cycle : graph.cycles()) {
        if (!cycle.contains(graph.indexOf(from.node)) || !cycle.contains(graph.indexOf(to.node)))
            continue;
        for (const int node : cycle)
            ids.append(closed.nodes[node].id);
        return ids;
    }
    return from.node == to.node ? QStringList{from.node} : QStringList{from.node, to.node};
}

std::optional<Error> connectionFault(const Pipeline &pipeline, const PortAddress &from, const PortAddress &to,
                                     const ComponentRegistry &registry)
{
    const PipelineConnection connection{from, to};
    const PipelineNode *source = pipeline.find(from.node);
    const PipelineNode *target = pipeline.find(to.node);
    if (source == nullptr || target == nullptr)
        return missingNode(source ? to.node : from.node, connection, pipeline.nodeIds());
    const ComponentType *sourceType = registry.find(source->component);
    const ComponentType *targetType = registry.find(target->component);
    if (sourceType == nullptr || targetType == nullptr) {
        const PipelineNode *unknown = sourceType ? target : source;
        return makeError(
                   errors::InvalidPipeline,
                   QT_TRANSLATE_NOOP("Error", "Node '%1' is of component '%2', which this program does not have."),
                   {unknown->id, unknown->component},
                   QT_TRANSLATE_NOOP("Error", "Its ports are not known: connect another node."))
            .atNode(unknown->id);
    }
    if (auto fault = portFault(connection, sourceType, targetType))
        return fault;
    if (const QStringList ids = wayBack(pipeline, from, to); !ids.isEmpty())
        return cycleError(ids);
    return std::nullopt;
}

} // namespace tw

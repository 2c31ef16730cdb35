// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/pipelinecommands.h"

#include <algorithm>
#include <utility>

namespace tw {

InsertFragmentCommand::InsertFragmentCommand(PipelineDocument &document, const QList<PipelineNode> &nodes,
                                             const QList<PipelineConnection> &connections, const QString &text)
    : QUndoCommand(text), m_document(document), m_nodes(nodes), m_connections(connections)
{
}

void InsertFragmentCommand::redo()
{
    for (const PipelineNode &node : std::as_const(m_nodes))
        m_document.insertNode(int(m_document.pipeline().nodes.size()), node);
    for (const PipelineConnection &connection : std::as_const(m_connections))
        m_document.insertConnection(int(m_document.pipeline().connections.size()), connection);
}

void InsertFragmentCommand::undo()
{
    for (auto connection = m_connections.crbegin(); connection != m_connections.crend(); ++connection)
        m_document.removeConnection(*connection);
    for (auto node = m_nodes.crbegin(); node != m_nodes.crend(); ++node)
        m_document.removeNode(node->id);
}

RemoveCommand::RemoveCommand(PipelineDocument &document, const QStringList &nodes,
                             const QList<PipelineConnection> &connections, const QString &text)
    : QUndoCommand(text), m_document(document), m_parametersBefore(document.pipeline().parameters)
{
    const Pipeline &pipeline = document.pipeline();
    for (int i = 0; i < pipeline.nodes.size(); ++i) {
        if (nodes.contains(pipeline.nodes[i].id))
            m_nodes.append({i, pipeline.nodes[i]});
    }
    for (int i = 0; i < pipeline.connections.size(); ++i) {
        const PipelineConnection &connection = pipeline.connections[i];
        if (connections.contains(connection) || nodes.contains(connection.from.node)
            || nodes.contains(connection.to.node))
            m_connections.append({i, connection});
    }
    m_parametersAfter = m_parametersBefore;
    for (PipelineParameter &parameter : m_parametersAfter)
        parameter.targets.removeIf([&](const PortAddress &target) { return nodes.contains(target.node); });
    m_parametersAfter.removeIf([&](const PipelineParameter &parameter) {
        return parameter.targets.isEmpty() && !m_parametersBefore.contains(parameter); // one that was empty stays
    });
}

void RemoveCommand::redo()
{
    if (m_parametersAfter != m_parametersBefore)
        m_document.setPipelineParameters(m_parametersAfter);
    for (auto entry = m_connections.crbegin(); entry != m_connections.crend(); ++entry)
        m_document.removeConnection(entry->second);
    for (auto entry = m_nodes.crbegin(); entry != m_nodes.crend(); ++entry)
        m_document.removeNode(entry->second.id);
}

void RemoveCommand::undo()
{
    for (const auto &[index, node] : std::as_const(m_nodes))
        m_document.insertNode(index, node);
    for (const auto &[index, connection] : std::as_const(m_connections))
        m_document.insertConnection(index, connection);
    if (m_document.pipeline().parameters != m_parametersBefore)
        m_document.setPipelineParameters(m_parametersBefore);
}

MoveNodesCommand::MoveNodesCommand(PipelineDocument &document, const QMap<QString, QPointF> &targets, int gesture,
                                   const QString &text)
    : QUndoCommand(text), m_document(document), m_after(targets), m_gesture(gesture)
{
    for (auto target = targets.cbegin(); target != targets.cend(); ++target) {
        if (const PipelineNode *node = document.node(target.key()))
            m_before.insert(target.key(), node->position);
    }
}

void MoveNodesCommand::place(const QMap<QString, QPointF> &positions)
{
    for (auto target = positions.cbegin(); target != positions.cend(); ++target)
        m_document.moveNode(target.key(), target.value());
}

void MoveNodesCommand::redo()
{
    place(m_after);
}

void MoveNodesCommand::undo()
{
    place(m_before);
}

bool MoveNodesCommand::mergeWith(const QUndoCommand *other)
{
    const auto *move = static_cast<const MoveNodesCommand *>(other);
    if (move->m_gesture != m_gesture || move->m_after.keys() != m_after.keys())
        return false;
    m_after = move->m_after;
    setObsolete(m_after == m_before);
    return true;
}

ConnectCommand::ConnectCommand(PipelineDocument &document, const PipelineConnection &connection, const QString &text)
    : QUndoCommand(text), m_document(document), m_connection(connection)
{
    const Pipeline &pipeline = document.pipeline();
    m_index = int(pipeline.connections.size());
    if (const PipelineConnection *existing = pipeline.into(connection.to)) {
        m_replaced = *existing;
        m_index = int(pipeline.connections.indexOf(*existing));
    }
}

void ConnectCommand::redo()
{
    if (m_replaced)
        m_document.removeConnection(*m_replaced);
    m_document.insertConnection(m_index, m_connection);
}

void ConnectCommand::undo()
{
    m_document.removeConnection(m_connection);
    if (m_replaced)
        m_document.insertConnection(m_index, *m_replaced);
}

SetParameterCommand::SetParameterCommand(PipelineDocument &document, const QStringList &nodes, const QString &parameter,
                                         const Stored &value, int gesture, const QString &text)
    : QUndoCommand(text), m_document(document), m_parameter(parameter), m_after(value), m_gesture(gesture)
{
    for (const QString &id : nodes) {
        if (const PipelineNode *node = document.node(id))
            m_before.insert(id, {node->parameters.value(parameter), node->parameters.contains(parameter)});
    }
}

void SetParameterCommand::redo()
{
    for (auto entry = m_before.cbegin(); entry != m_before.cend(); ++entry)
        m_document.setParameter(entry.key(), m_parameter, m_after.value, m_after.stored);
}

void SetParameterCommand::undo()
{
    for (auto entry = m_before.cbegin(); entry != m_before.cend(); ++entry)
        m_document.setParameter(entry.key(), m_parameter, entry->value, entry->stored);
}

bool SetParameterCommand::mergeWith(const QUndoCommand *other)
{
    const auto *next = static_cast<const SetParameterCommand *>(other);
    if (next->m_gesture != m_gesture || next->m_parameter != m_parameter || next->m_before.keys() != m_before.keys())
        return false;
    m_after = next->m_after;
    setObsolete(
        std::all_of(m_before.cbegin(), m_before.cend(), [&](const Stored &before) { return before == m_after; }));
    return true;
}

RenameNodeCommand::RenameNodeCommand(PipelineDocument &document, const QString &id, const QString &newId,
                                     const QString &text)
    : QUndoCommand(text), m_document(document), m_id(id), m_newId(newId)
{
}

void RenameNodeCommand::redo()
{
    m_document.renameNode(m_id, m_newId);
}

void RenameNodeCommand::undo()
{
    m_document.renameNode(m_newId, m_id);
}

SetPipelineParametersCommand::SetPipelineParametersCommand(PipelineDocument &document,
                                                           const QList<PipelineParameter> &parameters,
                                                           const QString &text)
    : QUndoCommand(text), m_document(document), m_before(document.pipeline().parameters), m_after(parameters)
{
}

void SetPipelineParametersCommand::redo()
{
    m_document.setPipelineParameters(m_after);
}

void SetPipelineParametersCommand::undo()
{
    m_document.setPipelineParameters(m_before);
}

SetPipelineNameCommand::SetPipelineNameCommand(PipelineDocument &document, const QString &name, const QString &text)
    : QUndoCommand(text), m_document(document), m_before(document.pipeline().name), m_after(name)
{
}

void SetPipelineNameCommand::redo()
{
    m_document.setName(m_after);
}

void SetPipelineNameCommand::undo()
{
    m_document.setName(m_before);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/pipelineeditor.h"

#include "core/base/ids.h"
#include "core/pipeline/pipelinefile.h"
#include "core/pipeline/validator.h"
#include "ui/canvas/layeredlayout.h"
#include "ui/canvas/pipelinecommands.h"
#include "ui/common/words.h"

#include <cmath>

namespace tw {

QPointF snappedToGrid(const QPointF &position)
{
    return {std::round(position.x() / canvasGrid) * canvasGrid, std::round(position.y() / canvasGrid) * canvasGrid};
}

PipelineEditor::PipelineEditor(PipelineDocument &document, QObject *parent) : QObject(parent), m_document(document)
{
    m_undo.setUndoLimit(0);
    QObject::connect(&document, &PipelineDocument::wasReset, &m_undo, &QUndoStack::clear);
}

PipelineNode PipelineEditor::makeNode(const QString &component, const QPointF &position) const
{
    PipelineNode node;
    node.id = newNodeId(component, pipeline().nodeIds());
    node.component = component;
    if (const ComponentType *type = m_document.registry().find(component))
        node.componentVersion = type->version;
    node.position = snappedToGrid(position);
    return node;
}

QString PipelineEditor::addNode(const QString &component, const QPointF &position)
{
    const PipelineNode node = makeNode(component, position);
    m_undo.push(new InsertFragmentCommand(m_document, {node}, {}, tr("Add %1").arg(node.id)));
    return node.id;
}

QString PipelineEditor::addNodeConnected(const QString &component, const QPointF &position, const PortAddress &existing,
                                         bool existingIsOutput)
{
    const ComponentType *type = m_document.registry().find(component);
    if (!type)
        return {};
    m_undo.beginMacro(tr("Add %1").arg(componentWord(type->displayName)));
    const QString id = addNode(component, position);
    for (const PortSpec &port : existingIsOutput ? type->inputs : type->outputs) {
        const PortAddress fresh{id, port.id};
        const auto refused = existingIsOutput ? connectPorts(existing, fresh) : connectPorts(fresh, existing);
        if (!refused)
            break;
    }
    m_undo.endMacro();
    return id;
}

void PipelineEditor::remove(const QStringList &nodes, const QList<PipelineConnection> &connections)
{
    if (nodes.isEmpty() && connections.isEmpty())
        return;
    const QString text = nodes.isEmpty()     ? tr("Disconnect")
                         : nodes.size() == 1 ? tr("Delete %1").arg(nodes.first())
                                             : tr("Delete %1 nodes").arg(nodes.size());
    m_undo.push(new RemoveCommand(m_document, nodes, connections, text));
}

void PipelineEditor::moveNodes(const QMap<QString, QPointF> &positions, int gesture)
{
    QMap<QString, QPointF> moved;
    bool any = false;
    for (auto entry = positions.cbegin(); entry != positions.cend(); ++entry) {
        const PipelineNode *node = m_document.node(entry.key());
        if (!node)
            continue;
        moved.insert(entry.key(), entry.value());
        any = any || node->position != entry.value();
    }
    if (any)
        m_undo.push(new MoveNodesCommand(m_document, moved, gesture,
                                         moved.size() == 1 ? tr("Move %1").arg(moved.firstKey())
                                                           : tr("Move %1 nodes").arg(moved.size())));
}

std::optional<Error> PipelineEditor::connectPorts(const PortAddress &from, const PortAddress &to)
{
    const PipelineConnection connection{from, to};
    if (pipeline().connections.contains(connection))
        return std::nullopt;
    if (auto fault = connectionFault(pipeline(), from, to, m_document.registry()))
        return fault;
    m_undo.push(new ConnectCommand(m_document, connection, tr("Connect %1 to %2").arg(from.node, to.node)));
    return std::nullopt;
}

void PipelineEditor::setParameter(const QStringList &nodes, const QString &parameter, const QVariant &value,
                                  int gesture)
{
    const ComponentType *type = nodes.isEmpty() ? nullptr : m_document.componentOf(nodes.first());
    const ParameterSpec *spec = type ? type->schema.find(parameter) : nullptr;
    if (!spec)
        return;
    const bool isDefault = value == spec->defaultValue;
    const SetParameterCommand::Stored wanted{isDefault ? QVariant() : value, !isDefault};
    const bool changes = std::any_of(nodes.begin(), nodes.end(), [&](const QString &id) {
        const PipelineNode *node = m_document.node(id);
        return node
               && SetParameterCommand::Stored{node->parameters.value(parameter), node->parameters.contains(parameter)}
                      != wanted;
    });
    if (changes)
        m_undo.push(new SetParameterCommand(m_document, nodes, parameter, wanted, gesture,
                                            tr("Set %1").arg(parameterWord(spec->label))));
}

void PipelineEditor::resetParameter(const QStringList &nodes, const QString &parameter)
{
    const ComponentType *type = nodes.isEmpty() ? nullptr : m_document.componentOf(nodes.first());
    if (const ParameterSpec *spec = type ? type->schema.find(parameter) : nullptr)
        setParameter(nodes, parameter, spec->defaultValue, newGesture());
}

Result<void> PipelineEditor::renameNode(const QString &id, const QString &newId)
{
    if (id == newId)
        return {};
    if (!isNodeId(newId))
        return makeError(
                   errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "\"%1\" cannot be the id of a node."), {newId},
                   QT_TRANSLATE_NOOP("Error", "Use a lower-case letter, then letters, digits and _ (at most 63)."))
            .atNode(id);
    if (pipeline().find(newId))
        return makeError(errors::DuplicateName, QT_TRANSLATE_NOOP("Error", "There is already a node \"%1\"."), {newId},
                         QT_TRANSLATE_NOOP("Error", "Choose another id."))
            .atNode(id);
    m_undo.push(new RenameNodeCommand(m_document, id, newId, tr("Rename %1").arg(id)));
    return {};
}

void PipelineEditor::setName(const QString &name)
{
    if (name != pipeline().name)
        m_undo.push(new SetPipelineNameCommand(m_document, name, tr("Rename the pipeline")));
}

const PipelineParameter *PipelineEditor::pipelineParameterOf(const QString &node, const QString &parameter) const
{
    for (const PipelineParameter &candidate : pipeline().parameters) {
        if (candidate.targets.contains(PortAddress{node, parameter}))
            return &candidate;
    }
    return nullptr;
}

QString PipelineEditor::addPipelineParameter(const QStringList &nodes, const QString &parameter)
{
    const ComponentType *type = nodes.isEmpty() ? nullptr : m_document.componentOf(nodes.first());
    const ParameterSpec *spec = type ? type->schema.find(parameter) : nullptr;
    if (!spec)
        return {};
    QSet<QString> taken;
    for (const PipelineParameter &existing : pipeline().parameters)
        taken.insert(existing.id);
    PipelineParameter added{spec->id, spec->label, {}, {}};
    const QString qualified = (nodes.first() + u'_' + spec->id).left(60);
    for (int i = 1; taken.contains(added.id); ++i)
        added.id = i == 1 ? qualified : qualified + QString::number(i);
    for (const QString &node : nodes) {
        if (!pipelineParameterOf(node, parameter))
            added.targets.append({node, parameter});
    }
    if (added.targets.isEmpty())
        return {};
    m_undo.push(new SetPipelineParametersCommand(m_document, pipeline().parameters + QList{added},
                                                 tr("Ask for %1 at every run").arg(parameterWord(spec->label))));
    return added.id;
}

void PipelineEditor::unbindPipelineParameter(const QStringList &nodes, const QString &parameter)
{
    QList<PipelineParameter> rest;
    for (PipelineParameter candidate : pipeline().parameters) {
        const bool touched = candidate.targets.removeIf([&](const PortAddress &target) {
            return target.port == parameter && nodes.contains(target.node);
        }) > 0;
        if (!touched || !candidate.targets.isEmpty())
            rest.append(candidate);
    }
    if (rest != pipeline().parameters)
        m_undo.push(new SetPipelineParametersCommand(m_document, rest, tr("No longer ask for %1").arg(parameter)));
}

void PipelineEditor::removePipelineParameter(const QString &id)
{
    QList<PipelineParameter> rest = pipeline().parameters;
    if (rest.removeIf([&](const PipelineParameter &parameter) { return parameter.id == id; }) > 0)
        m_undo.push(new SetPipelineParametersCommand(m_document, rest, tr("No longer ask for %1").arg(id)));
}

QByteArray PipelineEditor::copy(const QStringList &nodes) const
{
    Pipeline fragment;
    for (const PipelineNode &node : pipeline().nodes) {
        if (nodes.contains(node.id))
            fragment.nodes.append(node);
    }
    for (const PipelineConnection &connection : pipeline().connections) {
        if (nodes.contains(connection.from.node) && nodes.contains(connection.to.node))
            fragment.connections.append(connection);
    }
    return writePipeline(fragment, m_document.registry());
}

Result<QStringList> PipelineEditor::paste(const QByteArray &text, const QPointF &at)
{
    TW_ASSIGN(loaded, readPipeline(text, m_document.registry()));
    return insertFragment(loaded.pipeline, at, tr("Paste"));
}

Result<QStringList> PipelineEditor::duplicate(const QStringList &nodes)
{
    QPointF corner;
    bool first = true;
    for (const QString &id : nodes) {
        const PipelineNode *node = m_document.node(id);
        if (!node)
            continue;
        corner = first ? node->position
                       : QPointF(qMin(corner.x(), node->position.x()), qMin(corner.y(), node->position.y()));
        first = false;
    }
    TW_ASSIGN(loaded, readPipeline(copy(nodes), m_document.registry()));
    return insertFragment(loaded.pipeline, corner + QPointF(2 * canvasGrid, 2 * canvasGrid), tr("Duplicate"));
}

QStringList PipelineEditor::insertFragment(const Pipeline &fragment, const QPointF &at, const QString &what)
{
    if (fragment.nodes.isEmpty())
        return {};
    QPointF corner = fragment.nodes.first().position;
    for (const PipelineNode &node : fragment.nodes)
        corner = QPointF(qMin(corner.x(), node.position.x()), qMin(corner.y(), node.position.y()));
    QSet<QString> taken = pipeline().nodeIds();
    QMap<QString, QString> fresh;
    QList<PipelineNode> nodes;
    for (PipelineNode node : fragment.nodes) {
        const QString id = taken.contains(node.id) ? newNodeId(node.component, taken) : node.id;
        fresh.insert(node.id, id);
        taken.insert(id);
        node.id = id;
        node.position = snappedToGrid(at + node.position - corner);
        nodes.append(node);
    }
    QList<PipelineConnection> connections = fragment.connections;
    for (PipelineConnection &connection : connections) {
        connection.from.node = fresh.value(connection.from.node);
        connection.to.node = fresh.value(connection.to.node);
    }
    m_undo.push(new InsertFragmentCommand(m_document, nodes, connections, what));
    return fresh.values();
}

void PipelineEditor::layOut(const QMap<QString, QSizeF> &sizes)
{
    moveNodes(layeredLayout(pipeline(), sizes, canvasGrid), newGesture());
}

} // namespace tw

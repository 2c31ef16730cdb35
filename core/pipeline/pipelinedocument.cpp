// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/pipelinedocument.h"

#include "core/pipeline/validator.h"

#include <algorithm>

namespace tw {

PipelineDocument::PipelineDocument(const ComponentRegistry &registry, QObject *parent)
    : QObject(parent), m_registry(registry), m_faults(validate(m_pipeline, registry))
{
}

const ComponentType *PipelineDocument::componentOf(const QString &nodeId) const
{
    const PipelineNode *found = node(nodeId);
    return found ? m_registry.find(found->component) : nullptr;
}

ParameterValues PipelineDocument::effectiveValues(const QString &nodeId) const
{
    const PipelineNode *found = node(nodeId);
    const ComponentType *type = componentOf(nodeId);
    if (found == nullptr)
        return {};
    return type ? type->schema.effective(found->parameters) : found->parameters;
}

void PipelineDocument::reset(const Pipeline &pipeline)
{
    m_pipeline = pipeline;
    Q_EMIT wasReset();
    afterGraphChange();
}

void PipelineDocument::setName(const QString &name)
{
    if (m_pipeline.name == name)
        return;
    m_pipeline.name = name;
    Q_EMIT nameChanged();
    Q_EMIT changed();
}

void PipelineDocument::insertNode(int index, const PipelineNode &node)
{
    m_pipeline.nodes.insert(std::clamp<qsizetype>(index, 0, m_pipeline.nodes.size()), node);
    Q_EMIT nodeInserted(node.id);
    afterGraphChange();
}

void PipelineDocument::removeNode(const QString &id)
{
    const QString removed = id; // `id` may be a reference into the pipeline
    if (node(removed) == nullptr)
        return;
    const QList<PipelineConnection> before = m_pipeline.connections;
    for (const PipelineConnection &connection : before) {
        if (connection.from.node != removed && connection.to.node != removed)
            continue;
        m_pipeline.connections.removeOne(connection);
        Q_EMIT connectionRemoved(connection);
    }
    const auto it = std::find_if(m_pipeline.nodes.cbegin(), m_pipeline.nodes.cend(),
                                 [&](const PipelineNode &other) { return other.id == removed; });
    m_pipeline.nodes.erase(it);
    Q_EMIT nodeRemoved(removed);
    afterGraphChange();
}

void PipelineDocument::moveNode(const QString &id, const QPointF &position)
{
    PipelineNode *found = m_pipeline.find(id);
    if (found == nullptr || found->position == position)
        return;
    found->position = position;
    Q_EMIT nodeMoved(id);
    Q_EMIT changed();
}

void PipelineDocument::renameNode(const QString &id, const QString &newId)
{
    const QString oldId = id; // `id` may be a reference into the pipeline
    PipelineNode *found = m_pipeline.find(oldId);
    if (found == nullptr || oldId == newId)
        return;
    const auto rename = [&](PortAddress &address) {
        if (address.node == oldId)
            address.node = newId;
    };
    found->id = newId;
    for (PipelineConnection &connection : m_pipeline.connections) {
        rename(connection.from);
        rename(connection.to);
    }
    for (PipelineParameter &parameter : m_pipeline.parameters) {
        for (PortAddress &target : parameter.targets)
            rename(target);
    }
    Q_EMIT nodeRenamed(oldId, newId);
    afterGraphChange();
}

void PipelineDocument::setComment(const QString &id, const QString &comment)
{
    PipelineNode *found = m_pipeline.find(id);
    if (found == nullptr || found->comment == comment)
        return;
    found->comment = comment;
    Q_EMIT commentChanged(id);
    Q_EMIT changed();
}

void PipelineDocument::setParameter(const QString &id, const QString &parameter, const QVariant &value, bool stored)
{
    PipelineNode *found = m_pipeline.find(id);
    if (found == nullptr)
        return;
    const ComponentType *type = m_registry.find(found->component);
    const ParameterSpec *spec = type ? type->schema.find(parameter) : nullptr;
    QVariant normal = value;
    if (spec != nullptr) {
        if (const auto checked = spec->check(value); checked.ok())
            normal = *checked;
    }
    // A value of the wrong kind or range is kept: the person sees it with its fault.
    if (stored && (spec == nullptr || normal != spec->defaultValue))
        found->parameters.set(parameter, normal);
    else
        found->parameters.remove(parameter);
    Q_EMIT parameterChanged(id, parameter);
    afterGraphChange();
}

void PipelineDocument::insertConnection(int index, const PipelineConnection &connection)
{
    m_pipeline.connections.insert(std::clamp<qsizetype>(index, 0, m_pipeline.connections.size()), connection);
    Q_EMIT connectionInserted(connection);
    afterGraphChange();
}

void PipelineDocument::removeConnection(const PipelineConnection &connection)
{
    const PipelineConnection removed = connection; // may be a reference into the pipeline
    if (!m_pipeline.connections.removeOne(removed))
        return;
    Q_EMIT connectionRemoved(removed);
    afterGraphChange();
}

void PipelineDocument::setPipelineParameters(const QList<PipelineParameter> &parameters)
{
    m_pipeline.parameters = parameters;
    Q_EMIT pipelineParametersChanged();
    afterGraphChange();
}

void PipelineDocument::afterGraphChange()
{
    QList<Error> faults = validate(m_pipeline, m_registry);
    if (faults != m_faults) {
        m_faults = std::move(faults);
        Q_EMIT faultsChanged();
    }
    Q_EMIT changed();
}

} // namespace tw

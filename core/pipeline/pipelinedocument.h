// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/pipeline/pipeline.h"

#include <QObject>

namespace tw {

/// The open pipeline, GUI thread. Mutators are meant to be called by undo commands only; each
/// emits the narrow signal and then changed(). Views hold ids and ask the document.
class PipelineDocument : public QObject
{
    Q_OBJECT
public:
    explicit PipelineDocument(const ComponentRegistry &registry, QObject *parent = nullptr);

    const Pipeline &pipeline() const { return m_pipeline; }
    const ComponentRegistry &registry() const { return m_registry; }
    const PipelineNode *node(const QString &id) const { return m_pipeline.find(id); }
    const ComponentType *componentOf(const QString &nodeId) const;
    ParameterValues effectiveValues(const QString &nodeId) const;
    /// Result of validate() of the current state, kept up to date.
    const QList<Error> &faults() const { return m_faults; }

    void reset(const Pipeline &pipeline);
    void setName(const QString &name);
    void insertNode(int index, const PipelineNode &node);
    /// Removes the node and its connections.
    void removeNode(const QString &id);
    void moveNode(const QString &id, const QPointF &position);
    void renameNode(const QString &id, const QString &newId);
    void setComment(const QString &id, const QString &comment);
    /// An invalid `value` with `stored` false goes back to the default.
    void setParameter(const QString &id, const QString &parameter, const QVariant &value, bool stored);
    void insertConnection(int index, const PipelineConnection &connection);
    void removeConnection(const PipelineConnection &connection);
    void setPipelineParameters(const QList<PipelineParameter> &parameters);

Q_SIGNALS:
    void wasReset();
    void nameChanged();
    void nodeInserted(const QString &id);
    void nodeRemoved(const QString &id);
    void nodeMoved(const QString &id);
    void nodeRenamed(const QString &oldId, const QString &newId);
    void commentChanged(const QString &id);
    void parameterChanged(const QString &id, const QString &parameter);
    void connectionInserted(const tw::PipelineConnection &connection);
    void connectionRemoved(const tw::PipelineConnection &connection);
    void pipelineParametersChanged();
    void faultsChanged();
    /// After any of the above.
    void changed();

private:
    void afterGraphChange();

    const ComponentRegistry &m_registry;
    Pipeline m_pipeline;
    QList<Error> m_faults;
};

} // namespace tw

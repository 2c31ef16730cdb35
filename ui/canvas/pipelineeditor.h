// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/pipeline/pipelinedocument.h"

#include <QMap>
#include <QObject>
#include <QSizeF>
#include <QUndoStack>

#include <optional>

namespace tw {

/// Every edit a person can make, as undo steps on the document. The only way by which the window
/// changes a pipeline. GUI thread.
class PipelineEditor : public QObject
{
    Q_OBJECT
public:
    explicit PipelineEditor(PipelineDocument &document, QObject *parent = nullptr);

    PipelineDocument &document() const { return m_document; }
    const Pipeline &pipeline() const { return m_document.pipeline(); }
    QUndoStack &undoStack() { return m_undo; }
    /// Distinguishes user actions: edits with the same number may merge into one step.
    int newGesture() { return ++m_gesture; }

    /// Id of the new node.
    QString addNode(const QString &component, const QPointF &position);
    /// Node and wire to it in one step. `existing` is an output or input of a node that is there;
    /// the first port of the new component that fits is taken.
    QString addNodeConnected(const QString &component, const QPointF &position, const PortAddress &existing,
                             bool existingIsOutput);
    void remove(const QStringList &nodes, const QList<PipelineConnection> &connections);
    void moveNodes(const QMap<QString, QPointF> &positions, int gesture);
    /// Nothing when the wire was made; the reason when it was refused.
    std::optional<Error> connectPorts(const PortAddress &from, const PortAddress &to);
    void disconnect(const PipelineConnection &connection) { remove({}, {connection}); }
    /// `value` is one that ParameterSpec::check() gave; a value equal to the default is not stored.
    void setParameter(const QStringList &nodes, const QString &parameter, const QVariant &value, int gesture);
    void resetParameter(const QStringList &nodes, const QString &parameter);
    /// InvalidPipelineError (form), DuplicateNameError.
    Result<void> renameNode(const QString &id, const QString &newId);
    void setName(const QString &name);
    /// Makes a node parameter one that is asked for at every run; its id, made from the parameter's.
    /// Nodes of one component that are chosen together share it.
    QString addPipelineParameter(const QStringList &nodes, const QString &parameter);
    /// Takes the node parameters out of the pipeline parameters; one that sets nothing more is removed.
    void unbindPipelineParameter(const QStringList &nodes, const QString &parameter);
    void removePipelineParameter(const QString &id);
    /// The pipeline parameter that sets this node parameter, if any.
    const PipelineParameter *pipelineParameterOf(const QString &node, const QString &parameter) const;

    /// Pipeline JSON of the nodes and the wires between them.
    QByteArray copy(const QStringList &nodes) const;
    /// Ids of the new nodes; their common top left corner stands at `at`.
    Result<QStringList> paste(const QByteArray &text, const QPointF &at);
    Result<QStringList> duplicate(const QStringList &nodes);
    /// Adds a whole small pipeline (fresh ids are given) with its corner at `at`.
    QStringList insertFragment(const Pipeline &fragment, const QPointF &at, const QString &what);
    void layOut(const QMap<QString, QSizeF> &sizes);

private:
    PipelineNode makeNode(const QString &component, const QPointF &position) const;

    PipelineDocument &m_document;
    QUndoStack m_undo;
    int m_gesture = 0;
};

inline constexpr double canvasGrid = 16;
QPointF snappedToGrid(const QPointF &position);

} // namespace tw

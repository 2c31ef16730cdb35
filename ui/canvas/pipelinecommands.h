// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/pipeline/pipelinedocument.h"

#include <QMap>
#include <QUndoCommand>

namespace tw {

// One class per kind of edit. Commands hold ids and values, never items; redo() may be called with
// the document in the state in which the command was made, undo() in the state that redo() left.

/// Nodes with fresh ids and the connections between them, appended.
class InsertFragmentCommand : public QUndoCommand
{
public:
    InsertFragmentCommand(PipelineDocument &document, const QList<PipelineNode> &nodes,
                          const QList<PipelineConnection> &connections, const QString &text);
    void redo() override;
    void undo() override;

private:
    PipelineDocument &m_document;
    QList<PipelineNode> m_nodes;
    QList<PipelineConnection> m_connections;
};

/// Nodes with every wire on them, and wires chosen by themselves. Undo puts all back at its place.
class RemoveCommand : public QUndoCommand
{
public:
    RemoveCommand(PipelineDocument &document, const QStringList &nodes, const QList<PipelineConnection> &connections,
                  const QString &text);
    void redo() override;
    void undo() override;

private:
    PipelineDocument &m_document;
    QList<std::pair<int, PipelineNode>> m_nodes;             ///< by index, ascending
    QList<std::pair<int, PipelineConnection>> m_connections; ///< by index, ascending
    QList<PipelineParameter> m_parametersBefore, m_parametersAfter;
};

/// Moves of the same nodes within one gesture (a drag, a held arrow key) are one step.
class MoveNodesCommand : public QUndoCommand
{
public:
    MoveNodesCommand(PipelineDocument &document, const QMap<QString, QPointF> &targets, int gesture,
                     const QString &text);
    void redo() override;
    void undo() override;
    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand *other) override;

private:
    void place(const QMap<QString, QPointF> &positions);
    PipelineDocument &m_document;
    QMap<QString, QPointF> m_before, m_after;
    int m_gesture;
};

/// A new wire; the one that ended at the same input goes in the same step.
class ConnectCommand : public QUndoCommand
{
public:
    ConnectCommand(PipelineDocument &document, const PipelineConnection &connection, const QString &text);
    void redo() override;
    void undo() override;

private:
    PipelineDocument &m_document;
    PipelineConnection m_connection;
    std::optional<PipelineConnection> m_replaced;
    int m_index;
};

/// A parameter of one or more nodes. Typing in one field (same gesture) is one step.
class SetParameterCommand : public QUndoCommand
{
public:
    struct Stored
    {
        QVariant value;
        bool stored = false;
        bool operator==(const Stored &) const = default;
    };
    SetParameterCommand(PipelineDocument &document, const QStringList &nodes, const QString &parameter,
                        const Stored &value, int gesture, const QString &text);
    void redo() override;
    void undo() override;
    int id() const override { return 2; }
    bool mergeWith(const QUndoCommand *other) override;

private:
    PipelineDocument &m_document;
    QString m_parameter;
    QMap<QString, Stored> m_before;
    Stored m_after;
    int m_gesture;
};

class RenameNodeCommand : public QUndoCommand
{
public:
    RenameNodeCommand(PipelineDocument &document, const QString &id, const QString &newId, const QString &text);
    void redo() override;
    void undo() override;

private:
    PipelineDocument &m_document;
    QString m_id, m_newId;
};

/// The list of pipeline parameters as a whole.
class SetPipelineParametersCommand : public QUndoCommand
{
public:
    SetPipelineParametersCommand(PipelineDocument &document, const QList<PipelineParameter> &parameters,
                                 const QString &text);
    void redo() override;
    void undo() override;

private:
    PipelineDocument &m_document;
    QList<PipelineParameter> m_before, m_after;
};

class SetPipelineNameCommand : public QUndoCommand
{
public:
    SetPipelineNameCommand(PipelineDocument &document, const QString &name, const QString &text);
    void redo() override;
    void undo() override;

private:
    PipelineDocument &m_document;
    QString m_before, m_after;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/canvas/nodestatus.h"
#include "ui/canvas/pipelineeditor.h"

#include <QGraphicsScene>
#include <QHash>
#include <QMap>

#include <memory>

namespace tw {

class ConnectionItem;
class NodeItem;
class PortItem;
class WireDrag;

/// Pictures of the document's nodes and wires, by id. Gestures become undo steps of the editor.
class PipelineScene : public QGraphicsScene
{
    Q_OBJECT
public:
    explicit PipelineScene(PipelineEditor &editor, QObject *parent = nullptr);
    ~PipelineScene() override;

    PipelineEditor &editor() const { return m_editor; }
    NodeItem *nodeItem(const QString &id) const { return m_nodes.value(id); }
    ConnectionItem *connectionItem(const PipelineConnection &connection) const;
    PortItem *portItem(const PortAddress &address, bool isOutput) const;
    /// The port of that direction nearest to `position` within `reach` scene units, or null.
    PortItem *portNear(const QPointF &position, bool isOutput, double reach) const;
    NodeItem *nodeAt(const QPointF &position) const;
    QMap<QString, QSizeF> nodeSizes() const;
    QRectF contentRect() const;

    QStringList selectedNodes() const; ///< in pipeline order
    QList<PipelineConnection> selectedConnections() const;
    void selectNodes(const QStringList &ids);
    void selectAll();

    /// Kept by id, also for nodes that come back by undo.
    void setStatus(const QString &id, const NodeStatus &status);
    NodeStatus status(const QString &id) const { return m_status.value(id); }
    void clearStatus();
    void setSummaries(const QMap<QString, QString> &summaries);
    /// Faults found on the machine (preflight), shown beside the document's own.
    void setMachineFaults(const QList<Error> &faults);
    void setWiresDimmed(bool dimmed);

    bool isMovingNodes() const { return m_movingNodes; }
    bool isDraggingWire() const { return m_wire != nullptr; }
    /// Esc: everything as before the drag.
    void cancelGesture();
    void updateWiresOf(const QString &nodeId);

Q_SIGNALS:
    void nodeSelectionChanged(const QStringList &ids);
    /// The palette is wanted at a scene position; `port` is set when a wire waits there.
    void paletteRequested(const QPointF &position, const tw::PortAddress &port, bool portIsOutput);
    void connectionRefused(const tw::Error &reason);
    void nodeActivated(const QString &id);

protected:
    void mousePressEvent(QGraphicsSceneMouseEvent *event) override;
    void mouseMoveEvent(QGraphicsSceneMouseEvent *event) override;
    void mouseReleaseEvent(QGraphicsSceneMouseEvent *event) override;
    void mouseDoubleClickEvent(QGraphicsSceneMouseEvent *event) override;
    void drawBackground(QPainter *painter, const QRectF &area) override;

private:
    void rebuild();
    void addNodeItem(const QString &id);
    void removeNodeItem(const QString &id);
    void renameNodeItem(const QString &oldId, const QString &newId);
    void addConnectionItem(const PipelineConnection &connection);
    void removeConnectionItem(const PipelineConnection &connection);
    void placeWire(ConnectionItem *wire);
    void updateFaults();
    void commitMove();

    PipelineEditor &m_editor;
    QHash<QString, NodeItem *> m_nodes;
    QMap<QString, ConnectionItem *> m_wires;           ///< by "from>to"
    QHash<QString, QList<ConnectionItem *>> m_wiresOf; ///< by node
    QHash<QString, NodeStatus> m_status;
    QMap<QString, QString> m_summaries;
    QList<Error> m_machineFaults;
    std::unique_ptr<WireDrag> m_wire;
    bool m_movingNodes = false;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/pipelinescene.h"

#include "ui/canvas/connectionitem.h"
#include "ui/canvas/nodeitem.h"
#include "ui/canvas/portitem.h"
#include "ui/canvas/wiredrag.h"
#include "ui/common/theme.h"

namespace tw {

static QString wireKey(const PipelineConnection &connection)
{
    return connection.from.toText() + u'>' + connection.to.toText();
}

PipelineScene::PipelineScene(PipelineEditor &editor, QObject *parent) : QGraphicsScene(parent), m_editor(editor)
{
    // Free panning in every direction; the view hides its scroll bars.
    setSceneRect(-50000, -50000, 100000, 100000);
    const PipelineDocument *document = &editor.document();
    connect(document, &PipelineDocument::wasReset, this, &PipelineScene::rebuild);
    connect(document, &PipelineDocument::nodeInserted, this, &PipelineScene::addNodeItem);
    connect(document, &PipelineDocument::nodeRemoved, this, &PipelineScene::removeNodeItem);
    connect(document, &PipelineDocument::nodeRenamed, this, &PipelineScene::renameNodeItem);
    connect(document, &PipelineDocument::nodeMoved, this, [this](const QString &id) {
        if (NodeItem *item = nodeItem(id))
            item->setPos(m_editor.document().node(id)->position);
    });
    connect(document, &PipelineDocument::connectionInserted, this, &PipelineScene::addConnectionItem);
    connect(document, &PipelineDocument::connectionRemoved, this, &PipelineScene::removeConnectionItem);
    connect(document, &PipelineDocument::faultsChanged, this, &PipelineScene::updateFaults);
    connect(&Theme::instance(), &Theme::changed, this, [this] { update(); });
    connect(this, &QGraphicsScene::selectionChanged, this, [this] { Q_EMIT nodeSelectionChanged(selectedNodes()); });
    rebuild();
}

PipelineScene::~PipelineScene()
{
    // The items' changes must not reach a half-destroyed scene.
    QObject::disconnect(this, nullptr, this, nullptr);
    m_wire.reset();
    m_nodes.clear();
    m_wires.clear();
    clear();
}

void PipelineScene::rebuild()
{
    m_wire.reset();
    m_wires.clear();
    m_wiresOf.clear();
    m_nodes.clear();
    clear();
    m_status.clear();
    m_summaries.clear();
    m_machineFaults.clear();
    for (const PipelineNode &node : m_editor.pipeline().nodes)
        addNodeItem(node.id);
    for (const PipelineConnection &connection : m_editor.pipeline().connections)
        addConnectionItem(connection);
    updateFaults();
    Q_EMIT nodeSelectionChanged({});
}

void PipelineScene::addNodeItem(const QString &id)
{
    const PipelineNode *node = m_editor.document().node(id);
    if (!node || m_nodes.contains(id))
        return;
    auto *item = new NodeItem(*node, m_editor.document().registry().find(node->component));
    m_nodes.insert(id, item);
    addItem(item);
    item->setStatus(m_status.value(id));
    item->setSummary(m_summaries.value(id));
}

void PipelineScene::removeNodeItem(const QString &id)
{
    m_wire.reset();
    for (ConnectionItem *wire : m_wiresOf.value(id))
        removeConnectionItem(PipelineConnection(wire->connection()));
    delete m_nodes.take(id);
    m_wiresOf.remove(id);
}

void PipelineScene::renameNodeItem(const QString &oldId, const QString &newId)
{
    NodeItem *item = m_nodes.take(oldId);
    if (!item)
        return;
    item->setNodeId(newId);
    m_nodes.insert(newId, item);
    if (m_status.contains(oldId))
        m_status.insert(newId, m_status.take(oldId));
    if (m_summaries.contains(oldId))
        m_summaries.insert(newId, m_summaries.take(oldId));
    for (ConnectionItem *wire : m_wiresOf.value(oldId))
        removeConnectionItem(PipelineConnection(wire->connection()));
    for (const PipelineConnection &connection : m_editor.pipeline().connections)
        addConnectionItem(connection);
    Q_EMIT nodeSelectionChanged(selectedNodes());
}

void PipelineScene::addConnectionItem(const PipelineConnection &connection)
{
    const QString key = wireKey(connection);
    if (m_wires.contains(key))
        return;
    const PortItem *source = portItem(connection.from, true);
    auto *wire = new ConnectionItem(connection, source ? source->spec().type : DataType::AnyDirectory);
    m_wires.insert(key, wire);
    m_wiresOf[connection.from.node].append(wire);
    m_wiresOf[connection.to.node].append(wire);
    addItem(wire);
    placeWire(wire);
    for (PortItem *port : {portItem(connection.from, true), portItem(connection.to, false)}) {
        if (port)
            port->setConnected(true);
    }
}

void PipelineScene::removeConnectionItem(const PipelineConnection &connection)
{
    ConnectionItem *wire = m_wires.take(wireKey(connection));
    if (!wire)
        return;
    m_wiresOf[connection.from.node].removeOne(wire);
    m_wiresOf[connection.to.node].removeOne(wire);
    delete wire;
    if (PortItem *input = portItem(connection.to, false))
        input->setConnected(false);
    const QList<ConnectionItem *> rest = m_wiresOf.value(connection.from.node);
    const bool stillUsed = std::any_of(rest.begin(), rest.end(), [&](const ConnectionItem *other) {
        return other->connection().from == connection.from;
    });
    if (PortItem *output = portItem(connection.from, true))
        output->setConnected(stillUsed);
}

void PipelineScene::placeWire(ConnectionItem *wire)
{
    const PortItem *from = portItem(wire->connection().from, true);
    const PortItem *to = portItem(wire->connection().to, false);
    // A wire of an unknown component still runs from edge to edge.
    const auto edge = [this](const PortAddress &address, bool isOutput) {
        const NodeItem *node = nodeItem(address.node);
        return node ? node->pos() + QPointF(isOutput ? NodeItem::width : 0, node->size().height() / 2) : QPointF();
    };
    wire->setEnds(from ? from->scenePos() : edge(wire->connection().from, true),
                  to ? to->scenePos() : edge(wire->connection().to, false));
}

void PipelineScene::updateWiresOf(const QString &nodeId)
{
    for (ConnectionItem *wire : m_wiresOf.value(nodeId))
        placeWire(wire);
}

ConnectionItem *PipelineScene::connectionItem(const PipelineConnection &connection) const
{
    return m_wires.value(wireKey(connection));
}

PortItem *PipelineScene::portItem(const PortAddress &address, bool isOutput) const
{
    const NodeItem *node = nodeItem(address.node);
    return node ? node->findPort(address.port, isOutput) : nullptr;
}

PortItem *PipelineScene::portNear(const QPointF &position, bool isOutput, double reach) const
{
    PortItem *nearest = nullptr;
    double best = reach;
    for (QGraphicsItem *item : items(QRectF(position - QPointF(reach, reach), QSizeF(2 * reach, 2 * reach)))) {
        auto *port = qgraphicsitem_cast<PortItem *>(item);
        if (!port || port->isOutput() != isOutput)
            continue;
        const double distance = QLineF(port->scenePos(), position).length();
        if (distance <= best) {
            best = distance;
            nearest = port;
        }
    }
    return nearest;
}

NodeItem *PipelineScene::nodeAt(const QPointF &position) const
{
    for (QGraphicsItem *item : items(position)) {
        if (auto *node = qgraphicsitem_cast<NodeItem *>(item))
            return node;
    }
    return nullptr;
}

QMap<QString, QSizeF> PipelineScene::nodeSizes() const
{
    QMap<QString, QSizeF> sizes;
    for (const NodeItem *item : m_nodes)
        sizes.insert(item->nodeId(), item->size());
    return sizes;
}

QRectF PipelineScene::contentRect() const
{
    QRectF content;
    for (const NodeItem *item : m_nodes)
        content |= QRectF(item->pos(), item->size());
    return content;
}

QStringList PipelineScene::selectedNodes() const
{
    QStringList ids;
    for (const PipelineNode &node : m_editor.pipeline().nodes) {
        const NodeItem *item = nodeItem(node.id);
        if (item && item->isSelected())
            ids.append(node.id);
    }
    return ids;
}

QList<PipelineConnection> PipelineScene::selectedConnections() const
{
    QList<PipelineConnection> connections;
    for (const ConnectionItem *wire : m_wires) {
        if (wire->isSelected())
            connections.append(wire->connection());
    }
    return connections;
}

void PipelineScene::selectNodes(const QStringList &ids)
{
    {
        const QSignalBlocker quiet(this);
        clearSelection();
        for (const QString &id : ids) {
            if (NodeItem *item = nodeItem(id))
                item->setSelected(true);
        }
    }
    Q_EMIT selectionChanged();
}

void PipelineScene::selectAll()
{
    selectNodes(QStringList(m_nodes.keyBegin(), m_nodes.keyEnd()));
}

void PipelineScene::setStatus(const QString &id, const NodeStatus &status)
{
    m_status.insert(id, status);
    if (NodeItem *item = nodeItem(id))
        item->setStatus(status);
}

void PipelineScene::clearStatus()
{
    m_status.clear();
    for (NodeItem *item : std::as_const(m_nodes))
        item->setStatus({});
}

void PipelineScene::setSummaries(const QMap<QString, QString> &summaries)
{
    m_summaries = summaries;
    for (NodeItem *item : std::as_const(m_nodes))
        item->setSummary(summaries.value(item->nodeId()));
}

void PipelineScene::setMachineFaults(const QList<Error> &faults)
{
    if (m_machineFaults == faults)
        return;
    m_machineFaults = faults;
    updateFaults();
}

void PipelineScene::updateFaults()
{
    QHash<QString, QList<Error>> byNode;
    for (const QList<Error> &list : {m_editor.document().faults(), m_machineFaults}) {
        for (const Error &fault : list)
            byNode[fault.nodeId].append(fault);
    }
    for (NodeItem *item : std::as_const(m_nodes))
        item->setFaults(byNode.value(item->nodeId()));
}

void PipelineScene::setWiresDimmed(bool dimmed)
{
    for (ConnectionItem *wire : std::as_const(m_wires))
        wire->setDimmed(dimmed);
}

} // namespace tw

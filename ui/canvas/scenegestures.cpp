// SPDX-License-Identifier: GPL-3.0-or-later
// What the mouse does to the scene, and the grid it is drawn on.
#include "ui/canvas/nodeitem.h"
#include "ui/canvas/pipelinescene.h"
#include "ui/canvas/wiredrag.h"
#include "ui/common/theme.h"
#include "ui/common/words.h"

#include <QGraphicsSceneMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QVarLengthArray>

#include <cmath>

namespace tw {

void PipelineScene::cancelGesture()
{
    m_wire.reset();
    QToolTip::hideText();
    if (!m_movingNodes)
        return;
    m_movingNodes = false;
    for (NodeItem *item : std::as_const(m_nodes))
        item->setPos(m_editor.document().node(item->nodeId())->position);
    if (QGraphicsItem *grabber = mouseGrabberItem())
        grabber->ungrabMouse();
}

void PipelineScene::commitMove()
{
    m_movingNodes = false;
    QMap<QString, QPointF> moved;
    for (const QString &id : selectedNodes()) {
        if (nodeItem(id)->pos() != m_editor.document().node(id)->position)
            moved.insert(id, nodeItem(id)->pos());
    }
    m_editor.moveNodes(moved, m_editor.newGesture());
}

void PipelineScene::mousePressEvent(QGraphicsSceneMouseEvent *event)
{
    if (event->button() == Qt::LeftButton) {
        PortItem *port = portNear(event->scenePos(), true, 12);
        if (!port)
            port = portNear(event->scenePos(), false, 12);
        if (port) {
            m_wire = std::make_unique<WireDrag>(*this, port, event->scenePos());
            event->accept();
            return;
        }
    }
    QGraphicsScene::mousePressEvent(event);
    const QGraphicsItem *grabber = mouseGrabberItem();
    m_movingNodes = event->button() == Qt::LeftButton && grabber && grabber->type() == NodeItem::Type;
}

void PipelineScene::mouseMoveEvent(QGraphicsSceneMouseEvent *event)
{
    if (!m_wire) {
        QGraphicsScene::mouseMoveEvent(event);
        return;
    }
    m_wire->moveTo(event->scenePos());
    if (m_wire->currentFault())
        QToolTip::showText(event->screenPos(), plainTooltip(errorTooltip(*m_wire->currentFault())));
    else
        QToolTip::hideText();
    event->accept();
}

void PipelineScene::mouseReleaseEvent(QGraphicsSceneMouseEvent *event)
{
    if (!m_wire) {
        QGraphicsScene::mouseReleaseEvent(event);
        if (m_movingNodes && event->button() == Qt::LeftButton)
            commitMove();
        return;
    }
    if (event->button() != Qt::LeftButton)
        return;
    const PortAddress fixed = m_wire->fixedEnd();
    const bool fixedIsOutput = m_wire->fixedIsOutput();
    const WireDrag::Drop drop = m_wire->dropAt(event->scenePos());
    m_wire.reset();
    event->accept();
    if (drop.reason) {
        QToolTip::showText(event->screenPos(), plainTooltip(errorTooltip(*drop.reason)));
        Q_EMIT connectionRefused(*drop.reason);
        return;
    }
    QToolTip::hideText();
    if (drop.outcome == WireDrag::Outcome::Empty) {
        Q_EMIT paletteRequested(event->scenePos(), fixed, fixedIsOutput);
    }
}

void PipelineScene::mouseDoubleClickEvent(QGraphicsSceneMouseEvent *event)
{
    if (const NodeItem *node = nodeAt(event->scenePos()))
        Q_EMIT nodeActivated(node->nodeId());
    else if (event->button() == Qt::LeftButton && items(event->scenePos()).isEmpty())
        Q_EMIT paletteRequested(event->scenePos(), {}, false);
    else
        QGraphicsScene::mouseDoubleClickEvent(event);
}

void PipelineScene::drawBackground(QPainter *painter, const QRectF &area)
{
    const ThemeColors &colors = themeColors();
    painter->fillRect(area, colors.canvas);
    const double scale = painter->worldTransform().m11();
    double step = canvasGrid;
    while (step * scale < 14)
        step *= 2;
    QVarLengthArray<QPointF, 4096> dots;
    for (double x = std::floor(area.left() / step) * step; x < area.right(); x += step) {
        for (double y = std::floor(area.top() / step) * step; y < area.bottom(); y += step)
            dots.append({x, y});
    }
    QPen pen(colors.grid, 2);
    pen.setCosmetic(true);
    pen.setCapStyle(Qt::RoundCap);
    painter->setRenderHint(QPainter::Antialiasing, false);
    painter->setPen(pen);
    painter->drawPoints(dots.constData(), int(dots.size()));
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/connectionitem.h"

#include "ui/common/theme.h"
#include "ui/common/words.h"

#include <QPainter>

#include <cmath>

namespace tw {

QPainterPath wirePath(const QPointF &from, const QPointF &to)
{
    // The handles grow with the distance, and a wire that runs back still leaves to the right.
    const double across = to.x() - from.x();
    const double handle = across >= 0 ? qBound(24.0, across / 2, 160.0)
                                      : qBound(48.0, -across / 2 + std::abs(to.y() - from.y()) / 4, 200.0);
    QPainterPath path(from);
    path.cubicTo(from + QPointF(handle, 0), to - QPointF(handle, 0), to);
    return path;
}

ConnectionItem::ConnectionItem(const PipelineConnection &connection, DataType dataType)
    : m_connection(connection), m_dataType(dataType)
{
    setFlag(ItemIsSelectable);
    setAcceptHoverEvents(true);
    setZValue(0);
    setToolTip(plainTooltip(
        QStringLiteral("%1 → %2\n%3").arg(connection.from.toText(), connection.to.toText(), dataTypeName(dataType))));
}

QRectF ConnectionItem::boundingRect() const
{
    return path().boundingRect().adjusted(-8, -8, 8, 8);
}

QPainterPath ConnectionItem::shape() const
{
    QPainterPathStroker stroker;
    stroker.setWidth(14);
    return stroker.createStroke(path());
}

void ConnectionItem::setEnds(const QPointF &from, const QPointF &to)
{
    setPath(wirePath(from, to));
}

void ConnectionItem::setDimmed(bool dimmed)
{
    setOpacity(dimmed ? .3 : 1);
}

void ConnectionItem::hoverEnterEvent(QGraphicsSceneHoverEvent *)
{
    m_hovered = true;
    update();
}

void ConnectionItem::hoverLeaveEvent(QGraphicsSceneHoverEvent *)
{
    m_hovered = false;
    update();
}

void ConnectionItem::paint(QPainter *painter, const QStyleOptionGraphicsItem *, QWidget *)
{
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(Qt::NoBrush);
    if (isSelected() || m_hovered) {
        QColor halo = themeColors().accent;
        halo.setAlphaF(isSelected() ? .45F : .22F);
        painter->setPen(QPen(halo, 7, Qt::SolidLine, Qt::RoundCap));
        painter->drawPath(path());
    }
    painter->setPen(QPen(dataTypeColor(m_dataType), 2.2, Qt::SolidLine, Qt::RoundCap));
    painter->drawPath(path());
}

} // namespace tw

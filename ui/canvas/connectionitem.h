// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/datatype.h"
#include "core/pipeline/pipeline.h"

#include <QGraphicsPathItem>

namespace tw {

/// Smooth curve from an output (right edge) to an input (left edge).
QPainterPath wirePath(const QPointF &from, const QPointF &to);

/// Picture of one connection.
class ConnectionItem : public QGraphicsPathItem
{
public:
    enum { Type = UserType + 3 };
    ConnectionItem(const PipelineConnection &connection, DataType dataType);
    int type() const override { return Type; }
    QRectF boundingRect() const override;
    QPainterPath shape() const override;
    void paint(QPainter *painter, const QStyleOptionGraphicsItem *option, QWidget *widget) override;

    const PipelineConnection &connection() const { return m_connection; }
    void setEnds(const QPointF &from, const QPointF &to);
    void setDimmed(bool dimmed);

protected:
    void hoverEnterEvent(QGraphicsSceneHoverEvent *event) override;
    void hoverLeaveEvent(QGraphicsSceneHoverEvent *event) override;

private:
    PipelineConnection m_connection;
    DataType m_dataType;
    bool m_hovered = false;
};

} // namespace tw

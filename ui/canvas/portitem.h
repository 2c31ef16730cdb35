// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"
#include "core/pipeline/pipeline.h"

#include <QGraphicsItem>

namespace tw {

enum class PortHighlight { None, Fits, Dimmed, Target };

/// A port of a node: its data type is told by colour and by shape. Child of a NodeItem, centred on
/// its own origin.
class PortItem : public QGraphicsItem
{
public:
    enum { Type = UserType + 2 };
    static constexpr double radius = 6.5;

    PortItem(const PortAddress &address, const PortSpec &spec, bool isOutput, QGraphicsItem *parent);
    int type() const override { return Type; }
    QRectF boundingRect() const override;
    QPainterPath shape() const override;
    void paint(QPainter *painter, const QStyleOptionGraphicsItem *option, QWidget *widget) override;

    const PortAddress &address() const { return m_address; }
    void setNodeId(const QString &id) { m_address.node = id; }
    const PortSpec &spec() const { return m_spec; }
    bool isOutput() const { return m_isOutput; }
    void setConnected(bool connected);
    void setHighlight(PortHighlight highlight);
    PortHighlight highlight() const { return m_highlight; }

protected:
    void hoverEnterEvent(QGraphicsSceneHoverEvent *event) override;
    void hoverLeaveEvent(QGraphicsSceneHoverEvent *event) override;

private:
    PortAddress m_address;
    PortSpec m_spec;
    bool m_isOutput;
    bool m_connected = false;
    bool m_hovered = false;
    PortHighlight m_highlight = PortHighlight::None;
};

/// Outline of a data type's mark, centred on the origin.
QPainterPath dataTypeShape(DataType type, double radius);

} // namespace tw

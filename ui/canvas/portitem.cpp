// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/portitem.h"

#include "ui/common/theme.h"
#include "ui/common/words.h"

#include <QCoreApplication>
#include <QPainter>

#include <cmath>
#include <numbers>

namespace tw {

namespace {

QPainterPath polygon(int corners, double radius, double startDegrees)
{
    QPainterPath path;
    for (int i = 0; i < corners; ++i) {
        const double angle = (startDegrees + 360.0 * i / corners) * std::numbers::pi / 180;
        const QPointF corner(radius * std::cos(angle), radius * std::sin(angle));
        if (i == 0)
            path.moveTo(corner);
        else
            path.lineTo(corner);
    }
    path.closeSubpath();
    return path;
}

} // namespace

QPainterPath dataTypeShape(DataType type, double radius)
{
    QPainterPath path;
    switch (type) {
    case DataType::AnyDirectory:
        path.addRoundedRect(QRectF(-radius * .85, -radius * .85, radius * 1.7, radius * 1.7), 1.5, 1.5);
        break;
    case DataType::ImageDirectory:
        path.addEllipse(QPointF(), radius * .95, radius * .95);
        break;
    case DataType::TransformationDirectory:
        return polygon(4, radius * 1.2, 0);
    case DataType::UntrainedModelDirectory:
        return polygon(3, radius * 1.25, 0);
    case DataType::ModelDirectory:
        return polygon(6, radius * 1.1, 0);
    case DataType::DataTable:
        path.addRect(QRectF(-radius * 1.1, -radius * .7, radius * 2.2, radius * 1.4));
        break;
    case DataType::EvaluationResult:
        return polygon(5, radius * 1.15, -90);
    }
    return path;
}

PortItem::PortItem(const PortAddress &address, const PortSpec &spec, bool isOutput, QGraphicsItem *parent)
    : QGraphicsItem(parent), m_address(address), m_spec(spec), m_isOutput(isOutput)
{
    setAcceptHoverEvents(true);
    setCursor(Qt::CrossCursor);
    QString tip = componentWord(spec.label) + QStringLiteral(": ") + dataTypeName(spec.type);
    if (!isOutput)
        tip += spec.optional ? QCoreApplication::translate("PortItem", " (optional)") : QString();
    setToolTip(plainTooltip(tip));
}

QRectF PortItem::boundingRect() const
{
    return QRectF(-13, -13, 26, 26);
}

QPainterPath PortItem::shape() const
{
    QPainterPath path;
    path.addEllipse(QPointF(), 12, 12);
    return path;
}

void PortItem::setConnected(bool connected)
{
    if (m_connected == connected)
        return;
    m_connected = connected;
    update();
}

void PortItem::setHighlight(PortHighlight highlight)
{
    if (m_highlight == highlight)
        return;
    m_highlight = highlight;
    update();
}

void PortItem::hoverEnterEvent(QGraphicsSceneHoverEvent *)
{
    m_hovered = true;
    update();
}

void PortItem::hoverLeaveEvent(QGraphicsSceneHoverEvent *)
{
    m_hovered = false;
    update();
}

void PortItem::paint(QPainter *painter, const QStyleOptionGraphicsItem *, QWidget *)
{
    const QColor color = dataTypeColor(m_spec.type);
    const bool glows = m_highlight == PortHighlight::Fits || m_highlight == PortHighlight::Target || m_hovered;
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setOpacity(m_highlight == PortHighlight::Dimmed ? .25 : 1);
    if (glows && m_highlight != PortHighlight::Dimmed) {
        QColor halo = color;
        halo.setAlphaF(m_highlight == PortHighlight::Target ? .5F : .25F);
        painter->setPen(Qt::NoPen);
        painter->setBrush(halo);
        painter->drawEllipse(QPointF(), 12, 12);
    }
    painter->setPen(QPen(color, 2));
    painter->setBrush(m_connected || glows ? color : themeColors().node);
    painter->drawPath(dataTypeShape(m_spec.type, radius - (m_highlight == PortHighlight::Target ? 0 : .8)));
}

} // namespace tw

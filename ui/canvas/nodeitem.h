// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"
#include "core/pipeline/pipeline.h"
#include "ui/canvas/nodestatus.h"

#include <QGraphicsItem>

namespace tw {

class PortItem;

/// Picture of one node. Knows its id and what to draw; the pipeline itself stays in the document.
class NodeItem : public QGraphicsItem
{
public:
    enum { Type = UserType + 1 };
    static constexpr double width = 224;

    /// `component` may be null: a node of an unknown component, without ports.
    NodeItem(const PipelineNode &node, const ComponentType *component);
    int type() const override { return Type; }
    QRectF boundingRect() const override;
    QPainterPath shape() const override;
    void paint(QPainter *painter, const QStyleOptionGraphicsItem *option, QWidget *widget) override;

    const QString &nodeId() const { return m_id; }
    void setNodeId(const QString &id);
    QSizeF size() const { return {width, height()}; }
    QList<PortItem *> ports() const { return m_ports; }
    PortItem *findPort(const QString &portId, bool isOutput) const;

    void setStatus(const NodeStatus &status);
    const NodeStatus &status() const { return m_status; }
    void setSummary(const QString &summary);
    const QString &summary() const { return m_summary; }
    void setFaults(const QList<Error> &faults);
    const QList<Error> &faults() const { return m_faults; }
    /// Line below the summary: the run's result or what it does now; empty when there is none.
    QString resultLine() const;

protected:
    QVariant itemChange(GraphicsItemChange change, const QVariant &value) override;
    void hoverEnterEvent(QGraphicsSceneHoverEvent *event) override;
    void hoverLeaveEvent(QGraphicsSceneHoverEvent *event) override;

private:
    double height() const;
    double portsBottom() const;
    void makePorts(const ComponentType &component);
    void updateTooltip();
    void paintHeader(QPainter *painter) const;
    void paintPortLabels(QPainter *painter) const;
    void paintFooter(QPainter *painter) const;
    void paintStatusMark(QPainter *painter, const QRectF &area) const;
    void paintBadge(QPainter *painter) const;

    QString m_id, m_title, m_category, m_description;
    QList<PortItem *> m_ports;
    int m_portRows = 0;
    NodeStatus m_status;
    QString m_summary;
    QList<Error> m_faults;
    bool m_hovered = false;
};

} // namespace tw

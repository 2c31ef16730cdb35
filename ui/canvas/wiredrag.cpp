// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/wiredrag.h"

#include "core/pipeline/validator.h"
#include "ui/canvas/connectionitem.h"
#include "ui/canvas/nodeitem.h"
#include "ui/canvas/pipelinescene.h"
#include "ui/canvas/portitem.h"
#include "ui/common/theme.h"

#include <QGraphicsPathItem>
#include <QLineF>
#include <QPen>

namespace tw {

constexpr double reach = 20;

WireDrag::WireDrag(PipelineScene &scene, PortItem *pressed, const QPointF &position)
    : m_scene(scene), m_fixed(pressed->address()), m_fixedIsOutput(pressed->isOutput()), m_start(position)
{
    const PortItem *fixed = pressed;
    if (!pressed->isOutput()) {
        if (const PipelineConnection *existing = scene.editor().pipeline().into(pressed->address())) {
            m_taken = *existing;
            m_fixed = existing->from;
            m_fixedIsOutput = true;
            if (const PortItem *source = scene.portItem(m_fixed, true))
                fixed = source;
        }
    }
    m_fixedPoint = fixed->scenePos();
    m_picture = new QGraphicsPathItem;
    QPen pen(dataTypeColor(fixed->spec().type), 2.6, Qt::SolidLine, Qt::RoundCap);
    m_picture->setPen(pen);
    m_picture->setZValue(10);
    m_picture->setAcceptedMouseButtons(Qt::NoButton);
    scene.addItem(m_picture);
    if (m_taken) {
        if (ConnectionItem *wire = scene.connectionItem(*m_taken))
            wire->hide();
    }
    markPorts();
    moveTo(position);
}

WireDrag::~WireDrag()
{
    clearMarks();
    delete m_picture;
    if (m_taken) {
        if (ConnectionItem *wire = m_scene.connectionItem(*m_taken))
            wire->show();
    }
}

std::optional<Error> WireDrag::faultOf(const PortItem *target) const
{
    const Pipeline &pipeline = m_scene.editor().pipeline();
    const ComponentRegistry &registry = m_scene.editor().document().registry();
    return m_fixedIsOutput ? connectionFault(pipeline, m_fixed, target->address(), registry)
                           : connectionFault(pipeline, target->address(), m_fixed, registry);
}

void WireDrag::markPorts()
{
    for (QGraphicsItem *item : m_scene.items()) {
        auto *port = qgraphicsitem_cast<PortItem *>(item);
        if (!port)
            continue;
        const bool isFixed = port->address() == m_fixed && port->isOutput() == m_fixedIsOutput;
        if (isFixed)
            port->setHighlight(PortHighlight::Target);
        else if (port->isOutput() == m_fixedIsOutput || faultOf(port))
            port->setHighlight(PortHighlight::Dimmed);
        else
            port->setHighlight(PortHighlight::Fits);
    }
    m_scene.setWiresDimmed(true);
}

void WireDrag::clearMarks()
{
    for (QGraphicsItem *item : m_scene.items()) {
        if (auto *port = qgraphicsitem_cast<PortItem *>(item))
            port->setHighlight(PortHighlight::None);
    }
    m_scene.setWiresDimmed(false);
}

PortItem *WireDrag::targetAt(const QPointF &position) const
{
    if (PortItem *near = m_scene.portNear(position, !m_fixedIsOutput, reach))
        return near;
    // Over the body of a node: its first port that fits.
    if (const NodeItem *node = m_scene.nodeAt(position)) {
        for (PortItem *port : node->ports()) {
            if (port->isOutput() != m_fixedIsOutput && !faultOf(port))
                return port;
        }
        for (PortItem *port : node->ports()) {
            if (port->isOutput() != m_fixedIsOutput && node->nodeId() != m_fixed.node)
                return port;
        }
    }
    return nullptr;
}

void WireDrag::moveTo(const QPointF &position)
{
    PortItem *target = targetAt(position);
    if (target != m_target) {
        if (m_target)
            m_target->setHighlight(m_fault ? PortHighlight::Dimmed : PortHighlight::Fits);
        m_fault = target ? faultOf(target) : std::nullopt;
        if (target && !m_fault)
            target->setHighlight(PortHighlight::Target);
        m_target = target;
    }
    const QPointF loose = m_target && !m_fault ? m_target->scenePos() : position;
    m_picture->setPath(m_fixedIsOutput ? wirePath(m_fixedPoint, loose) : wirePath(loose, m_fixedPoint));
}

WireDrag::Drop WireDrag::dropAt(const QPointF &position)
{
    moveTo(position);
    PipelineEditor &editor = m_scene.editor();
    if (!m_target) {
        if (QLineF(m_start, position).length() < reach)
            return {Outcome::Nothing, {}};
        if (m_taken) {
            editor.disconnect(*m_taken);
            return {Outcome::Disconnected, {}};
        }
        // A node's own body is no empty canvas.
        return {m_scene.nodeAt(position) ? Outcome::Nothing : Outcome::Empty, {}};
    }
    if (m_fault)
        return {Outcome::Refused, m_fault};
    const PortAddress from = m_fixedIsOutput ? m_fixed : m_target->address();
    const PortAddress to = m_fixedIsOutput ? m_target->address() : m_fixed;
    if (m_taken && m_taken->to == to)
        return {Outcome::Nothing, {}};
    if (m_taken) {
        editor.undoStack().beginMacro(QObject::tr("Move a connection"));
        editor.disconnect(*m_taken);
    }
    const std::optional<Error> refused = editor.connectPorts(from, to);
    if (m_taken)
        editor.undoStack().endMacro();
    return {refused ? Outcome::Refused : Outcome::Connected, refused};
}

} // namespace tw

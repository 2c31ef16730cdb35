// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/nodeitem.h"

#include "ui/canvas/pipelinescene.h"
#include "ui/canvas/portitem.h"
#include "ui/common/theme.h"
#include "ui/common/words.h"

#include <QApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QStyleOptionGraphicsItem>

namespace tw {

namespace {

constexpr double headerHeight = 46;
constexpr double rowHeight = 22;
constexpr double rowsTop = headerHeight + 6;
constexpr double footerLine = 20;
constexpr double cornerRadius = 8;
constexpr double sidePadding = 12;
/// Below this scale texts would be unreadable: they are left out.
constexpr double textScale = .38;

QFont scaledFont(double factor, bool bold = false)
{
    QFont font = QApplication::font();
    font.setPixelSize(qRound(13 * factor));
    font.setBold(bold);
    return font;
}

void drawElided(QPainter *painter, const QRectF &area, const QString &text, Qt::Alignment alignment)
{
    const QString shown = QFontMetricsF(painter->font()).elidedText(text, Qt::ElideRight, area.width());
    painter->drawText(area, int(alignment | Qt::AlignVCenter) | Qt::TextSingleLine, shown);
}

} // namespace

NodeItem::NodeItem(const PipelineNode &node, const ComponentType *component)
    : m_id(node.id), m_title(component ? componentWord(component->displayName) : node.component)
{
    setFlags(ItemIsMovable | ItemIsSelectable | ItemSendsGeometryChanges);
    setAcceptHoverEvents(true);
    setPos(node.position);
    setZValue(1);
    if (component) {
        m_category = component->category;
        m_description = componentWord(component->description);
        makePorts(*component);
    } else {
        m_description =
            QApplication::translate("NodeItem", "This version does not know the component \"%1\".").arg(node.component);
    }
    updateTooltip();
}

void NodeItem::makePorts(const ComponentType &component)
{
    const auto place = [this](const QList<PortSpec> &specs, bool isOutput) {
        for (int row = 0; row < specs.size(); ++row) {
            auto *port = new PortItem({m_id, specs[row].id}, specs[row], isOutput, this);
            port->setPos(isOutput ? width : 0, rowsTop + rowHeight * (row + .5));
            m_ports.append(port);
        }
    };
    place(component.inputs, false);
    place(component.outputs, true);
    m_portRows = int(qMax(component.inputs.size(), component.outputs.size()));
}

double NodeItem::portsBottom() const
{
    return rowsTop + rowHeight * m_portRows + 5;
}

double NodeItem::height() const
{
    return portsBottom() + footerLine * (resultLine().isEmpty() ? 1 : 2) + 4;
}

QRectF NodeItem::boundingRect() const
{
    return QRectF(0, 0, width, height()).adjusted(-12, -12, 12, 12);
}

QPainterPath NodeItem::shape() const
{
    QPainterPath path;
    path.addRoundedRect(QRectF(0, 0, width, height()), cornerRadius, cornerRadius);
    return path;
}

void NodeItem::setNodeId(const QString &id)
{
    m_id = id;
    for (PortItem *port : std::as_const(m_ports))
        port->setNodeId(id);
    update();
}

PortItem *NodeItem::findPort(const QString &portId, bool isOutput) const
{
    for (PortItem *port : m_ports) {
        if (port->isOutput() == isOutput && port->address().port == portId)
            return port;
    }
    return nullptr;
}

void NodeItem::setStatus(const NodeStatus &status)
{
    prepareGeometryChange();
    m_status = status;
    updateTooltip();
    update();
}

void NodeItem::setSummary(const QString &summary)
{
    if (m_summary == summary)
        return;
    m_summary = summary;
    updateTooltip();
    update();
}

void NodeItem::setFaults(const QList<Error> &faults)
{
    if (m_faults == faults)
        return;
    m_faults = faults;
    updateTooltip();
    update();
}

QString NodeItem::resultLine() const
{
    switch (m_status.state) {
    case NodeState::Failed:
        return m_status.runError ? errorText(*m_status.runError) : nodeStateWord(m_status.state);
    case NodeState::Running:
    case NodeState::Paused:
    case NodeState::CancelRequested:
        if (!m_status.progressText.isEmpty())
            return m_status.progressText;
        break;
    case NodeState::NotStarted:
        return {};
    default:
        break;
    }
    return m_status.result.isEmpty() ? nodeStateWord(m_status.state) : m_status.result;
}

void NodeItem::updateTooltip()
{
    QStringList lines;
    for (const Error &fault : std::as_const(m_faults))
        lines.append(errorTooltip(fault));
    if (m_status.runError)
        lines.append(errorTooltip(*m_status.runError));
    if (lines.isEmpty()) {
        lines.append(m_description);
        if (!m_summary.isEmpty())
            lines.append(m_summary);
        if (m_status.state != NodeState::NotStarted)
            lines.append(nodeStateWord(m_status.state));
        if (m_status.changedSinceRun)
            lines.append(QApplication::translate("NodeItem", "Changed since its last run."));
    }
    setToolTip(plainTooltip(lines.join(QStringLiteral("\n"))));
}

QVariant NodeItem::itemChange(GraphicsItemChange change, const QVariant &value)
{
    auto *pipelineScene = static_cast<PipelineScene *>(scene());
    if (!pipelineScene)
        return QGraphicsItem::itemChange(change, value);
    if (change == ItemPositionChange && pipelineScene->isMovingNodes())
        return snappedToGrid(value.toPointF());
    if (change == ItemPositionHasChanged)
        pipelineScene->updateWiresOf(m_id);
    if (change == ItemSelectedHasChanged)
        setZValue(isSelected() ? 2 : 1);
    return QGraphicsItem::itemChange(change, value);
}

void NodeItem::hoverEnterEvent(QGraphicsSceneHoverEvent *)
{
    m_hovered = true;
    update();
}

void NodeItem::hoverLeaveEvent(QGraphicsSceneHoverEvent *)
{
    m_hovered = false;
    update();
}

void NodeItem::paint(QPainter *painter, const QStyleOptionGraphicsItem *option, QWidget *)
{
    const ThemeColors &colors = themeColors();
    const QRectF body(0, 0, width, height());
    const double scale = option->levelOfDetailFromTransform(painter->worldTransform());
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    QColor shadow(0, 0, 0, Theme::instance().isDark() ? 70 : 22);
    painter->setBrush(shadow);
    painter->drawRoundedRect(body.translated(0, 2).adjusted(-1, 0, 1, 1.5), cornerRadius + 1, cornerRadius + 1);
    painter->setBrush(colors.node);
    painter->drawRoundedRect(body, cornerRadius, cornerRadius);
    painter->save();
    QPainterPath outline;
    outline.addRoundedRect(body, cornerRadius, cornerRadius);
    painter->setClipPath(outline, Qt::IntersectClip);
    paintHeader(painter);
    painter->fillRect(QRectF(0, portsBottom(), width, height() - portsBottom()), colors.nodeFooter);
    painter->restore();
    if (scale >= textScale) {
        paintPortLabels(painter);
        paintFooter(painter);
    }
    paintStatusMark(painter, QRectF(width - sidePadding - 18, 15, 18, 18));
    painter->setBrush(Qt::NoBrush);
    const bool wrong = !m_faults.isEmpty() || m_status.state == NodeState::Failed;
    QPen border(wrong ? colors.bad : m_hovered ? colors.nodeHover : colors.nodeBorder, 1.2);
    if (isSelected())
        border = QPen(colors.accent, 2.4);
    painter->setPen(border);
    painter->drawRoundedRect(body, cornerRadius, cornerRadius);
    paintBadge(painter);
}

void NodeItem::paintHeader(QPainter *painter) const
{
    const ThemeColors &colors = themeColors();
    const QColor band = m_category.isEmpty() ? colors.faintText : categoryColor(m_category);
    QColor tint = band;
    tint.setAlphaF(Theme::instance().isDark() ? .22F : .11F);
    painter->fillRect(QRectF(0, 0, width, headerHeight), tint);
    painter->fillRect(QRectF(0, 0, width, 4), band);
    painter->setPen(QPen(colors.nodeBorder, 1));
    painter->drawLine(QPointF(0, headerHeight), QPointF(width, headerHeight));
    const bool marked = m_status.state != NodeState::NotStarted;
    const double textWidth = width - 2 * sidePadding - (marked ? 22 : 0) + 4;
    painter->setPen(colors.text);
    painter->setFont(scaledFont(.96, true));
    drawElided(painter, QRectF(sidePadding, 8, textWidth, 20), m_title, Qt::AlignLeft);
    painter->setPen(colors.mutedText);
    painter->setFont(scaledFont(.85));
    drawElided(painter, QRectF(sidePadding, 26, textWidth, 16), m_id, Qt::AlignLeft);
}

void NodeItem::paintPortLabels(QPainter *painter) const
{
    painter->setFont(scaledFont(.88));
    painter->setPen(themeColors().mutedText);
    const double half = width / 2 - sidePadding;
    for (const PortItem *port : m_ports) {
        const double top = port->pos().y() - rowHeight / 2;
        // A label may use the whole row when nothing stands opposite.
        const bool alone = std::none_of(m_ports.begin(), m_ports.end(), [&](const PortItem *other) {
            return other->isOutput() != port->isOutput() && other->pos().y() == port->pos().y();
        });
        const double room = alone ? width - 2 * sidePadding - 4 : half;
        const QRectF area = port->isOutput() ? QRectF(width - sidePadding - 2 - room, top, room, rowHeight)
                                             : QRectF(sidePadding + 2, top, room, rowHeight);
        drawElided(painter, area, componentWord(port->spec().label), port->isOutput() ? Qt::AlignRight : Qt::AlignLeft);
    }
}

void NodeItem::paintFooter(QPainter *painter) const
{
    const ThemeColors &colors = themeColors();
    const double top = portsBottom();
    painter->setPen(QPen(colors.nodeBorder, 1));
    painter->drawLine(QPointF(0, top), QPointF(width, top));
    const QRectF first(sidePadding, top + 2, width - 2 * sidePadding, footerLine);
    painter->setFont(scaledFont(.88));
    const bool wrong = !m_faults.isEmpty();
    painter->setPen(wrong ? colors.bad : colors.mutedText);
    const QString line = wrong ? errorText(m_faults.first()) : m_summary.isEmpty() ? QStringLiteral("–") : m_summary;
    drawElided(painter, first, line, Qt::AlignLeft);
    const QString result = resultLine();
    if (result.isEmpty())
        return;
    const bool failed = m_status.state == NodeState::Failed;
    const bool running = m_status.state == NodeState::Running;
    painter->setFont(scaledFont(.88, !failed));
    painter->setPen(failed ? colors.bad : running ? colors.accent : colors.good);
    const bool done = m_status.state == NodeState::Completed || m_status.state == NodeState::Reused;
    if (m_status.changedSinceRun || (!done && !failed && !running))
        painter->setPen(colors.faintText);
    drawElided(painter, first.translated(0, footerLine), result, Qt::AlignLeft);
}

void NodeItem::paintStatusMark(QPainter *painter, const QRectF &area) const
{
    const ThemeColors &colors = themeColors();
    const auto ring = [&](const QColor &color, Qt::PenStyle style = Qt::SolidLine) {
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(color, 2, style, Qt::RoundCap));
        painter->drawEllipse(area.adjusted(1.5, 1.5, -1.5, -1.5));
    };
    const auto disc = [&](const QColor &color, const QList<QPointF> &stroke) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(m_status.changedSinceRun ? colors.faintText : color);
        painter->drawEllipse(area);
        painter->setPen(QPen(colors.node, 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        for (int i = 0; i + 1 < stroke.size(); ++i)
            painter->drawLine(area.topLeft() + stroke[i], area.topLeft() + stroke[i + 1]);
    };
    switch (m_status.state) {
    case NodeState::NotStarted:
        break;
    case NodeState::Queued:
    case NodeState::Paused:
        ring(colors.faintText, Qt::DotLine);
        break;
    case NodeState::Running:
    case NodeState::CancelRequested: {
        ring(colors.nodeBorder);
        painter->setPen(QPen(colors.accent, 3, Qt::SolidLine, Qt::RoundCap));
        const double share = m_status.progress < 0 ? .25 : qBound(.02, m_status.progress, 1.0);
        painter->drawArc(area.adjusted(1.5, 1.5, -1.5, -1.5), 90 * 16, -qRound(share * 360 * 16));
        break;
    }
    case NodeState::Completed:
        disc(colors.good, {{5, 9.5}, {8, 12.5}, {13, 6.5}});
        break;
    case NodeState::Reused:
        disc(colors.info, {{5, 9.5}, {8, 12.5}, {13, 6.5}});
        break;
    case NodeState::Failed:
        disc(colors.bad, {{6, 6}, {12, 12}, {9, 9}, {12, 6}, {6, 12}});
        break;
    case NodeState::Canceled:
    case NodeState::Interrupted:
    case NodeState::Skipped:
        disc(colors.faintText, {{5.5, 9}, {12.5, 9}});
        break;
    }
}

void NodeItem::paintBadge(QPainter *painter) const
{
    if (m_faults.isEmpty())
        return;
    const ThemeColors &colors = themeColors();
    const QRectF badge(width - 11, -9, 20, 20);
    painter->setPen(QPen(colors.canvas, 2));
    painter->setBrush(colors.bad);
    painter->drawEllipse(badge);
    painter->setPen(colors.node);
    painter->setFont(scaledFont(.95, true));
    painter->drawText(badge, Qt::AlignCenter, QStringLiteral("!"));
}

} // namespace tw

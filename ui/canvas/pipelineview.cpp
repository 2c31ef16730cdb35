// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/pipelineview.h"

#include "ui/canvas/nodeitem.h"

#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QScrollBar>
#include <QUrl>
#include <QWheelEvent>

#include <cmath>

namespace tw {

namespace {
constexpr double minimumZoom = .1;
constexpr double maximumZoom = 3;
constexpr double zoomStep = 1.2;
constexpr double fitMargin = 28;
constexpr double largestFitZoom = 1.25;
} // namespace

PipelineView::PipelineView(PipelineScene &scene, QWidget *parent) : QGraphicsView(&scene, parent), m_scene(scene)
{
    setObjectName(QStringLiteral("pipelineView"));
    setAccessibleName(tr("Pipeline canvas"));
    setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
    setDragMode(QGraphicsView::RubberBandDrag);
    setRubberBandSelectionMode(Qt::IntersectsItemShape);
    setViewportUpdateMode(QGraphicsView::FullViewportUpdate);
    setTransformationAnchor(QGraphicsView::NoAnchor);
    setResizeAnchor(QGraphicsView::AnchorViewCenter);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAcceptDrops(true);
    setMouseTracking(true);
    const auto showHint = [this] {
        if (m_hint)
            m_hint->setVisible(m_scene.editor().pipeline().nodes.isEmpty());
    };
    connect(&scene.editor().document(), &PipelineDocument::changed, this, showHint);
}

void PipelineView::setEmptyHint(QWidget *hint)
{
    m_hint = hint;
    hint->setParent(this);
    hint->setVisible(m_scene.editor().pipeline().nodes.isEmpty());
    placeHint();
}

void PipelineView::placeHint()
{
    if (!m_hint)
        return;
    m_hint->adjustSize();
    m_hint->move((width() - m_hint->width()) / 2, (height() - m_hint->height()) / 2);
}

void PipelineView::zoomBy(double factor, const QPoint &viewportPoint)
{
    const double target = qBound(minimumZoom, zoom() * factor, maximumZoom);
    if (qFuzzyCompare(target, zoom()))
        return;
    const QPointF fixed = mapToScene(viewportPoint);
    const double applied = target / zoom();
    scale(applied, applied);
    const QPoint shift = mapFromScene(fixed) - viewportPoint;
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + shift.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() + shift.y());
    Q_EMIT zoomChanged(zoom());
}

void PipelineView::zoomIn()
{
    zoomBy(zoomStep, viewport()->rect().center());
}

void PipelineView::zoomOut()
{
    zoomBy(1 / zoomStep, viewport()->rect().center());
}

void PipelineView::zoomToActualSize()
{
    zoomBy(1 / zoom(), viewport()->rect().center());
}

void PipelineView::fitPipeline()
{
    const QRectF content = m_scene.contentRect();
    if (content.isEmpty()) {
        zoomToActualSize();
        centerOn(0, 0);
        return;
    }
    const QRectF wanted = content.adjusted(-fitMargin, -fitMargin, fitMargin, fitMargin);
    const double factor = qMin(viewport()->width() / wanted.width(), viewport()->height() / wanted.height());
    const double target = qBound(minimumZoom, factor, largestFitZoom);
    setTransform(QTransform::fromScale(target, target));
    centerOn(content.center());
    Q_EMIT zoomChanged(zoom());
}

QPointF PipelineView::visibleCenter() const
{
    return mapToScene(viewport()->rect().center());
}

QPointF PipelineView::cursorPosition() const
{
    const QPoint point = viewport()->mapFromGlobal(QCursor::pos());
    return viewport()->rect().contains(point) ? mapToScene(point) : visibleCenter();
}

void PipelineView::wheelEvent(QWheelEvent *event)
{
    const double notches = event->angleDelta().y() / 120.0;
    if (notches != 0)
        zoomBy(std::pow(zoomStep, notches), event->position().toPoint());
    event->accept();
}

bool PipelineView::event(QEvent *event)
{
    // Tab opens the palette; Shift+Tab and Ctrl+Tab still leave the canvas.
    if (event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        if (key->key() == Qt::Key_Tab && key->modifiers() == Qt::NoModifier) {
            Q_EMIT m_scene.paletteRequested(cursorPosition(), {}, false);
            return true;
        }
    }
    return QGraphicsView::event(event);
}

void PipelineView::nudge(const QPointF &direction, bool autoRepeat)
{
    if (!autoRepeat || m_nudgeGesture == 0)
        m_nudgeGesture = m_scene.editor().newGesture();
    QMap<QString, QPointF> targets;
    for (const QString &id : m_scene.selectedNodes())
        targets.insert(id, m_scene.nodeItem(id)->pos() + direction * canvasGrid);
    m_scene.editor().moveNodes(targets, m_nudgeGesture);
}

void PipelineView::keyPressEvent(QKeyEvent *event)
{
    const double step = event->modifiers() & Qt::ShiftModifier ? 4 : 1;
    switch (event->key()) {
    case Qt::Key_Left:
        return nudge({-step, 0}, event->isAutoRepeat());
    case Qt::Key_Right:
        return nudge({step, 0}, event->isAutoRepeat());
    case Qt::Key_Up:
        return nudge({0, -step}, event->isAutoRepeat());
    case Qt::Key_Down:
        return nudge({0, step}, event->isAutoRepeat());
    case Qt::Key_Space:
        if (!event->isAutoRepeat()) {
            m_spaceDown = true;
            viewport()->setCursor(Qt::OpenHandCursor);
        }
        return;
    case Qt::Key_Escape:
        if (m_scene.isDraggingWire() || m_scene.isMovingNodes())
            m_scene.cancelGesture();
        else
            m_scene.clearSelection();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (event->modifiers() == Qt::NoModifier && m_scene.selectedNodes().size() == 1) {
            Q_EMIT m_scene.nodeActivated(m_scene.selectedNodes().first());
            return;
        }
        break;
    default:
        break;
    }
    QGraphicsView::keyPressEvent(event);
}

void PipelineView::keyReleaseEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) {
        m_spaceDown = false;
        if (!m_panning)
            viewport()->unsetCursor();
        return;
    }
    QGraphicsView::keyReleaseEvent(event);
}

void PipelineView::startPanning(const QPoint &point)
{
    m_panning = true;
    m_panPoint = point;
    viewport()->setCursor(Qt::ClosedHandCursor);
}

void PipelineView::stopPanning()
{
    m_panning = false;
    if (m_spaceDown)
        viewport()->setCursor(Qt::OpenHandCursor);
    else
        viewport()->unsetCursor();
}

void PipelineView::mousePressEvent(QMouseEvent *event)
{
    const bool pans = event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && m_spaceDown);
    if (pans)
        startPanning(event->position().toPoint());
    else if (event->button() != Qt::RightButton)
        QGraphicsView::mousePressEvent(event);
}

void PipelineView::mouseMoveEvent(QMouseEvent *event)
{
    if (!m_panning) {
        QGraphicsView::mouseMoveEvent(event);
        return;
    }
    const QPoint point = event->position().toPoint();
    const QPoint shift = point - m_panPoint;
    m_panPoint = point;
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() - shift.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() - shift.y());
}

void PipelineView::mouseReleaseEvent(QMouseEvent *event)
{
    if (m_panning)
        stopPanning();
    else
        QGraphicsView::mouseReleaseEvent(event);
}

void PipelineView::resizeEvent(QResizeEvent *event)
{
    QGraphicsView::resizeEvent(event);
    placeHint();
}

void PipelineView::contextMenuEvent(QContextMenuEvent *event)
{
    const QPointF position = mapToScene(event->pos());
    if (NodeItem *node = m_scene.nodeAt(position); node && !node->isSelected())
        m_scene.selectNodes({node->nodeId()});
    Q_EMIT contextMenuRequested(event->globalPos());
}

bool PipelineView::accepts(const QMimeData *mime) const
{
    return mime->hasFormat(QLatin1String(componentMimeType)) || mime->hasUrls();
}

void PipelineView::dragEnterEvent(QDragEnterEvent *event)
{
    if (accepts(event->mimeData()))
        event->acceptProposedAction();
}

void PipelineView::dragMoveEvent(QDragMoveEvent *event)
{
    if (accepts(event->mimeData()))
        event->acceptProposedAction();
}

void PipelineView::dropEvent(QDropEvent *event)
{
    const QPointF position = mapToScene(event->position().toPoint());
    const QMimeData *mime = event->mimeData();
    if (mime->hasFormat(QLatin1String(componentMimeType))) {
        const QString component = QString::fromUtf8(mime->data(QLatin1String(componentMimeType)));
        const QString id = m_scene.editor().addNode(component, position - QPointF(NodeItem::width / 2, 23));
        m_scene.selectNodes({id});
        setFocus();
        event->acceptProposedAction();
        return;
    }
    QStringList folders, files;
    for (const QUrl &url : mime->urls()) {
        if (url.isLocalFile())
            (QFileInfo(url.toLocalFile()).isDir() ? folders : files).append(url.toLocalFile());
    }
    event->acceptProposedAction();
    if (!folders.isEmpty())
        Q_EMIT foldersDropped(folders, position);
    else if (!files.isEmpty())
        Q_EMIT filesDropped(files);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/canvas/pipelinescene.h"

#include <QGraphicsView>

namespace tw {

inline constexpr char componentMimeType[] = "application/x-trainwright-component";

/// The canvas: zoom about the cursor, panning, rubber band, drops from the palette and from file
/// managers, keys.
class PipelineView : public QGraphicsView
{
    Q_OBJECT
public:
    PipelineView(PipelineScene &scene, QWidget *parent = nullptr);

    PipelineScene &pipelineScene() const { return m_scene; }
    double zoom() const { return transform().m11(); }
    void zoomBy(double factor, const QPoint &viewportPoint);
    void zoomIn();
    void zoomOut();
    void zoomToActualSize();
    void fitPipeline();
    /// Middle of what is seen, scene coordinates.
    QPointF visibleCenter() const;
    /// Under the mouse when it is over the canvas, else the middle.
    QPointF cursorPosition() const;
    /// Shown over an empty canvas: three ways in.
    void setEmptyHint(QWidget *hint);

Q_SIGNALS:
    void foldersDropped(const QStringList &paths, const QPointF &position);
    void filesDropped(const QStringList &paths);
    void contextMenuRequested(const QPoint &globalPosition);
    void zoomChanged(double zoom);

protected:
    bool event(QEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void keyReleaseEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dragMoveEvent(QDragMoveEvent *event) override;
    void dropEvent(QDropEvent *event) override;

private:
    void nudge(const QPointF &direction, bool autoRepeat);
    void startPanning(const QPoint &point);
    void stopPanning();
    void placeHint();
    bool accepts(const QMimeData *mime) const;

    PipelineScene &m_scene;
    QWidget *m_hint = nullptr;
    bool m_spaceDown = false;
    bool m_panning = false;
    QPoint m_panPoint;
    int m_nudgeGesture = 0;
};

} // namespace tw

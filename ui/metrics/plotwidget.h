// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/metrics/decimate.h"
#include "ui/metrics/numberformat.h"
#include "ui/metrics/plottheme.h"

#include <QList>
#include <QPointF>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace tw {

/// One curve; the numbers stay where they are.
struct PlotCurve
{
    QString label;
    QColor color;
    AxisValues x;
    std::span<const double> y;
    const ExtremesIndex *index = nullptr; ///< of y, up to date
    bool faint = false;                   ///< raw values behind a smoothed curve; not in the legend
};

struct PlotMarker
{
    QPointF at; ///< in the plot's units
    QString label;
    QColor color;
};

struct PlotContent
{
    QList<PlotCurve> curves;
    QList<PlotMarker> markers;
    QString note; ///< shown when nothing can be drawn
};

/// A titled plot with legend, crosshair, zoom and pan. Pulls its content from the source function
/// whenever it draws, so the content may hold views into data that the source's owner changes.
/// The abscissa range is given from outside (plots are linked); the ordinate range follows what is
/// visible until the person zooms it.
class PlotWidget : public QWidget
{
    Q_OBJECT
public:
    explicit PlotWidget(const QString &title, QWidget *parent = nullptr);
    ~PlotWidget() override;

    void setSource(std::function<PlotContent()> source);
    void setStyles(NumberStyle x, NumberStyle y);
    void setXTitle(const QString &title);
    void setXRange(double low, double high);
    void setLogY(bool on);
    /// The ordinate follows the data again.
    void resetY();
    void applyTheme(const PlotTheme &theme);
    /// Reads the source and draws.
    void refresh();
    /// Shows values at this abscissa; nothing: hides them.
    void setCrosshair(std::optional<double> x);

    QString title() const;
    std::pair<double, double> xRange() const;
    std::pair<double, double> yRange() const;
    /// What the last refresh drew, in the order of the source's curves.
    const QList<DrawnCurve> &drawnCurves() const;

    /// Size of a picture of all plots, `columns` beside each other, in device-independent pixels.
    static QSize gridSize(const QList<PlotWidget *> &plots, int columns);
    /// Paints that picture, `scale` times as large.
    static void paintGrid(const QList<PlotWidget *> &plots, int columns, QPaintDevice &device, double scale);

Q_SIGNALS:
    /// The person zoomed or panned.
    void xRangeChosen(double low, double high);
    void crosshairMoved(double x);
    void crosshairLeft();
    void resetRequested();
    void menuRequested(const QPoint &globalPosition);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/metrics/plottheme.h"

#include <QList>
#include <QPointF>
#include <QRectF>
#include <QString>

class QPainter;

namespace tw {

struct ReadoutRow
{
    QString label, value;
    QColor color;
};

/// Crosshair at `x` (pixels) with dots on the curves and a box of values beside it.
struct Crosshair
{
    double x = 0;
    QString title;
    QList<ReadoutRow> rows;
    QList<std::pair<QPointF, QColor>> dots;
};

void paintCrosshair(QPainter &painter, const QRectF &plot, const Crosshair &crosshair, const PlotTheme &theme);
/// A ring with a label kept inside the plot: the best epoch.
void paintMarker(QPainter &painter, const QRectF &plot, QPointF at, const QString &label, const QColor &color,
                 const PlotTheme &theme);
struct LegendEntry
{
    QString label;
    QColor color;
};
/// Height that paintHeader() needs in `width`.
double headerHeight(double width, const QString &title, const QList<LegendEntry> &legend);
/// Title and legend; the legend goes to lines of its own where it does not fit beside the title.
void paintHeader(QPainter &painter, const QRectF &area, const QString &title, const QList<LegendEntry> &legend,
                 const PlotTheme &theme);
/// A small triangle on the lower edge: a value that is not finite.
void paintNotFinite(QPainter &painter, const QRectF &plot, double x, const PlotTheme &theme);
/// Centred words in an empty plot.
void paintNote(QPainter &painter, const QRectF &plot, const QString &note, const PlotTheme &theme);

} // namespace tw

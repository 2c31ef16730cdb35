// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/metrics/plotcatalog.h"
#include "ui/metrics/plottheme.h"
#include "ui/metrics/plotwidget.h"

#include "core/metrics/metricstore.h"

#include <QStringList>

namespace tw {

class MetricsFeed;

enum class MetricsAxis { Step, Epoch, Time };

/// What the tab shows of the feed.
struct MetricsView
{
    MetricsFeed &feed;
    QString node; ///< empty: all nodes
    MetricsAxis axis = MetricsAxis::Step;
    bool smoothed = false;
    bool logarithmic = false;
    PlotTheme theme;
};

NumberStyle axisStyle(MetricsAxis axis);
QString axisTitle(MetricsAxis axis);
AxisValues axisValues(const MetricSeries &series, MetricsAxis axis);
/// Loss and learning rate; ratios and times stay linear.
bool mayBeLogarithmic(const PlotKind &kind);
/// Curves and marks of one plot. Valid until the feed changes.
PlotContent plotContent(const PlotKind &kind, const MetricsView &view);
/// From the first to the last abscissa of all plots with these ids, a little wider.
std::pair<double, double> axisExtent(const QList<PlotKind> &kinds, const QStringList &ids, const MetricsView &view);
/// The node that the big numbers speak of: the chosen one, else the last that has a loss.
QString summaryNode(const MetricsView &view);
/// The series that a plot shows.
QList<SeriesKey> plotKeys(const PlotKind &kind, const MetricsView &view);

} // namespace tw

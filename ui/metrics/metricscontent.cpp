// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/metricscontent.h"

#include "ui/common/plaintext.h"
#include "ui/metrics/metricsfeed.h"
#include "ui/metrics/metricssummary.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tw {

namespace {
constexpr int longestNodeName = 24;

QString text(const char *source)
{
    return QCoreApplication::translate("MetricsContent", source);
}

QStringList nodesWithCurves(const MetricsView &view)
{
    if (!view.node.isEmpty())
        return {view.node};
    QStringList nodes;
    const QList<SeriesKey> keys = view.feed.store().keys();
    for (const SeriesKey &key : keys) {
        if (!nodes.contains(key.node))
            nodes << key.node;
    }
    return nodes;
}

QString curveLabel(const PlotSeries &series, const SeriesKey &key, bool namesNode)
{
    QString label = series.label;
    if (namesNode)
        label = shortText(key.node, longestNodeName) + QStringLiteral(": ") + label;
    if (key.rank != 0)
        label += QStringLiteral(" · ") + text(QT_TRANSLATE_NOOP("MetricsContent", "rank")) + QLatin1Char(' ')
                 + QString::number(key.rank);
    return label;
}

void addCurves(const PlotKind &kind, const PlotSeries &info, const SeriesKey &key, const MetricsView &view,
               PlotCurve curve, QList<PlotCurve> &curves)
{
    const MetricSeries &series = *view.feed.store().find(key);
    const bool smoothed = info.smoothed && view.smoothed && series.size() > 2;
    const auto &cached = view.feed.cache().curve(key, series, smoothed, view.logarithmic && mayBeLogarithmic(kind));
    curve.x = axisValues(series, view.axis);
    curve.y = series.values;
    curve.index = &cached.raw;
    curve.faint = smoothed;
    curves << curve;
    if (!smoothed)
        return;
    curve.y = cached.smoother.values();
    curve.index = &cached.smooth;
    curve.faint = false;
    curves << curve;
}

void addMarker(const MetricSeries &series, size_t at, const MetricsView &view, int color, const QString &label,
               PlotContent &content)
{
    content.markers << PlotMarker{QPointF(axisValues(series, view.axis)[at], series.values[at]), label,
                                  view.theme.curve(color)};
}

void addBest(const PlotKind &kind, const MetricsView &view, PlotContent &content)
{
    const QString node = summaryNode(view);
    const MetricStore &store = view.feed.store();
    if (kind.id == QStringLiteral("accuracy")) {
        const MetricSeries *series = store.find({node, QStringLiteral("val_top1"), 0});
        const MetricsSummary summary = summarize(store, node, {});
        if (series && summary.bestTop1)
            addMarker(*series, summary.bestTop1At, view, 1,
                      text(QT_TRANSLATE_NOOP("MetricsContent", "best")) + QLatin1Char(' ')
                          + formatValue(*summary.bestTop1, NumberStyle::Ratio),
                      content);
    } else if (kind.id == QStringLiteral("loss")) {
        const MetricSeries *series = store.find({node, QStringLiteral("val_loss"), 0});
        const MetricsSummary summary = summarize(store, node, {});
        if (series && summary.hasLowestLoss)
            addMarker(*series, summary.lowestLossAt, view, 1,
                      text(QT_TRANSLATE_NOOP("MetricsContent", "lowest")) + QLatin1Char(' ')
                          + formatValue(series->values[summary.lowestLossAt], NumberStyle::Plain),
                      content);
    }
}
} // namespace

NumberStyle axisStyle(MetricsAxis axis)
{
    return axis == MetricsAxis::Time ? NumberStyle::Duration : NumberStyle::Count;
}

QString axisTitle(MetricsAxis axis)
{
    switch (axis) {
    case MetricsAxis::Step:
        return text(QT_TRANSLATE_NOOP("MetricsContent", "step"));
    case MetricsAxis::Epoch:
        return text(QT_TRANSLATE_NOOP("MetricsContent", "epoch"));
    case MetricsAxis::Time:
        break;
    }
    return text(QT_TRANSLATE_NOOP("MetricsContent", "training time"));
}

AxisValues axisValues(const MetricSeries &series, MetricsAxis axis)
{
    AxisValues values;
    if (axis == MetricsAxis::Step)
        values.whole = series.steps.data();
    else
        values.real = axis == MetricsAxis::Epoch ? series.epochs.data() : series.seconds.data();
    return values;
}

bool mayBeLogarithmic(const PlotKind &kind)
{
    return kind.style == NumberStyle::Plain;
}

QList<SeriesKey> plotKeys(const PlotKind &kind, const MetricsView &view)
{
    QList<SeriesKey> found;
    const QList<SeriesKey> all = view.feed.store().keys();
    for (const PlotSeries &series : kind.series) {
        for (const SeriesKey &key : all) {
            if (key.series == series.series && (view.node.isEmpty() || key.node == view.node))
                found << key;
        }
    }
    return found;
}

PlotContent plotContent(const PlotKind &kind, const MetricsView &view)
{
    PlotContent content;
    content.note = kind.emptyNote;
    const QStringList nodes = nodesWithCurves(view);
    const QList<SeriesKey> keys = plotKeys(kind, view);
    for (const SeriesKey &key : keys) {
        const auto info = std::find_if(kind.series.begin(), kind.series.end(),
                                       [&](const PlotSeries &series) { return series.series == key.series; });
        PlotCurve curve;
        curve.label = curveLabel(*info, key, nodes.size() > 1);
        curve.color = view.theme.curve(info->color + 2 * int(nodes.indexOf(key.node)) + 3 * key.rank);
        addCurves(kind, *info, key, view, curve, content.curves);
    }
    if (!content.curves.isEmpty())
        content.note =
            text(QT_TRANSLATE_NOOP("MetricsContent", "No value here can be drawn: all are NaN or infinite."));
    addBest(kind, view, content);
    return content;
}

std::pair<double, double> axisExtent(const QList<PlotKind> &kinds, const QStringList &ids, const MetricsView &view)
{
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const PlotKind &kind : kinds) {
        const QList<SeriesKey> keys = ids.contains(kind.id) ? plotKeys(kind, view) : QList<SeriesKey>();
        for (const SeriesKey &key : keys) {
            const MetricSeries &series = *view.feed.store().find(key);
            const AxisValues values = axisValues(series, view.axis);
            if (series.size() > 0 && std::isfinite(values[0]) && std::isfinite(values[series.size() - 1])) {
                low = std::min(low, values[0]);
                high = std::max(high, values[series.size() - 1]);
            }
        }
    }
    if (!(low <= high))
        return {0, 1};
    const double pad = high > low ? (high - low) * 0.015 : std::max(std::abs(high) * 0.05, 0.5);
    return {low - pad, high + pad};
}

QString summaryNode(const MetricsView &view)
{
    if (!view.node.isEmpty())
        return view.node;
    QString node;
    const QList<SeriesKey> keys = view.feed.store().keys();
    for (const SeriesKey &key : keys) {
        if (node.isEmpty() || key.series == QStringLiteral("val_loss") || key.series == QStringLiteral("train_loss"))
            node = key.node;
    }
    return node;
}

} // namespace tw

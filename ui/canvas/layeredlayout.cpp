// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/layeredlayout.h"

#include <QHash>

#include <algorithm>
#include <cmath>

namespace tw {

namespace {

constexpr double columnGap = 96;
constexpr double rowGap = 32;

struct Graph
{
    QStringList ids;
    QHash<QString, QStringList> before, after;
};

Graph graphOf(const Pipeline &pipeline)
{
    Graph graph;
    for (const PipelineNode &node : pipeline.nodes)
        graph.ids.append(node.id);
    for (const PipelineConnection &wire : pipeline.connections) {
        if (!pipeline.find(wire.from.node) || !pipeline.find(wire.to.node))
            continue;
        graph.before[wire.to.node].append(wire.from.node);
        graph.after[wire.from.node].append(wire.to.node);
    }
    return graph;
}

/// Kahn's order; what a cycle leaves over is placed one by one.
QHash<QString, int> layersOf(const Graph &graph)
{
    QHash<QString, int> waiting, layer;
    QStringList ready;
    for (const QString &id : graph.ids) {
        waiting[id] = int(graph.before.value(id).size());
        if (waiting[id] == 0)
            ready.append(id);
    }
    QStringList rest = graph.ids;
    while (!rest.isEmpty()) {
        if (ready.isEmpty())
            ready.append(rest.first());
        const QString id = ready.takeFirst();
        if (!rest.removeOne(id))
            continue;
        layer.insert(id, layer.value(id, 0));
        for (const QString &next : graph.after.value(id)) {
            if (!rest.contains(next))
                continue;
            layer[next] = std::max(layer.value(next, 0), layer[id] + 1);
            if (--waiting[next] == 0)
                ready.append(next);
        }
    }
    return layer;
}

/// A source stands just left of its first reader instead of far away in the first column.
void pullSourcesRight(const Graph &graph, QHash<QString, int> &layer)
{
    for (const QString &id : graph.ids) {
        const QStringList readers = graph.after.value(id);
        if (!graph.before.value(id).isEmpty() || readers.isEmpty())
            continue;
        int nearest = layer[readers.first()];
        for (const QString &reader : readers)
            nearest = std::min(nearest, layer[reader]);
        layer[id] = std::max(layer[id], nearest - 1);
    }
}

double averageHeight(const QStringList &neighbours, const QHash<QString, double> &height, double fallback)
{
    double sum = 0;
    int count = 0;
    for (const QString &neighbour : neighbours) {
        if (height.contains(neighbour)) {
            sum += height[neighbour];
            ++count;
        }
    }
    return count ? sum / count : fallback;
}

void sortColumns(const Graph &graph, QList<QStringList> &columns)
{
    QHash<QString, double> place;
    const auto remember = [&place](const QStringList &column) {
        for (int row = 0; row < column.size(); ++row)
            place[column[row]] = row - (column.size() - 1) / 2.0;
    };
    for (const QStringList &column : columns)
        remember(column);
    for (int sweep = 0; sweep < 4; ++sweep) {
        const bool forward = sweep % 2 == 0;
        for (int i = 0; i < columns.size(); ++i) {
            QStringList &column = columns[forward ? i : columns.size() - 1 - i];
            QHash<QString, double> key;
            for (const QString &id : column)
                key[id] = averageHeight((forward ? graph.before : graph.after).value(id), place, place[id]);
            std::stable_sort(column.begin(), column.end(),
                             [&](const QString &a, const QString &b) { return key[a] < key[b]; });
            remember(column);
        }
    }
}

} // namespace

QMap<QString, QPointF> layeredLayout(const Pipeline &pipeline, const QMap<QString, QSizeF> &sizes, double grid)
{
    const Graph graph = graphOf(pipeline);
    QHash<QString, int> layer = layersOf(graph);
    pullSourcesRight(graph, layer);
    QList<QStringList> columns;
    for (const QString &id : graph.ids) {
        while (columns.size() <= layer[id])
            columns.append(QStringList());
        columns[layer[id]].append(id);
    }
    sortColumns(graph, columns);
    const auto snapUp = [grid](double value) { return std::ceil(value / grid) * grid; };
    QMap<QString, QPointF> places;
    double x = 0;
    for (const QStringList &column : columns) {
        double width = 0, height = 0;
        for (const QString &id : column) {
            width = std::max(width, sizes.value(id).width());
            height += snapUp(sizes.value(id).height() + rowGap);
        }
        double y = snapUp(-height / 2);
        for (const QString &id : column) {
            places.insert(id, QPointF(x, y));
            y += snapUp(sizes.value(id).height() + rowGap);
        }
        if (!column.isEmpty())
            x += snapUp(width + columnGap);
    }
    return places;
}

} // namespace tw

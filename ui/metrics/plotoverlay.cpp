// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/plotoverlay.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>

namespace tw {

namespace {
constexpr double padding = 8;
constexpr double swatch = 8;
constexpr double legendIcon = 24;
constexpr double legendGap = 16;

struct BoxLayout
{
    double labelWidth = 0, valueWidth = 0, lineHeight = 0;
    QSizeF size;
};

BoxLayout measure(const QFontMetricsF &metrics, const Crosshair &crosshair)
{
    BoxLayout box;
    box.lineHeight = metrics.height() + 2;
    for (const ReadoutRow &row : crosshair.rows) {
        box.labelWidth = std::max(box.labelWidth, metrics.horizontalAdvance(row.label));
        box.valueWidth = std::max(box.valueWidth, metrics.horizontalAdvance(row.value));
    }
    const double rowWidth = swatch + 6 + box.labelWidth + 14 + box.valueWidth;
    const double width = std::max(rowWidth, metrics.horizontalAdvance(crosshair.title) * 1.08);
    box.size = QSizeF(width + 2 * padding, box.lineHeight * double(crosshair.rows.size() + 1) + 2 * padding - 2);
    return box;
}

void paintRows(QPainter &painter, const QRectF &frame, const BoxLayout &box, const Crosshair &crosshair,
               const PlotTheme &theme)
{
    QRectF line(frame.left() + padding, frame.top() + padding - 1, frame.width() - 2 * padding, box.lineHeight);
    painter.setPen(theme.muted);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, crosshair.title);
    for (const ReadoutRow &row : crosshair.rows) {
        line.translate(0, box.lineHeight);
        painter.setPen(Qt::NoPen);
        painter.setBrush(row.color);
        painter.drawEllipse(QPointF(line.left() + swatch / 2, line.center().y()), swatch / 2 - 0.5, swatch / 2 - 0.5);
        painter.setPen(theme.muted);
        painter.drawText(line.adjusted(swatch + 6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                         row.label);
        painter.setPen(theme.text);
        painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter | Qt::TextSingleLine, row.value);
    }
}

struct HeaderLayout
{
    QList<QRectF> entries;
    double height = 0;
};

HeaderLayout layOutHeader(double width, const QString &title, const QList<LegendEntry> &legend)
{
    const QFontMetricsF titleMetrics(plotFont(0.5, true)), metrics(plotFont(-1));
    const double lineHeight = titleMetrics.height() + 4;
    double total = 0;
    for (const LegendEntry &entry : legend)
        total += metrics.horizontalAdvance(entry.label) + legendIcon + legendGap;
    const double titleWidth = titleMetrics.horizontalAdvance(title) + legendGap;
    const bool beside = titleWidth + total <= width;
    double x = beside ? width - total + legendGap : 0, y = beside ? 0 : lineHeight;
    HeaderLayout header;
    for (const LegendEntry &entry : legend) {
        const double needed = std::min(metrics.horizontalAdvance(entry.label) + legendIcon, width);
        if (!beside && x > 0 && x + needed > width) {
            x = 0;
            y += lineHeight - 2;
        }
        header.entries << QRectF(x, y, needed, lineHeight);
        x += needed + legendGap;
    }
    header.height = (legend.isEmpty() ? 0 : y) + lineHeight;
    return header;
}
} // namespace

double headerHeight(double width, const QString &title, const QList<LegendEntry> &legend)
{
    return layOutHeader(width, title, legend).height;
}

void paintHeader(QPainter &painter, const QRectF &area, const QString &title, const QList<LegendEntry> &legend,
                 const PlotTheme &theme)
{
    const HeaderLayout header = layOutHeader(area.width(), title, legend);
    painter.setPen(theme.text);
    painter.setFont(plotFont(0.5, true));
    painter.drawText(QRectF(area.topLeft(), QSizeF(area.width(), QFontMetricsF(painter.font()).height() + 4)),
                     Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, title);
    painter.setFont(plotFont(-1));
    for (qsizetype i = 0; i < legend.size(); ++i) {
        const QRectF box = header.entries[i].translated(area.topLeft());
        painter.setPen(QPen(legend[i].color, 2.5, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(QPointF(box.left() + 2, box.center().y()),
                         QPointF(box.left() + legendIcon - 8, box.center().y()));
        painter.setPen(theme.muted);
        painter.drawText(box.adjusted(legendIcon, 0, 1, 0), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                         legend[i].label);
    }
}

void paintCrosshair(QPainter &painter, const QRectF &plot, const Crosshair &crosshair, const PlotTheme &theme)
{
    painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
    painter.drawLine(QPointF(crosshair.x, plot.top()), QPointF(crosshair.x, plot.bottom()));
    for (const auto &[at, color] : crosshair.dots) {
        painter.setPen(QPen(theme.card, 1.5));
        painter.setBrush(color);
        painter.drawEllipse(at, 4, 4);
    }
    painter.setFont(plotFont(-1));
    const BoxLayout box = measure(QFontMetricsF(painter.font()), crosshair);
    const bool fitsRight = crosshair.x + 12 + box.size.width() <= plot.right();
    double left = fitsRight ? crosshair.x + 12 : crosshair.x - 12 - box.size.width();
    left = std::clamp(left, plot.left(), std::max(plot.left(), plot.right() - box.size.width()));
    const QRectF frame(QPointF(left, plot.top() + 6), box.size);
    painter.setPen(theme.border);
    painter.setBrush(theme.readout);
    painter.drawRoundedRect(frame, 5, 5);
    paintRows(painter, frame, box, crosshair, theme);
}

void paintMarker(QPainter &painter, const QRectF &plot, QPointF at, const QString &label, const QColor &color,
                 const PlotTheme &theme)
{
    if (!plot.adjusted(-1, -1, 1, 1).contains(at))
        return;
    painter.setPen(QPen(theme.card, 4));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(at, 5.5, 5.5);
    painter.setPen(QPen(color, 2));
    painter.setBrush(theme.card);
    painter.drawEllipse(at, 5, 5);
    painter.setFont(plotFont(-1.5, true));
    const QFontMetricsF metrics(painter.font());
    QRectF box(0, 0, metrics.horizontalAdvance(label) + 10, metrics.height() + 4);
    const bool above = at.y() - 12 - box.height() > plot.top();
    box.moveCenter(QPointF(at.x(), above ? at.y() - 11 - box.height() / 2 : at.y() + 11 + box.height() / 2));
    box.moveLeft(std::clamp(box.left(), plot.left() + 2, std::max(plot.left() + 2, plot.right() - box.width() - 2)));
    QColor ground = theme.readout;
    ground.setAlpha(150); // a curve behind it shows through
    painter.setPen(Qt::NoPen);
    painter.setBrush(ground);
    painter.drawRoundedRect(box, 4, 4);
    painter.setPen(color);
    painter.drawText(box, Qt::AlignCenter | Qt::TextSingleLine, label);
}

void paintNotFinite(QPainter &painter, const QRectF &plot, double x, const PlotTheme &theme)
{
    if (x < plot.left() - 1 || x > plot.right() + 1)
        return;
    QColor line = theme.warning;
    line.setAlpha(70);
    painter.setPen(QPen(line, 1));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom() - 8));
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.warning);
    painter.drawPolygon(QPolygonF({{x - 4.5, plot.bottom()}, {x + 4.5, plot.bottom()}, {x, plot.bottom() - 8}}));
}

void paintNote(QPainter &painter, const QRectF &plot, const QString &note, const PlotTheme &theme)
{
    painter.setFont(plotFont(0));
    painter.setPen(theme.muted);
    painter.drawText(plot.adjusted(12, 0, -12, 0), Qt::AlignCenter | Qt::TextWordWrap, note);
}

} // namespace tw

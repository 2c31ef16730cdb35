// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/plotwidget.h"

#include "ui/metrics/plotgestures.h"
#include "ui/metrics/plotoverlay.h"
#include "ui/metrics/plotrange.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QTimer>
#include <QVBoxLayout>
#include <QWheelEvent>

// The library's header uses Qt's keyword macros, which this project turns off.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define emit Q_EMIT
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef emit
#undef foreach

#include <cmath>

namespace tw {

namespace {
constexpr int sideMargin = 12;
constexpr double smallestSpan = 1e-9;

/// Round ticks with labels as people write them; on a logarithmic axis 1-2-5 within few decades.
class Ticker : public QCPAxisTicker
{
public:
    NumberStyle style = NumberStyle::Plain;
    bool logarithmic = false;
    int count = 5;

protected:
    double getTickStep(const QCPRange &range) override { return m_step = niceStep(range.size(), count, style); }

    QVector<double> createTickVector(double step, const QCPRange &range) override
    {
        const double decades = logarithmic && range.lower > 0 ? std::log10(range.upper / range.lower) : 0;
        m_byDecade = decades >= 0.8;
        return m_byDecade ? decadeTicks(range.lower, range.upper, count) : QCPAxisTicker::createTickVector(step, range);
    }

    QString getTickLabel(double tick, const QLocale &, QChar, int) override
    {
        return formatTick(tick, m_byDecade ? std::pow(10, std::floor(std::log10(tick) + 1e-9)) : m_step, style);
    }

private:
    double m_step = 1;
    bool m_byDecade = false;
};

/// Something painted on a layer of the plot by a function.
class Painted : public QCPLayerable
{
public:
    Painted(QCustomPlot *plot, const QString &layerName, std::function<void(QPainter &)> paint)
        : QCPLayerable(plot, layerName), m_paint(std::move(paint))
    {
    }

protected:
    void applyDefaultAntialiasingHint(QCPPainter *painter) const override { painter->setAntialiasing(true); }
    void draw(QCPPainter *painter) override { m_paint(*painter); }

private:
    std::function<void(QPainter &)> m_paint;
};
} // namespace

struct PlotWidget::Private
{
    PlotWidget *q = nullptr;
    QCustomPlot *plot = nullptr;
    QTimer *resizeTimer = nullptr;
    QSharedPointer<Ticker> xTicker{new Ticker}, yTicker{new Ticker};
    std::function<PlotContent()> source;
    PlotTheme theme = PlotTheme::make(false);
    QString title;
    NumberStyle xStyle = NumberStyle::Count, yStyle = NumberStyle::Plain;
    QList<DrawnCurve> drawn;
    QList<LegendEntry> legend;
    QList<PlotMarker> markers;
    QString note;
    std::optional<Crosshair> crosshair;
    std::optional<double> crosshairX;
    bool manualY = false;
    PlotGestures gestures;

    QRectF area() const { return QRectF(plot->axisRect()->rect()); }

    void paintDecoration(QPainter &painter) const;
    void paintOverlay(QPainter &painter) const;
    void drawCurves(const QList<PlotCurve> &curves);
    void style(QCPGraph *graph, const PlotCurve &curve, qsizetype samples) const;
    void fitY();
    void layOut();
    void readValues();
    PlotFrame frame() const;
    void chooseY(double low, double high);
    void connectGestures();
};

PlotWidget::PlotWidget(const QString &title, QWidget *parent) : QWidget(parent), d(std::make_unique<Private>())
{
    d->q = this;
    d->title = title;
    d->plot = new QCustomPlot(this);
    d->connectGestures();
    d->plot->installEventFilter(this);
    d->plot->setFocusPolicy(Qt::NoFocus);
    d->plot->setNotAntialiasedElements(QCP::aeAll);
    d->plot->setAntialiasedElements(QCP::aePlottables);
    d->plot->setPlottingHints(QCP::phCacheLabels | QCP::phImmediateRefresh);
    d->plot->xAxis->setTicker(d->xTicker);
    d->plot->yAxis->setTicker(d->yTicker);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 8, 1, 4);
    layout->addWidget(d->plot);
    new Painted(d->plot, QStringLiteral("axes"), [this](QPainter &painter) { d->paintDecoration(painter); });
    new Painted(d->plot, QStringLiteral("overlay"), [this](QPainter &painter) { d->paintOverlay(painter); });
    d->resizeTimer = new QTimer(this);
    d->resizeTimer->setSingleShot(true);
    connect(d->resizeTimer, &QTimer::timeout, this, &PlotWidget::refresh);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(260, 190);
    setAccessibleName(title);
    applyTheme(d->theme);
}

PlotWidget::~PlotWidget()
{
    d->plot->removeEventFilter(this);
    delete d->plot; // before the functions that its layers call
}

void PlotWidget::setSource(std::function<PlotContent()> source)
{
    d->source = std::move(source);
}

void PlotWidget::setStyles(NumberStyle x, NumberStyle y)
{
    d->xStyle = d->xTicker->style = x;
    d->yStyle = d->yTicker->style = y;
}

void PlotWidget::setXTitle(const QString &title)
{
    d->plot->xAxis->setLabel(title);
}

void PlotWidget::setXRange(double low, double high)
{
    const double center = (low + high) / 2;
    const double least = std::max(smallestSpan, std::abs(center) * 1e-12);
    if (std::isfinite(center))
        d->plot->xAxis->setRange(std::min(low, center - least), std::max(high, center + least));
}

void PlotWidget::setLogY(bool on)
{
    d->yTicker->logarithmic = on;
    d->plot->yAxis->setScaleType(on ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    d->manualY = false;
}

void PlotWidget::resetY()
{
    d->manualY = false;
}

void PlotWidget::applyTheme(const PlotTheme &theme)
{
    d->theme = theme;
    d->plot->setBackground(theme.card);
    for (QCPAxis *axis : {d->plot->xAxis, d->plot->yAxis}) {
        axis->setBasePen(QPen(theme.axis, 1));
        axis->setTickPen(QPen(theme.axis, 1));
        axis->setSubTicks(false);
        axis->setTickLength(0, 3);
        axis->setTickLabelColor(theme.muted);
        axis->setTickLabelFont(plotFont(-1.5));
        axis->setTickLabelPadding(5);
        axis->setLabelColor(theme.muted);
        axis->setLabelFont(plotFont(-1.5));
        axis->setLabelPadding(2);
        axis->grid()->setPen(QPen(theme.grid, 1));
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
    d->plot->yAxis->setBasePen(Qt::NoPen);
    d->plot->yAxis->setTickPen(Qt::NoPen);
    update();
    refresh();
}

QString PlotWidget::title() const
{
    return d->title;
}

std::pair<double, double> PlotWidget::xRange() const
{
    return {d->plot->xAxis->range().lower, d->plot->xAxis->range().upper};
}

std::pair<double, double> PlotWidget::yRange() const
{
    return {d->plot->yAxis->range().lower, d->plot->yAxis->range().upper};
}

const QList<DrawnCurve> &PlotWidget::drawnCurves() const
{
    return d->drawn;
}

void PlotWidget::refresh()
{
    const PlotContent content = d->source ? d->source() : PlotContent();
    if (d->plot->bufferDevicePixelRatio() != devicePixelRatioF())
        d->plot->setBufferDevicePixelRatio(devicePixelRatioF());
    d->markers = content.markers;
    d->drawCurves(content.curves);
    const bool empty = std::all_of(d->drawn.cbegin(), d->drawn.cend(), [](const DrawnCurve &c) { return c.x.empty(); });
    d->note = empty ? content.note : QString();
    if (!d->manualY)
        d->fitY();
    d->layOut();
    if (d->crosshairX)
        d->readValues();
    d->plot->replot(QCustomPlot::rpQueuedReplot);
}

void PlotWidget::Private::drawCurves(const QList<PlotCurve> &curves)
{
    while (plot->graphCount() > curves.size())
        plot->removeGraph(plot->graphCount() - 1);
    while (plot->graphCount() < curves.size())
        plot->addGraph();
    drawn.clear();
    legend.clear();
    const int columns = std::max(plot->axisRect()->width(), q->width() - 80);
    const QCPRange range = plot->xAxis->range();
    for (int i = 0; i < curves.size(); ++i) {
        const PlotCurve &curve = curves[i];
        drawn << decimate(curve.x, curve.y, *curve.index,
                          {range.lower, range.upper, int(columns * plot->bufferDevicePixelRatio())});
        const DrawnCurve &shown = drawn.back();
        plot->graph(i)->setData(QVector<double>(shown.x.begin(), shown.x.end()),
                                QVector<double>(shown.y.begin(), shown.y.end()), true);
        style(plot->graph(i), curve, qsizetype(shown.x.size()));
        if (!curve.faint)
            legend << LegendEntry{curve.label, curve.color};
    }
}

void PlotWidget::Private::style(QCPGraph *graph, const PlotCurve &curve, qsizetype samples) const
{
    QColor color = curve.color;
    color.setAlpha(curve.faint ? (theme.dark ? 85 : 70) : 255);
    // A wide pen with round joins over thousands of samples costs milliseconds and looks no better.
    const bool many = samples > 1500;
    graph->setPen(
        QPen(color, curve.faint || many ? 1 : 2, Qt::SolidLine, Qt::RoundCap, many ? Qt::BevelJoin : Qt::RoundJoin));
    const bool dots = !curve.faint && samples <= 40;
    graph->setScatterStyle(dots ? QCPScatterStyle(QCPScatterStyle::ssDisc, color, color, 5) : QCPScatterStyle());
}

void PlotWidget::Private::fitY()
{
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const DrawnCurve &curve : std::as_const(drawn)) {
        low = std::min(low, curve.lowest);
        high = std::max(high, curve.highest);
    }
    const auto [bottom, top] = fitOrdinate(low, high, yStyle, yTicker->logarithmic);
    plot->yAxis->setRange(bottom, top);
}

void PlotWidget::Private::layOut()
{
    const double header = headerHeight(plot->width() - 2 * sideMargin, title, legend);
    plot->axisRect()->setMinimumMargins(QMargins(56, int(header) + 8, 18, 24));
    xTicker->count = std::max(2, plot->axisRect()->width() / 90);
    yTicker->count = std::max(2, plot->axisRect()->height() / 40);
}

void PlotWidget::Private::paintDecoration(QPainter &painter) const
{
    const QRectF top(sideMargin, 0, plot->width() - 2 * sideMargin, plot->height());
    paintHeader(painter, top, title, legend, theme);
    const QRectF inside = area();
    if (!note.isEmpty())
        paintNote(painter, inside, note, theme);
    for (qsizetype i = 0; i < drawn.size(); ++i) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(plot->graph(int(i))->pen().color());
        for (const size_t at : drawn[i].singles) {
            const QPointF pixel(plot->xAxis->coordToPixel(drawn[i].x[at]), plot->yAxis->coordToPixel(drawn[i].y[at]));
            if (inside.contains(pixel))
                painter.drawEllipse(pixel, 2.5, 2.5);
        }
        for (const double x : drawn[i].notFinite)
            paintNotFinite(painter, inside, plot->xAxis->coordToPixel(x), theme);
    }
    for (const PlotMarker &marker : markers) {
        const QPointF pixel(plot->xAxis->coordToPixel(marker.at.x()), plot->yAxis->coordToPixel(marker.at.y()));
        paintMarker(painter, inside, pixel, marker.label, marker.color, theme);
    }
}

void PlotWidget::Private::paintOverlay(QPainter &painter) const
{
    if (const QRectF band = gestures.band(); !band.isEmpty()) {
        QColor fill = theme.curve(0);
        painter.setPen(QPen(fill, 1));
        fill.setAlpha(40);
        painter.setBrush(fill);
        painter.drawRect(band);
    } else if (crosshair) {
        paintCrosshair(painter, area(), *crosshair, theme);
    }
}

void PlotWidget::setCrosshair(std::optional<double> x)
{
    d->crosshairX = x;
    d->crosshair.reset();
    if (x)
        d->readValues();
    d->plot->layer(QStringLiteral("overlay"))->replot();
}

void PlotWidget::Private::readValues()
{
    const QCPRange range = plot->xAxis->range();
    crosshair.reset();
    if (!crosshairX || !range.contains(*crosshairX) || !source)
        return;
    const PlotContent content = source();
    Crosshair shown;
    shown.x = plot->xAxis->coordToPixel(*crosshairX);
    double nearest = *crosshairX, distance = std::numeric_limits<double>::infinity();
    for (const PlotCurve &curve : content.curves) {
        if (curve.y.empty())
            continue;
        const size_t at = nearestSample(curve.x, curve.y.size(), *crosshairX);
        const double value = curve.y[at];
        if (const double away = std::abs(curve.x[at] - *crosshairX); away < distance) {
            distance = away;
            nearest = curve.x[at];
        }
        const QString label = curve.faint ? PlotWidget::tr("%1 (raw)").arg(curve.label) : curve.label;
        shown.rows << ReadoutRow{label, formatValue(value, yStyle),
                                 plot->graph(int(&curve - content.curves.data()))->pen().color()};
        const QPointF pixel(plot->xAxis->coordToPixel(curve.x[at]), plot->yAxis->coordToPixel(value));
        if (!curve.faint && isDrawable(value, yTicker->logarithmic) && area().contains(pixel))
            shown.dots << std::pair(pixel, curve.color);
    }
    const QString name = plot->xAxis->label();
    shown.title =
        name.isEmpty() ? formatValue(nearest, xStyle) : name + QLatin1Char(' ') + formatValue(nearest, xStyle);
    if (!shown.rows.isEmpty())
        crosshair = shown;
}

PlotFrame PlotWidget::Private::frame() const
{
    return {area(), q->xRange(), q->yRange(), yTicker->logarithmic};
}

void PlotWidget::Private::chooseY(double low, double high)
{
    manualY = true;
    plot->yAxis->setRange(low, high);
    q->refresh();
}

void PlotWidget::Private::connectGestures()
{
    gestures.frame = [this] { return frame(); };
    gestures.chooseX = [this](double low, double high) { Q_EMIT q->xRangeChosen(low, high); };
    gestures.chooseY = [this](double low, double high) { chooseY(low, high); };
    gestures.hover = [this](double x) { Q_EMIT q->crosshairMoved(x); };
    gestures.leave = [this] { Q_EMIT q->crosshairLeft(); };
    gestures.reset = [this] { Q_EMIT q->resetRequested(); };
    gestures.repaint = [this] { plot->layer(QStringLiteral("overlay"))->replot(); };
    gestures.ordinateIsManual = [this] { return manualY; };
}

bool PlotWidget::eventFilter(QObject *watched, QEvent *event)
{
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        setFocus(Qt::MouseFocusReason);
        return d->gestures.press(*static_cast<QMouseEvent *>(event));
    case QEvent::MouseMove:
        d->gestures.move(*static_cast<QMouseEvent *>(event));
        return true;
    case QEvent::MouseButtonRelease:
        d->gestures.release(*static_cast<QMouseEvent *>(event));
        return true;
    case QEvent::MouseButtonDblClick:
        Q_EMIT resetRequested();
        return true;
    case QEvent::Wheel:
        d->gestures.wheel(*static_cast<QWheelEvent *>(event));
        return true;
    case QEvent::Leave:
        Q_EMIT crosshairLeft();
        return false;
    case QEvent::ContextMenu:
        Q_EMIT menuRequested(static_cast<QContextMenuEvent *>(event)->globalPos());
        return true;
    default:
        return QWidget::eventFilter(watched, event);
    }
}

void PlotWidget::keyPressEvent(QKeyEvent *event)
{
    if (!d->gestures.key(*event))
        QWidget::keyPressEvent(event);
}

void PlotWidget::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    d->resizeTimer->start(0);
}

void PlotWidget::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(hasFocus() ? d->theme.curve(0) : d->theme.border);
    painter.setBrush(d->theme.card);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

QSize PlotWidget::gridSize(const QList<PlotWidget *> &plots, int columns)
{
    if (plots.isEmpty())
        return {1, 1};
    const int count = int(plots.size());
    return {plots.front()->width() * std::min(columns, count),
            plots.front()->height() * ((count + columns - 1) / columns)};
}

void PlotWidget::paintGrid(const QList<PlotWidget *> &plots, int columns, QPaintDevice &device, double scale)
{
    QCPPainter painter(&device);
    painter.scale(scale, scale);
    if (!plots.isEmpty())
        painter.fillRect(QRect(QPoint(0, 0), gridSize(plots, columns)), plots.front()->d->theme.card);
    for (int i = 0; i < plots.size(); ++i) {
        const QSize size = plots.front()->size();
        painter.save();
        painter.translate(size.width() * (i % columns), size.height() * (i / columns) + 8);
        plots[i]->d->plot->toPainter(&painter, size.width(), size.height() - 12);
        painter.restore();
    }
}

} // namespace tw

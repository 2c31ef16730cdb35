// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/metricstab.h"

#include "core/jobs/workspace.h"
#include "ui/common/plaintext.h"
#include "ui/metrics/metricscontent.h"
#include "ui/metrics/metricsexport.h"
#include "ui/metrics/metricsfeed.h"
#include "ui/metrics/metricsheader.h"
#include "ui/metrics/metricstoolbar.h"
#include "ui/metrics/plotwidget.h"

#include <QElapsedTimer>
#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QSettings>
#include <QStackedWidget>
#include <QTimer>

#include <algorithm>
#include <optional>

namespace tw {

namespace {
constexpr int frameMs = 33;  // at most 30 redraws a second
constexpr int pollMs = 1000; // points that never came as events
} // namespace

struct MetricsTab::Private
{
    MetricsTab *q = nullptr;
    MetricsFeed feed;
    MetricsHeader *header = nullptr;
    MetricsToolBar *bar = nullptr;
    QStackedWidget *pages = nullptr;
    QLabel *message = nullptr;
    QScrollArea *scroll = nullptr;
    QGridLayout *grid = nullptr;
    QList<PlotKind> kinds = plotCatalog();
    QList<PlotWidget *> plots; ///< one a kind, made at first need
    QTimer frame, poll;
    QString job, node;
    bool jobChosen = false;
    std::optional<std::pair<double, double>> chosenX;
    PlotTheme theme = PlotTheme::make(false);

    void build();
    void connectBar();
    PlotWidget *plot(qsizetype kind);
    QList<PlotWidget *> shownPlots() const;
    void arrange();
    void applyOptions();
    void schedule();
    void draw();
    void showState();
    void link(PlotWidget *plot);
    void resetZoom();
    void hover(std::optional<double> x);
    MetricsView view();
};

void MetricsTab::Private::build()
{
    auto *layout = new QVBoxLayout(q);
    layout->setContentsMargins(10, 10, 10, 10);
    layout->setSpacing(8);
    pages = new QStackedWidget;
    message = new QLabel;
    message->setTextFormat(Qt::PlainText);
    message->setAlignment(Qt::AlignCenter);
    message->setWordWrap(true);
    auto *content = new QWidget;
    auto *column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(header = new MetricsHeader);
    column->addWidget(bar = new MetricsToolBar(kinds));
    scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    auto *board = new QWidget;
    grid = new QGridLayout(board);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    scroll->setWidget(board);
    column->addWidget(scroll, 1);
    pages->addWidget(message);
    pages->addWidget(content);
    layout->addWidget(pages);
    plots.resize(kinds.size(), nullptr);
}

void MetricsTab::Private::connectBar()
{
    connect(bar, &MetricsToolBar::optionsChanged, q, [this] { applyOptions(); });
    connect(bar, &MetricsToolBar::plotsChanged, q, [this] {
        arrange();
        schedule();
    });
    connect(bar, &MetricsToolBar::resetRequested, q, [this] { resetZoom(); });
    connect(bar, &MetricsToolBar::exportRequested, q, [this](MetricsExport what) {
        const MetricsView shown = view();
        exportMetrics(q, what, shownPlots(), grid->columnCount(), shown, bar->csvFormulas());
    });
}

MetricsTab::MetricsTab(QWidget *parent) : QWidget(parent), d(std::make_unique<Private>())
{
    d->q = this;
    d->build();
    d->connectBar();
    d->frame.setSingleShot(true);
    d->frame.setInterval(frameMs);
    connect(&d->frame, &QTimer::timeout, this, [this] { d->draw(); });
    d->poll.setInterval(pollMs);
    connect(&d->poll, &QTimer::timeout, this, [this] {
        if (isVisible())
            d->feed.poll();
    });
    connect(&d->feed, &MetricsFeed::changed, this, [this] { d->schedule(); });
    setAccessibleName(tr("Metrics"));
    d->arrange();
    d->applyOptions();
    applyTheme(palette().color(QPalette::Window).lightness() < 128);
    d->showState();
}

MetricsTab::~MetricsTab()
{
    qDeleteAll(d->plots); // they pull from the feed
}

MetricsView MetricsTab::Private::view()
{
    return {feed, node, bar->axis(), bar->smoothing() > 0, bar->isLogarithmic(), theme};
}

PlotWidget *MetricsTab::Private::plot(qsizetype kind)
{
    if (plots[kind])
        return plots[kind];
    auto *made = new PlotWidget(kinds[kind].title);
    made->setObjectName(kinds[kind].id);
    made->setSource([this, kind] { return plotContent(kinds[kind], view()); });
    made->applyTheme(theme);
    link(made);
    plots[kind] = made;
    return made;
}

void MetricsTab::Private::link(PlotWidget *made)
{
    connect(made, &PlotWidget::xRangeChosen, q, [this](double low, double high) {
        chosenX = {low, high};
        schedule();
    });
    connect(made, &PlotWidget::resetRequested, q, [this] { resetZoom(); });
    connect(made, &PlotWidget::crosshairMoved, q, [this](double x) { hover(x); });
    connect(made, &PlotWidget::crosshairLeft, q, [this] { hover({}); });
    connect(made, &PlotWidget::menuRequested, q, [this, made](const QPoint &at) {
        if (const auto what = bar->askExport(at))
            exportMetrics(q, *what, {made}, 1, view(), bar->csvFormulas());
    });
}

QList<PlotWidget *> MetricsTab::Private::shownPlots() const
{
    QList<PlotWidget *> shown;
    for (PlotWidget *plot : plots) {
        if (plot && !plot->isHidden())
            shown << plot;
    }
    return shown;
}

void MetricsTab::Private::arrange()
{
    const QStringList ids = bar->shownPlots();
    const int columns = q->width() < 680 || ids.size() < 2 ? 1 : ids.size() > 4 && q->width() > 1700 ? 3 : 2;
    for (qsizetype i = 0; i < plots.size(); ++i) {
        if (plots[i]) {
            grid->removeWidget(plots[i]);
            plots[i]->hide();
        }
    }
    int position = 0;
    for (qsizetype i = 0; i < kinds.size(); ++i) {
        if (!ids.contains(kinds[i].id))
            continue;
        grid->addWidget(plot(i), position / columns, position % columns);
        plots[i]->show();
        ++position;
    }
    for (int column = 0; column < 3; ++column)
        grid->setColumnStretch(column, column < columns ? 1 : 0);
    applyOptions();
}

void MetricsTab::Private::applyOptions()
{
    feed.cache().setSmoothing(bar->smoothing());
    for (qsizetype i = 0; i < plots.size(); ++i) {
        if (!plots[i])
            continue;
        plots[i]->setStyles(axisStyle(bar->axis()), kinds[i].style);
        plots[i]->setXTitle(axisTitle(bar->axis()));
        if (bar->isLogarithmic() != plots[i]->property("logarithmic").toBool() && mayBeLogarithmic(kinds[i])) {
            plots[i]->setProperty("logarithmic", bar->isLogarithmic());
            plots[i]->setLogY(bar->isLogarithmic());
        }
    }
    if (bar->takeAxisChange())
        chosenX.reset();
    schedule();
}

void MetricsTab::Private::schedule()
{
    if (!frame.isActive())
        frame.start();
}

void MetricsTab::Private::draw()
{
    if (!q->isVisible())
        return; // showEvent() draws
    QElapsedTimer clock;
    clock.start();
    showState();
    const QList<PlotWidget *> shown = shownPlots();
    const MetricsView now = view();
    const auto [low, high] = chosenX ? *chosenX : axisExtent(kinds, bar->shownPlots(), now);
    for (PlotWidget *plot : shown) {
        plot->setXRange(low, high);
        plot->refresh();
    }
    const QString focus = summaryNode(now);
    const MetricsSummary summary = summarize(feed.store(), focus, feed.parameters().value(focus));
    const MetricSeries *top1 = summary.bestTop1 ? feed.store().find({focus, QStringLiteral("val_top1"), 0}) : nullptr;
    header->show(summary, top1 ? std::optional(top1->epochs[summary.bestTop1At]) : std::nullopt);
    // A slow machine keeps two thirds of its time for the person.
    frame.setInterval(std::max(frameMs, int(clock.elapsed()) * 3));
}

void MetricsTab::Private::showState()
{
    const bool hasPoints = feed.pointCount() > 0;
    if (!jobChosen)
        message->setText(tr("Choose a job in the list, or press Run, and its curves appear here."));
    else if (feed.isLoading())
        message->setText(tr("Reading the metrics…"));
    else
        message->setText(tr("This job has no metrics yet.\nCurves appear with the first training step."));
    pages->setCurrentIndex(jobChosen && hasPoints ? 1 : 0);
    message->setAccessibleName(message->text());
}

void MetricsTab::Private::resetZoom()
{
    chosenX.reset();
    for (PlotWidget *plot : std::as_const(plots)) {
        if (plot)
            plot->resetY();
    }
    schedule();
}

void MetricsTab::Private::hover(std::optional<double> x)
{
    const QList<PlotWidget *> shown = shownPlots();
    for (PlotWidget *plot : shown)
        plot->setCrosshair(x);
}

void MetricsTab::setJob(Workspace *workspace, const QString &job)
{
    d->job = job;
    d->jobChosen = workspace && !job.isEmpty();
    d->resetZoom();
    d->hover({});
    if (d->jobChosen) {
        d->feed.setJob(workspace->jobFolder(job));
        d->poll.start();
    } else {
        d->feed.clear();
        d->poll.stop();
    }
    d->showState();
}

void MetricsTab::setNode(const QString &node)
{
    if (d->node == node)
        return;
    d->node = node;
    d->schedule();
}

void MetricsTab::addPoints(const QList<MetricPoint> &points)
{
    d->feed.addPoints(points);
}

void MetricsTab::applyTheme(bool dark)
{
    d->theme = PlotTheme::make(dark);
    d->header->applyTheme(d->theme);
    for (PlotWidget *plot : std::as_const(d->plots)) {
        if (plot)
            plot->applyTheme(d->theme);
    }
    d->schedule();
}

qint64 MetricsTab::pointCount() const
{
    return d->feed.pointCount();
}

void MetricsTab::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    d->feed.poll();
    d->schedule();
}

void MetricsTab::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    d->arrange();
}

} // namespace tw

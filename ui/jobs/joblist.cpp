// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/joblist.h"

#include "ui/common/plaintext.h"
#include "ui/jobs/jobmodel.h"
#include "ui/jobs/stateicon.h"

#include <QApplication>
#include <QClipboard>
#include <QFutureWatcher>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>
#include <QShortcut>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QTreeView>
#include <QVBoxLayout>
#include <QtConcurrent>

namespace tw {

namespace {
constexpr int iconSide = 18;
constexpr int pollMs = 4000; // the command line may share the workspace

/// Two lines with the state's sign before them.
class NameDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &) const override
    {
        return {180, option.fontMetrics.height() * 2 + 12};
    }

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        QStyleOptionViewItem item = option;
        initStyleOption(&item, index);
        item.text.clear();
        item.widget->style()->drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget);
        const bool selected = item.state & QStyle::State_Selected;
        const bool dark = item.palette.color(QPalette::Base).lightness() < 128;
        const QRect box = item.rect.adjusted(6, 0, -4, 0);
        const QRectF icon(box.left(), box.center().y() - iconSide / 2.0, iconSide, iconSide);
        paintJobState(*painter, icon, JobState(index.data(JobModel::StateRole).toInt()), dark);
        const QFontMetrics metrics(item.font);
        QRect line(box.left() + iconSide + 8, box.center().y() - metrics.height(), box.width() - iconSide - 8,
                   metrics.height());
        painter->setPen(item.palette.color(selected ? QPalette::HighlightedText : QPalette::Text));
        painter->drawText(line, Qt::AlignVCenter | Qt::TextSingleLine,
                          metrics.elidedText(index.data().toString(), Qt::ElideMiddle, line.width()));
        line.translate(0, metrics.height());
        QColor second = item.palette.color(selected ? QPalette::HighlightedText : QPalette::PlaceholderText);
        if (selected)
            second.setAlpha(200);
        painter->setPen(second);
        painter->drawText(
            line, Qt::AlignVCenter | Qt::TextSingleLine,
            metrics.elidedText(index.data(JobModel::DetailRole).toString(), Qt::ElideRight, line.width()));
    }
};
} // namespace

struct JobListView::Private
{
    JobListView *q = nullptr;
    Workspace *workspace = nullptr;
    JobModel *model = nullptr;
    JobSorter *sorter = nullptr;
    QLineEdit *search = nullptr;
    QTreeView *view = nullptr;
    QStackedWidget *pages = nullptr;
    QLabel *message = nullptr;
    QFutureWatcher<JobsReading> reader;
    QTimer clock, poll;
    bool readAgain = false, hasRead = false;
    std::optional<Error> error;

    void build();
    void connectView();
    void take();
    void showState();
    void fitColumns();
    void openMenu(const QPoint &at);
    void askDelete();
    void activate();
};

JobListView::JobListView(QWidget *parent) : QWidget(parent), d(std::make_unique<Private>())
{
    d->q = this;
    d->build();
    d->connectView();
    setAccessibleName(tr("Jobs"));
    d->showState();
}

JobListView::~JobListView()
{
    d->reader.waitForFinished(); // it reads the workspace
}

void JobListView::Private::build()
{
    auto *layout = new QVBoxLayout(q);
    layout->setContentsMargins(6, 6, 6, 6);
    layout->setSpacing(6);
    search = new QLineEdit;
    search->setPlaceholderText(tr("Search jobs"));
    search->setClearButtonEnabled(true);
    search->setAccessibleName(tr("Search jobs"));
    model = new JobModel(q);
    sorter = new JobSorter(q);
    sorter->setSourceModel(model);
    view = new QTreeView;
    view->setModel(sorter);
    view->setRootIsDecorated(false);
    view->setUniformRowHeights(true);
    view->setAllColumnsShowFocus(true);
    view->setFrameShape(QFrame::NoFrame);
    view->setSortingEnabled(true);
    view->sortByColumn(JobModel::Started, Qt::DescendingOrder);
    view->setItemDelegateForColumn(JobModel::Name, new NameDelegate(view));
    view->setContextMenuPolicy(Qt::CustomContextMenu);
    view->setAccessibleName(tr("Jobs"));
    view->header()->setStretchLastSection(false);
    view->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    view->header()->setSectionResizeMode(JobModel::Name, QHeaderView::Stretch);
    view->header()->setMinimumSectionSize(60);
    message = new QLabel;
    message->setTextFormat(Qt::PlainText);
    message->setAlignment(Qt::AlignCenter);
    message->setWordWrap(true);
    message->setMargin(12);
    pages = new QStackedWidget;
    pages->addWidget(message);
    pages->addWidget(view);
    layout->addWidget(search);
    layout->addWidget(pages, 1);
}

void JobListView::Private::connectView()
{
    connect(search, &QLineEdit::textChanged, q, [this](const QString &words) {
        sorter->setSearch(words);
        showState();
    });
    connect(search, &QLineEdit::returnPressed, view, qOverload<>(&QWidget::setFocus));
    connect(view, &QTreeView::activated, q, [this] { activate(); });
    connect(view, &QTreeView::customContextMenuRequested, q, [this](const QPoint &at) { openMenu(at); });
    const auto key = [this](const QKeySequence &keys, auto action) {
        auto *shortcut = new QShortcut(keys, view, nullptr, nullptr, Qt::WidgetShortcut);
        connect(shortcut, &QShortcut::activated, q, action);
    };
    key(QKeySequence::Delete, [this] { askDelete(); });
    key(QKeySequence::Copy, [this] { QApplication::clipboard()->setText(q->currentJob()); });
    connect(&reader, &QFutureWatcherBase::finished, q, [this] { take(); });
    clock.setInterval(1000);
    connect(&clock, &QTimer::timeout, model, &JobModel::tick);
    poll.setInterval(pollMs);
    connect(&poll, &QTimer::timeout, q, &JobListView::refresh);
}

void JobListView::setWorkspace(Workspace *workspace)
{
    d->reader.waitForFinished();
    d->reader.setFuture({});
    d->workspace = workspace;
    d->hasRead = d->readAgain = false;
    d->error.reset();
    d->model->setRows({});
    refresh();
    d->showState();
}

void JobListView::refresh()
{
    if (!d->workspace)
        return;
    if (d->reader.isRunning()) {
        d->readAgain = true;
        return;
    }
    d->reader.setFuture(QtConcurrent::run([workspace = d->workspace] { return readJobs(*workspace); }));
}

void JobListView::Private::take()
{
    if (reader.future().resultCount() == 0 || !workspace)
        return;
    const JobsReading reading = reader.result();
    hasRead = true;
    error = reading.error;
    if (!error) {
        const int top = view->verticalScrollBar()->value();
        model->setRows(reading.rows);
        view->verticalScrollBar()->setValue(top);
    }
    if (model->hasRunning())
        clock.start();
    else
        clock.stop();
    showState();
    if (std::exchange(readAgain, false))
        q->refresh();
}

void JobListView::Private::showState()
{
    if (error)
        message->setText(tr("The jobs cannot be read: %1").arg(error->sentence()));
    else if (!workspace)
        message->setText(tr("No workspace is open."));
    else if (!hasRead)
        message->setText(tr("Reading the jobs…"));
    else if (model->rowCount() == 0)
        message->setText(tr("No job yet. Press Run, and it appears here."));
    else
        message->setText(tr("No job matches the search."));
    pages->setCurrentIndex(error || sorter->rowCount() == 0 ? 0 : 1);
    message->setAccessibleName(message->text());
}

void JobListView::Private::fitColumns()
{
    // In a narrow dock the name and the accuracy matter; the rest is in the second line or the tool tip.
    static constexpr std::pair<int, int> neededWidth[]{{JobModel::BestTop1, 230},
                                                       {JobModel::Started, 520},
                                                       {JobModel::Duration, 620},
                                                       {JobModel::Epochs, 400},
                                                       {JobModel::ImagesPerSecond, 460}};
    for (const auto &[column, width] : neededWidth)
        view->setColumnHidden(column, q->width() < width);
}

void JobListView::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    d->fitColumns();
}

void JobListView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (d->hasRead)
        refresh();
    d->poll.start();
}

void JobListView::hideEvent(QHideEvent *event)
{
    d->poll.stop();
    QWidget::hideEvent(event);
}

void JobListView::updateState(const QString &job, JobState state)
{
    d->model->setState(job, state);
    if (d->model->hasRunning())
        d->clock.start();
    if (isFinal(state))
        refresh(); // figures of the end
}

QString JobListView::currentJob() const
{
    const QModelIndex current = d->view->currentIndex();
    return current.isValid() ? current.data(JobModel::IdRole).toString() : QString();
}

void JobListView::Private::activate()
{
    if (const QString job = q->currentJob(); !job.isEmpty())
        Q_EMIT q->jobActivated(job);
}

void JobListView::Private::openMenu(const QPoint &at)
{
    if (!view->indexAt(at).isValid())
        return;
    QMenu menu(q);
    const QAction *show = menu.addAction(tr("Show"));
    const QAction *copy = menu.addAction(tr("Copy job id"));
    QAction *cancel = menu.addAction(tr("Cancel"));
    cancel->setEnabled(!isFinal(JobState(view->currentIndex().data(JobModel::StateRole).toInt())));
    menu.addSeparator();
    const QAction *remove = menu.addAction(tr("Delete…"));
    const QAction *chosen = menu.exec(view->viewport()->mapToGlobal(at));
    if (chosen == show)
        activate();
    else if (chosen == copy)
        QApplication::clipboard()->setText(q->currentJob());
    else if (chosen == cancel)
        Q_EMIT q->cancelRequested(q->currentJob());
    else if (chosen == remove)
        askDelete();
}

void JobListView::Private::askDelete()
{
    const QModelIndex current = view->currentIndex();
    const QString job = q->currentJob();
    if (job.isEmpty())
        return;
    const QString name = current.siblingAtColumn(JobModel::Name).data().toString();
    QString question = tr("Delete the job “%1” with its files, logs and models? This cannot be undone.");
    QMessageBox box(QMessageBox::Question, tr("Delete job"), question.replace(QStringLiteral("%1"), name),
                    QMessageBox::Cancel, q);
    box.setTextFormat(Qt::PlainText);
    QPushButton *remove = box.addButton(tr("Delete"), QMessageBox::DestructiveRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    if (box.clickedButton() == static_cast<QAbstractButton *>(remove))
        Q_EMIT q->deleteRequested(job);
}

} // namespace tw

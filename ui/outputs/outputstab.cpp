// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/outputs/outputstab.h"

#include "core/jobs/workspace.h"
#include "ui/common/plaintext.h"
#include "ui/logs/logpanel.h"
#include "ui/outputs/foldermodel.h"
#include "ui/outputs/loglist.h"
#include "ui/outputs/previewpane.h"

#include <QHeaderView>
#include <QLabel>
#include <QShowEvent>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>
#include <QTimer>
#include <QTreeView>
#include <QVBoxLayout>
#include <QtConcurrent>

namespace tw {

namespace {
constexpr int pollMs = 1000; // files of jobs that another program runs
constexpr int listEveryPolls = 3;
} // namespace

struct OutputsTab::Private
{
    OutputsTab *q = nullptr;
    QStackedWidget *pages = nullptr;
    QLabel *message = nullptr;
    QTreeView *tree = nullptr;
    FolderModel *model = nullptr;
    PreviewPane *preview = nullptr;
    QTabWidget *tabs = nullptr;
    QTimer poll;
    int polls = 0;
    fs::path folder;
    QString job, node;
    QList<LogFile> logs;
    QHash<QByteArray, LogPanel *> panels;
    QFutureWatcher<QList<LogFile>> lister;
    bool listAgain = false, choseTab = false;
    fs::path wanted; ///< to be opened and selected as its folders are listed

    void build();
    QWidget *makeTree();
    void listLogFiles();
    void takeLogs();
    void showLogs(const QList<LogFile> &found);
    void openWanted();
    void choose(const QModelIndex &index);
    void showState();
    void tick();
    LogPanel *panelOf(const LogEvent &event) const;
};

OutputsTab::OutputsTab(QWidget *parent) : QWidget(parent), d(std::make_unique<Private>())
{
    d->q = this;
    d->build();
    connect(&d->lister, &QFutureWatcherBase::finished, this, [this] { d->takeLogs(); });
    d->poll.setInterval(pollMs);
    connect(&d->poll, &QTimer::timeout, this, [this] { d->tick(); });
    setAccessibleName(tr("Outputs and logs"));
    d->showState();
}

OutputsTab::~OutputsTab() = default;

void OutputsTab::Private::build()
{
    auto *layout = new QVBoxLayout(q);
    layout->setContentsMargins(0, 0, 0, 0);
    pages = new QStackedWidget;
    message = new QLabel;
    message->setTextFormat(Qt::PlainText);
    message->setAlignment(Qt::AlignCenter);
    message->setWordWrap(true);
    auto *splitter = new QSplitter;
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(makeTree());
    tabs = new QTabWidget;
    tabs->setDocumentMode(true);
    tabs->setElideMode(Qt::ElideNone);
    tabs->setUsesScrollButtons(true);
    tabs->tabBar()->setExpanding(false);
    preview = new PreviewPane;
    tabs->addTab(preview, tr("Preview"));
    splitter->addWidget(tabs);
    splitter->setStretchFactor(0, 0);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({280, 800});
    pages->addWidget(message);
    pages->addWidget(splitter);
    layout->addWidget(pages);
    connect(preview, &PreviewPane::exportRequested, q, &OutputsTab::exportRequested);
    connect(tabs, &QTabWidget::tabBarClicked, q, [this] { choseTab = true; });
}

QWidget *OutputsTab::Private::makeTree()
{
    model = new FolderModel(q);
    tree = new QTreeView;
    tree->setModel(model);
    tree->setFrameShape(QFrame::NoFrame);
    tree->setUniformRowHeights(true);
    tree->setMinimumWidth(180);
    tree->setAccessibleName(tr("Files of the job"));
    tree->header()->setStretchLastSection(false);
    tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    tree->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    tree->header()->hide();
    // Not currentChanged(): mere focus makes the first row current.
    connect(tree->selectionModel(), &QItemSelectionModel::selectionChanged, q,
            [this](const QItemSelection &selected) { choose(selected.indexes().value(0)); });
    connect(model, &FolderModel::listed, q, [this] {
        openWanted();
        showState();
    });
    return tree;
}

void OutputsTab::setJob(Workspace *workspace, const QString &job)
{
    d->folder = workspace && !job.isEmpty() ? workspace->jobFolder(job) : fs::path();
    d->job = d->folder.empty() ? QString() : job;
    d->choseTab = false;
    d->wanted = d->folder.empty() ? fs::path() : d->folder / "nodes";
    d->showLogs({});
    d->preview->show({});
    d->model->setRoot(d->folder);
    if (d->folder.empty()) {
        d->poll.stop();
    } else {
        d->poll.start();
        d->listLogFiles();
    }
    d->showState();
}

void OutputsTab::setNode(const QString &node)
{
    if (d->node == node)
        return;
    d->node = node;
    d->choseTab = false;
    if (d->folder.empty())
        return;
    d->wanted = d->folder / "nodes" / pathFromText(node);
    d->openWanted();
    d->listLogFiles();
}

void OutputsTab::appendLog(const LogEvent &event)
{
    if (LogPanel *panel = d->panelOf(event))
        panel->wake();
    else if (!d->folder.empty() && (d->node.isEmpty() || d->node == event.node))
        d->listLogFiles();
}

void OutputsTab::refresh()
{
    if (d->folder.empty())
        return;
    d->model->refresh();
    d->listLogFiles();
}

LogPanel *OutputsTab::Private::panelOf(const LogEvent &event) const
{
    const std::string name = event.driver ? "70_driver_log_" + std::to_string(event.rank) + ".txt" : "std_log.txt";
    return panels.value(bytesFromPath(folder / "nodes" / pathFromText(event.node) / "logs" / name));
}

void OutputsTab::Private::tick()
{
    if (!q->isVisible())
        return;
    if (auto *panel = qobject_cast<LogPanel *>(tabs->currentWidget()))
        panel->wake();
    if (++polls % listEveryPolls == 0)
        q->refresh();
}

void OutputsTab::Private::listLogFiles()
{
    if (lister.isRunning()) {
        listAgain = true;
        return;
    }
    lister.setFuture(QtConcurrent::run([where = folder, of = node] { return listLogs(where, of); }));
}

void OutputsTab::Private::takeLogs()
{
    const QList<LogFile> found = lister.result();
    if (std::exchange(listAgain, false)) {
        listLogFiles(); // the job or node may have changed meanwhile
        return;
    }
    if (!folder.empty())
        showLogs(found);
}

void OutputsTab::Private::showLogs(const QList<LogFile> &found)
{
    if (found == logs)
        return;
    logs = found;
    const QWidget *before = tabs->currentWidget();
    QHash<QByteArray, LogPanel *> kept;
    while (tabs->count() > 1)
        tabs->removeTab(1);
    for (const LogFile &log : std::as_const(logs)) {
        const QByteArray key = bytesFromPath(log.path);
        LogPanel *panel = panels.take(key);
        if (!panel)
            panel = new LogPanel(log.path);
        kept.insert(key, panel);
        const int at = tabs->addTab(panel, QString(log.title).replace(QLatin1Char('&'), QStringLiteral("&&")));
        tabs->setTabToolTip(at, literalToolTip(displayPath(log.path)));
        if (panel == before)
            tabs->setCurrentIndex(at);
    }
    qDeleteAll(panels);
    panels = kept;
    if (!choseTab && !logs.isEmpty() && tabs->currentIndex() == 0 && preview->path().empty())
        tabs->setCurrentIndex(1);
}

void OutputsTab::Private::openWanted()
{
    if (wanted.empty())
        return;
    fs::path at = folder;
    for (const fs::path &part : wanted.lexically_relative(folder)) {
        at /= part;
        const QModelIndex index = model->find(at);
        if (!index.isValid())
            return;
        tree->expand(index); // lists it; the rest follows with its listing
        if (at == wanted) {
            tree->scrollTo(index);
            wanted.clear();
        }
    }
}

void OutputsTab::Private::choose(const QModelIndex &index)
{
    if (!index.isValid())
        return;
    const fs::path path = model->path(index);
    choseTab = true;
    if (LogPanel *panel = panels.value(bytesFromPath(path))) {
        tabs->setCurrentWidget(panel);
        return;
    }
    preview->show(path);
    tabs->setCurrentWidget(preview);
}

void OutputsTab::Private::showState()
{
    const bool empty = folder.empty();
    const QString problem = model->problem();
    if (empty)
        message->setText(tr("Choose a job in the list to see its files and logs."));
    else if (!problem.isEmpty())
        message->setText(tr("The folder of this job cannot be read: %1.").arg(problem));
    pages->setCurrentIndex(empty || !problem.isEmpty() ? 0 : 1);
    message->setAccessibleName(message->text());
}

void OutputsTab::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    refresh();
}

} // namespace tw

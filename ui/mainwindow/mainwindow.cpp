// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow/mainwindow.h"

#include "ui/canvas/canvaspage.h"
#include "ui/canvas/componentpalette.h"
#include "ui/canvas/outlinepanel.h"
#include "ui/common/actionregistry.h"
#include "ui/common/docktitle.h"
#include "ui/common/icons.h"
#include "ui/common/usersettings.h"
#include "ui/common/words.h"
#include "ui/jobs/joblist.h"
#include "ui/mainwindow/statusstrip.h"
#include "ui/metrics/metricstab.h"
#include "ui/outputs/outputstab.h"
#include "ui/parameters/parameterpanel.h"

#include <QCloseEvent>
#include <QDockWidget>
#include <QFutureWatcher>
#include <QLocale>
#include <QMessageBox>
#include <QPushButton>
#include <QStatusBar>
#include <QTabWidget>
#include <QtConcurrent/QtConcurrentRun>

namespace tw {

namespace {
constexpr char geometryKey[] = "window/geometry";
constexpr char stateKey[] = "window/state";
constexpr int stateVersion = 1;
} // namespace

MainWindow::MainWindow(const WindowServices &services, QWidget *parent)
    : QMainWindow(parent), m_services(services), m_document(*services.registry), m_editor(m_document),
      m_jobs(*services.workspace, *services.registry),
      m_session(m_editor, services.workspace->folder() / "autosave", this),
      m_preflight(m_document, nullptr, services.workspace->cacheFolder()), m_actions(new ActionRegistry(this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(applicationIcon());
    setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
    buildCentre();
    buildDocks();
    buildStatusBar();
    registerFileActions();
    m_canvas->registerActions(*m_actions);
    registerRunActions();
    registerViewActions();
    registerHelpActions();
    buildMenus();
    buildToolBar();
    connectCanvas();
    connectSession();
    connectJobs();
    resize(1440, 900);
    restoreLayout();
    updateTitle();
    updateRunActions();
}

MainWindow::~MainWindow()
{
    m_deleting.waitForFinished();
    m_metrics->setJob(nullptr, {});
    m_outputs->setJob(nullptr, {});
    m_jobList->setWorkspace(nullptr);
    // Child widgets outlive the members below this class; they must not hear of their end.
    for (QObject *source : {static_cast<QObject *>(&m_document), static_cast<QObject *>(&m_editor.undoStack()),
                            static_cast<QObject *>(&m_jobs), static_cast<QObject *>(&m_session)})
        source->disconnect();
    delete m_parameters;
    delete m_outline;
    delete m_canvas;
}

void MainWindow::buildCentre()
{
    m_tabs = new QTabWidget;
    m_tabs->setObjectName(QStringLiteral("centreTabs"));
    m_tabs->setDocumentMode(true);
    m_tabs->setAccessibleName(tr("Pipeline and job"));
    m_canvas = new CanvasPage(m_editor);
    m_metrics = new MetricsTab;
    m_outputs = new OutputsTab;
    m_tabs->addTab(m_canvas, tr("Pipeline"));
    m_tabs->addTab(m_metrics, tr("Metrics"));
    m_tabs->addTab(m_outputs, tr("Outputs + logs"));
    setCentralWidget(m_tabs);
}

void MainWindow::buildDocks()
{
    const auto dock = [this](const char *name, const QString &title, QWidget *content, Qt::DockWidgetArea area) {
        auto *made = new QDockWidget(title, this);
        made->setObjectName(QLatin1String(name));
        made->setWidget(content);
        made->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetClosable
                          | QDockWidget::DockWidgetFloatable);
        made->setTitleBarWidget(new DockTitle(made));
        addDockWidget(area, made);
        return made;
    };
    m_palette = new ComponentPalette(*m_services.registry);
    m_jobList = new JobListView;
    m_jobList->setWorkspace(m_services.workspace);
    m_parameters = new ParameterPanel(m_editor);
    QDockWidget *palette = dock("paletteDock", tr("Components"), m_palette, Qt::LeftDockWidgetArea);
    QDockWidget *jobs = dock("jobsDock", tr("Jobs"), m_jobList, Qt::LeftDockWidgetArea);
    m_outline = new OutlinePanel(m_canvas->scene());
    QDockWidget *outline = dock("outlineDock", tr("Outline"), m_outline, Qt::LeftDockWidgetArea);
    tabifyDockWidget(jobs, outline);
    jobs->raise();
    QDockWidget *parameters = dock("parametersDock", tr("Parameters"), m_parameters, Qt::RightDockWidgetArea);
    resizeDocks({palette, parameters}, {256, 324}, Qt::Horizontal);
    resizeDocks({palette, jobs}, {480, 300}, Qt::Vertical);
}

void MainWindow::buildStatusBar()
{
    m_strip = new StatusStrip;
    statusBar()->setSizeGripEnabled(false);
    statusBar()->addPermanentWidget(m_strip);
    if (!m_services.deviceSummary)
        return;
    auto *watcher = new QFutureWatcher<QString>(this);
    connect(watcher, &QFutureWatcher<QString>::finished, this,
            [this, watcher] { m_strip->setDevice(watcher->result()); });
    watcher->setFuture(QtConcurrent::run(m_services.deviceSummary));
}

void MainWindow::connectCanvas()
{
    PipelineScene *scene = &m_canvas->scene();
    connect(scene, &PipelineScene::nodeSelectionChanged, this, [this](const QStringList &ids) {
        m_parameters->setNodes(ids);
        const QString single = ids.size() == 1 ? ids.first() : QString();
        m_metrics->setNode(single);
        m_outputs->setNode(single);
        showDataReport();
        updateRunActions();
    });
    connect(m_outline, &OutlinePanel::nodeActivated, m_parameters, &ParameterPanel::focusFirst);
    connect(scene, &PipelineScene::nodeActivated, m_parameters, &ParameterPanel::focusFirst);
    connect(scene, &PipelineScene::connectionRefused, this,
            [this](const Error &reason) { statusBar()->showMessage(errorText(reason), 8000); });
    connect(m_palette, &ComponentPalette::componentChosen, this, [this](const QString &id) {
        showTab(Tab::Pipeline);
        m_canvas->addComponent(id);
    });
    connect(m_canvas, &CanvasPage::sampleRequested, this, &MainWindow::openSample);
    connect(m_canvas, &CanvasPage::openRequested, this, [this] { m_session.open(); });
    connect(m_canvas, &CanvasPage::filesDropped, this, [this](const QStringList &files) { openFile(files.first()); });
    connect(m_parameters, &ParameterPanel::problemActivated, this, &MainWindow::showFault);
    connect(m_parameters, &ParameterPanel::parameterActivated, this, [this](const PortAddress &address) {
        m_canvas->scene().selectNodes({address.node});
        m_parameters->focusParameter(address.port);
    });
    connect(&m_preflight, &PreflightWatch::finished, this,
            [this](const QMap<QString, QString> &summaries, const QList<Error> &errors) {
                m_canvas->scene().setSummaries(summaries);
                m_canvas->scene().setMachineFaults(errors);
                m_parameters->setMachineFaults(errors);
                m_parameters->setNotes(m_preflight.notes());
                m_parameters->setSummaries(summaries);
            });
    connect(&m_document, &PipelineDocument::parameterChanged, this, &MainWindow::markChangedNode);
    connect(&m_document, &PipelineDocument::changed, this, [this] { m_discards = false; });
    connect(&Theme::instance(), &Theme::changed, m_metrics, &MetricsTab::applyTheme);
    m_metrics->applyTheme(Theme::instance().isDark());
}

void MainWindow::connectSession()
{
    connect(&m_session, &DocumentSession::fileChanged, this, &MainWindow::updateTitle);
    connect(&m_session, &DocumentSession::modifiedChanged, this, &MainWindow::updateTitle);
    connect(&m_document, &PipelineDocument::nameChanged, this, &MainWindow::updateTitle);
    connect(&m_session, &DocumentSession::failed, this, [this](const QString &file, const Error &error) {
        m_canvas->bar().showMessage(InfoBar::Kind::Problem, QStringLiteral("%1: %2").arg(file, errorTooltip(error)));
    });
    connect(&m_session, &DocumentSession::opened, this, [this](const QStringList &notes) {
        m_closing = false;
        m_ownJobs.clear();
        showStates(false);
        showTab(Tab::Pipeline);
        m_canvas->view().fitPipeline();
        m_canvas->view().setFocus();
        if (notes.isEmpty())
            m_canvas->bar().hide();
        else
            m_canvas->bar().showMessage(InfoBar::Kind::Note, notes.join(u'\n'));
    });
}

void MainWindow::updateTitle()
{
    setWindowTitle(QStringLiteral("%1[*] – Trainwright").arg(m_session.displayName()));
    setWindowModified(m_session.isModified());
}

void MainWindow::showTab(Tab tab)
{
    m_tabs->setCurrentIndex(int(tab));
}

bool MainWindow::openFile(const QString &file)
{
    return m_session.open(file);
}

void MainWindow::openSample()
{
    m_session.openSample();
}

void MainWindow::showJobPipeline(const QString &job)
{
    m_session.openDraft(m_services.workspace->jobFolder(job) / "pipeline.json");
}

void MainWindow::start(const QString &file)
{
    if (!file.isEmpty())
        openFile(file);
    else
        openSample();
    const auto left = m_session.journal().findLeft();
    if (!left)
        return;
    const QString when = QLocale().toString(QDateTime::fromMSecsSinceEpoch(left->writtenMs), QLocale::ShortFormat);
    m_canvas->bar().showMessage(InfoBar::Kind::Warning,
                                tr("Unsaved work of %1 was found: \"%2\" (nodes: %3).")
                                    .arg(when, left->pipeline.name)
                                    .arg(left->pipeline.nodes.size()),
                                {{tr("Restore"), [this, found = *left] { m_session.restore(found); }},
                                 {tr("Discard"), [found = *left] { Journal::discard(found); }}});
}

void MainWindow::restoreLayout()
{
    const QSettings settings(userSettings().fileName(), QSettings::IniFormat);
    restoreGeometry(settings.value(QLatin1String(geometryKey)).toByteArray());
    restoreState(settings.value(QLatin1String(stateKey)).toByteArray(), stateVersion);
}

void MainWindow::showEvent(QShowEvent *event)
{
    QMainWindow::showEvent(event);
    if (m_fitOnShow) {
        m_fitOnShow = false;
        // After the first layout: the canvas has its size only then.
        QMetaObject::invokeMethod(
            this, [this] { m_canvas->view().fitPipeline(); }, Qt::QueuedConnection);
    }
}

bool MainWindow::mayClose()
{
    // Asked again at the end: the window stays usable while it waits for the job.
    if (!m_discards && !m_session.mayDiscard()) {
        m_closing = false;
        return false;
    }
    if (m_jobs.isIdle())
        return true;
    m_discards = true;
    m_closing = askAboutJobs();
    if (m_closing)
        m_canvas->bar().showMessage(InfoBar::Kind::Note, tr("Closing as soon as the job has ended…"),
                                    {{tr("Do not close"), [this] { m_closing = false; }}});
    return false;
}

/// False: do not close.
bool MainWindow::askAboutJobs()
{
    const int waiting = int(m_jobs.waitingJobs().size());
    QMessageBox box(QMessageBox::Question, tr("A job is running"), tr("A job is running. What should become of it?"),
                    QMessageBox::NoButton, this);
    if (waiting > 0)
        box.setInformativeText(tr("%n waiting job(s) will be canceled.", nullptr, waiting));
    const bool training = m_jobs.isTraining();
    QPushButton *keep =
        box.addButton(training ? tr("Stop and keep") : tr("Close when it ends"), QMessageBox::AcceptRole);
    QPushButton *cancel = box.addButton(tr("Cancel the job"), QMessageBox::DestructiveRole);
    box.addButton(tr("Do not close"), QMessageBox::RejectRole);
    box.setDefaultButton(keep);
    box.exec();
    if (box.clickedButton() != keep && box.clickedButton() != cancel)
        return false;
    m_jobs.cancelWaiting();
    if (box.clickedButton() == cancel)
        m_jobs.cancel(m_jobs.runningJob());
    else if (training)
        m_jobs.stopAndKeep();
    return true;
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    if (!mayClose()) {
        event->ignore();
        return;
    }
    QSettings settings(userSettings().fileName(), QSettings::IniFormat);
    settings.setValue(QLatin1String(geometryKey), saveGeometry());
    settings.setValue(QLatin1String(stateKey), saveState(stateVersion));
    m_session.finish();
    event->accept();
}

} // namespace tw

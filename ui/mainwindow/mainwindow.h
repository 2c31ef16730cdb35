// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/canvas/preflightwatch.h"
#include "ui/common/theme.h"
#include "ui/mainwindow/documentsession.h"
#include "ui/mainwindow/jobcontroller.h"
#include "ui/mainwindow/modelexport.h"

#include <QFuture>
#include <QMainWindow>
#include <QSet>

#include <functional>

class QTabWidget;
class QToolButton;

namespace tw {

class ActionRegistry;
class CanvasPage;
class ComponentPalette;
class JobListView;
class MetricsTab;
class OutlinePanel;
class OutputsTab;
class ParameterPanel;
class StatusStrip;

/// What the composition root gives the window.
struct WindowServices
{
    const ComponentRegistry *registry = nullptr;
    Workspace *workspace = nullptr;
    /// One line for the status bar ("cpu, 8 threads"); called on a worker thread. Optional.
    std::function<QString()> deviceSummary;
};

/// The program's window: palette and jobs on the left, canvas and the job's tabs in the middle,
/// parameters on the right.
class MainWindow : public QMainWindow
{
    Q_OBJECT
public:
    explicit MainWindow(const WindowServices &services, QWidget *parent = nullptr);
    ~MainWindow() override;

    enum class Tab { Pipeline, Metrics, Outputs };
    void showTab(Tab tab);
    /// Opens a pipeline file. False when it was not opened.
    bool openFile(const QString &file);
    void openSample();
    /// Work that a crash left, else `file`, else the sample.
    void start(const QString &file);
    /// Shows this job in the tabs and its states on the canvas.
    void showJob(const QString &job);
    QString shownJob() const { return m_shownJob; }
    /// Opens a copy of the pipeline that this job ran, as unsaved work.
    void showJobPipeline(const QString &job);
    /// Something shown is still being looked at on a worker thread.
    bool isLoading() const { return m_preflight.isBusy(); }

    ActionRegistry &actionRegistry() { return *m_actions; }
    PipelineEditor &editor() { return m_editor; }
    CanvasPage &canvas() { return *m_canvas; }
    ParameterPanel &parameters() { return *m_parameters; }
    MetricsTab &metrics() { return *m_metrics; }
    JobController &jobs() { return m_jobs; }
    DocumentSession &session() { return m_session; }

protected:
    void closeEvent(QCloseEvent *event) override;
    void showEvent(QShowEvent *event) override;

private:
    void buildCentre();
    void buildDocks();
    void buildStatusBar();
    void registerFileActions();
    void registerRunActions();
    void registerViewActions();
    void registerHelpActions();
    void buildMenus();
    void buildToolBar();
    QToolButton *makeRunButton();
    void fillRecentMenu();
    void connectCanvas();
    void connectSession();
    void connectJobs();
    void restoreLayout();

    void run(bool ask, const QStringList &upTo);
    void submit(JobRequest request);
    /// Selects the first faulty node and says why; false when the pipeline may not run.
    bool checkBeforeRun();
    void showFault(const Error &fault);
    void showStates(bool tell);
    void deleteJob(const QString &job);
    void showNodeStatus(const QString &job, const QString &node);
    void showJobState(const QString &job, JobState state);
    void markChangedNode(const QString &id);
    void showDataReport();
    void updateRunActions();
    void updateTitle();
    void exportModel();
    void exportFrom(const fs::path &folder, const QString &suggestedName);
    void openCommandList();
    void showShortcuts();
    void showAbout();
    void setThemeChoice(ThemeChoice choice);
    bool mayClose();
    bool askAboutJobs();

    WindowServices m_services;
    PipelineDocument m_document;
    PipelineEditor m_editor;
    JobController m_jobs;
    DocumentSession m_session;
    PreflightWatch m_preflight;
    ModelExporter m_exporter;
    ActionRegistry *m_actions;
    QTabWidget *m_tabs = nullptr;
    CanvasPage *m_canvas = nullptr;
    MetricsTab *m_metrics = nullptr;
    OutputsTab *m_outputs = nullptr;
    ComponentPalette *m_palette = nullptr;
    JobListView *m_jobList = nullptr;
    OutlinePanel *m_outline = nullptr;
    ParameterPanel *m_parameters = nullptr;
    StatusStrip *m_strip = nullptr;
    QString m_shownJob;
    bool m_fitOnShow = true;
    QSet<QString> m_ownJobs;    ///< submitted from the document as it is open
    bool m_showsStates = false; ///< the job shown ran the open pipeline
    QFuture<Result<void>> m_deleting;
    bool m_closing = false;  ///< as soon as no job runs
    bool m_discards = false; ///< agreed for that moment, until the next edit
};

} // namespace tw

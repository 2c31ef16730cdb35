// SPDX-License-Identifier: GPL-3.0-or-later
// Running, watching and exporting of the main window.
#include "core/pipeline/pipelinefile.h"
#include "ui/canvas/canvaspage.h"
#include "ui/canvas/nodeitem.h"
#include "ui/common/actionregistry.h"
#include "ui/common/filterpopup.h"
#include "ui/common/words.h"
#include "ui/jobs/joblist.h"
#include "ui/mainwindow/jobpipeline.h"
#include "ui/mainwindow/mainwindow.h"
#include "ui/mainwindow/rundialog.h"
#include "ui/mainwindow/statusstrip.h"
#include "ui/metrics/metricstab.h"
#include "ui/outputs/outputstab.h"
#include "ui/parameters/parameterpanel.h"

#include <QDesktopServices>
#include <QFile>
#include <QFileDialog>
#include <QFutureWatcher>
#include <QMessageBox>
#include <QUrl>
#include <QtConcurrent/QtConcurrentRun>

namespace tw {

void MainWindow::connectJobs()
{
    connect(&m_jobs, &JobController::nodeStatusChanged, this, &MainWindow::showNodeStatus);
    connect(&m_jobs, &JobController::statesLoaded, this, [this](const QString &job) {
        if (job == m_shownJob)
            showStates(true);
    });
    connect(&m_jobs, &JobController::pointsArrived, this, [this](const QString &job, const QList<MetricPoint> &points) {
        if (job == m_shownJob)
            m_metrics->addPoints(points);
    });
    connect(&m_jobs, &JobController::lineArrived, this, [this](const QString &job, const LogEvent &line) {
        if (job == m_shownJob)
            m_outputs->appendLog(line);
    });
    connect(&m_jobs, &JobController::jobStateChanged, this, &MainWindow::showJobState);
    connect(&m_jobs, &JobController::figuresChanged, this, [this] { m_strip->showFigures(m_jobs.figures()); });
    connect(&m_jobs, &JobController::jobFailed, this, [this](const QString &, const Error &error) {
        m_canvas->bar().showMessage(InfoBar::Kind::Problem, errorTooltip(error));
    });
    connect(m_jobList, &JobListView::jobActivated, this, &MainWindow::showJob);
    connect(m_jobList, &JobListView::cancelRequested, this, [this](const QString &job) {
        if (!m_jobs.cancel(job))
            m_canvas->bar().showMessage(InfoBar::Kind::Warning,
                                        tr("This job runs in another program; cancel it there."));
    });
    connect(m_jobList, &JobListView::deleteRequested, this, &MainWindow::deleteJob);
    connect(m_outputs, &OutputsTab::exportRequested, this,
            [this](const QByteArray &folder) { exportFrom(pathFromBytes(folder), m_session.displayName()); });
    connect(&m_exporter, &ModelExporter::finished, this, [this](const QString &destination) {
        m_canvas->bar().showMessage(
            InfoBar::Kind::Note, tr("The model directory is in %1").arg(destination),
            {{tr("Open the folder"), [destination] { QDesktopServices::openUrl(QUrl::fromLocalFile(destination)); }}});
    });
    connect(&m_exporter, &ModelExporter::failed, this,
            [this](const Error &error) { m_canvas->bar().showMessage(InfoBar::Kind::Problem, errorTooltip(error)); });
}

void MainWindow::showFault(const Error &fault)
{
    showTab(Tab::Pipeline);
    if (!fault.nodeId.isEmpty()) {
        m_canvas->scene().selectNodes({fault.nodeId});
        if (NodeItem *item = m_canvas->scene().nodeItem(fault.nodeId))
            m_canvas->view().ensureVisible(item);
        if (!fault.parameter.isEmpty())
            m_parameters->focusParameter(fault.parameter);
    }
    m_canvas->bar().showMessage(InfoBar::Kind::Problem, errorTooltip(fault));
}

bool MainWindow::checkBeforeRun()
{
    std::optional<Error> fault = m_parameters->refusal();
    if (!fault && !m_document.faults().isEmpty())
        fault = m_document.faults().first();
    if (!fault)
        return true;
    showFault(*fault);
    return false;
}

void MainWindow::run(bool ask, const QStringList &upTo)
{
    if (!checkBeforeRun())
        return;
    JobRequest request;
    request.pipeline = m_document.pipeline();
    request.upTo = upTo;
    if (!ask && !RunDialog::isWanted() && request.pipeline.parameters.isEmpty()) {
        RunDialog::fillRemembered(request, m_session.displayName());
        submit(request);
        return;
    }
    auto *dialog = new RunDialog(m_session.displayName(), this);
    dialog->askFor(m_document);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog, request]() mutable {
        dialog->store(request);
        submit(request);
    });
    dialog->open();
}

void MainWindow::submit(JobRequest request)
{
    const Result<QString> job = m_jobs.submit(request);
    if (!job) {
        showFault(job.error());
        return;
    }
    m_canvas->bar().hide();
    m_closing = false;
    m_ownJobs.insert(*job);
    showJob(*job);
    m_jobList->refresh();
    updateRunActions();
}

void MainWindow::showJob(const QString &job)
{
    m_shownJob = job;
    m_canvas->scene().clearStatus();
    m_metrics->setJob(m_services.workspace, job);
    m_outputs->setJob(m_services.workspace, job);
    if (!job.isEmpty())
        m_jobs.loadStates(job);
    updateRunActions();
}

/// The states of the job shown, on the canvas of the pipeline that it ran and on no other.
void MainWindow::showStates(bool tell)
{
    m_canvas->scene().clearStatus();
    const std::optional<Pipeline> ran = m_jobs.pipeline(m_shownJob);
    m_showsStates = ran && (m_ownJobs.contains(m_shownJob) || isSamePipeline(*ran, m_document.pipeline()));
    if (!m_showsStates) {
        if (tell && ran)
            m_canvas->bar().showMessage(
                InfoBar::Kind::Note, tr("This job ran another pipeline than the one that is open."),
                {{tr("Open its pipeline"), [this, job = m_shownJob] { showJobPipeline(job); }}});
        return;
    }
    const QSet<QString> changed = nodesChangedSince(*ran, m_document.pipeline(), *m_services.registry);
    const QHash<QString, NodeStatus> states = m_jobs.states(m_shownJob);
    for (auto state = states.cbegin(); state != states.cend(); ++state) {
        NodeStatus status = state.value();
        status.changedSinceRun = isFinal(status.state) && changed.contains(state.key());
        m_canvas->scene().setStatus(state.key(), status);
    }
    showDataReport();
}

/// Of one selected node, or of the nodes that read it where it is a source.
void MainWindow::showDataReport()
{
    QList<fs::path> files;
    const QStringList selected = m_canvas->scene().selectedNodes();
    const ComponentType *chosen = selected.size() == 1 ? m_document.componentOf(selected.first()) : nullptr;
    if (!chosen || !m_showsStates || m_shownJob.isEmpty())
        return m_parameters->setReportFiles({});
    QStringList nodes;
    if (!chosen->inputs.isEmpty())
        nodes = selected;
    else
        for (const auto &wire : m_document.pipeline().connections)
            if (wire.from.node == selected.first())
                nodes.append(wire.to.node);
    for (const QString &node : std::as_const(nodes)) {
        const ComponentType *type = m_document.componentOf(node);
        if (!type)
            continue;
        for (const PortSpec &port : type->outputs)
            if (port.type == DataType::ImageDirectory)
                files.append(m_services.workspace->outputFolder(m_shownJob, node, port.id) / "data_report.json");
        files.append(m_services.workspace->nodeFolder(m_shownJob, node) / "logs" / "data_report.json");
    }
    m_parameters->setReportFiles(files);
}

void MainWindow::deleteJob(const QString &job)
{
    m_deleting.waitForFinished(); // rare: two in a row
    m_deleting = QtConcurrent::run([workspace = m_services.workspace, job] { return workspace->deleteJob(job); });
    if (job == m_shownJob)
        showJob({});
    auto *watcher = new QFutureWatcher<Result<void>>(this);
    connect(watcher, &QFutureWatcher<Result<void>>::finished, this, [this, watcher] {
        watcher->deleteLater();
        if (const Result<void> deleted = watcher->result(); !deleted)
            m_canvas->bar().showMessage(InfoBar::Kind::Problem, errorTooltip(deleted.error()));
        m_jobList->refresh();
    });
    watcher->setFuture(m_deleting);
}

void MainWindow::showNodeStatus(const QString &job, const QString &node)
{
    updateRunActions();
    if (job != m_shownJob || !m_showsStates)
        return;
    m_canvas->scene().setStatus(node, m_jobs.states(job).value(node));
    if (isFinal(m_jobs.states(job).value(node).state))
        showDataReport();
}

void MainWindow::markChangedNode(const QString &id)
{
    NodeStatus status = m_canvas->scene().status(id);
    if (!isFinal(status.state) || status.changedSinceRun)
        return;
    status.changedSinceRun = true;
    m_canvas->scene().setStatus(id, status);
}

void MainWindow::showJobState(const QString &job, JobState state)
{
    m_jobList->updateState(job, state);
    updateRunActions();
    if (!isFinal(state))
        return;
    m_jobList->refresh();
    if (job == m_shownJob)
        m_outputs->refresh();
    // The queue says that it is idle just after its last event.
    QTimer::singleShot(100, this, [this] {
        updateRunActions();
        if (m_closing && m_jobs.isIdle())
            close();
    });
}

void MainWindow::updateRunActions()
{
    const bool running = !m_jobs.isIdle();
    m_actions->action(QStringLiteral("run.keep"))->setEnabled(m_jobs.isTraining());
    m_actions->action(QStringLiteral("run.cancel"))->setEnabled(running);
    m_actions->action(QStringLiteral("run.upTo"))->setEnabled(!m_canvas->scene().selectedNodes().isEmpty());
    m_actions->action(QStringLiteral("run.export"))->setEnabled(!m_shownJob.isEmpty());
}

void MainWindow::exportModel()
{
    auto *watcher = new QFutureWatcher<QList<ExportableModel>>(this);
    connect(watcher, &QFutureWatcher<QList<ExportableModel>>::finished, this, [this, watcher] {
        watcher->deleteLater();
        const QList<ExportableModel> models = watcher->result();
        if (models.isEmpty()) {
            m_canvas->bar().showMessage(InfoBar::Kind::Warning,
                                        tr("The job shown has no finished model to export yet."));
            return;
        }
        const QStringList selected = m_canvas->scene().selectedNodes();
        for (const ExportableModel &model : models) {
            if (models.size() == 1 || selected.contains(model.node))
                return exportFrom(model.folder, m_session.displayName());
        }
        QList<FilterEntry> entries;
        for (const ExportableModel &model : models)
            entries.append({model.node,
                            displayPath(model.folder.filename()),
                            {},
                            QString::fromStdString(model.folder.string()),
                            true});
        auto *popup = new FilterPopup(tr("Which model?"), entries, this);
        connect(popup, &FilterPopup::chosen, this, [this](const QVariant &folder) {
            exportFrom(fs::path(folder.toString().toStdString()), m_session.displayName());
        });
        popup->openAt(mapToGlobal(QPoint(width() / 2 - 190, 90)));
    });
    watcher->setFuture(QtConcurrent::run(
        [workspace = m_services.workspace, job = m_shownJob] { return exportableModels(*workspace, job); }));
}

void MainWindow::exportFrom(const fs::path &folder, const QString &suggestedName)
{
    if (m_exporter.isBusy())
        return;
    auto *dialog = new QFileDialog(this, tr("Export model directory: name of the new folder"));
    dialog->setObjectName(QStringLiteral("exportDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setFileMode(QFileDialog::AnyFile);
    dialog->setOption(QFileDialog::DontUseNativeDialog);
    dialog->setOption(QFileDialog::DontConfirmOverwrite);
    dialog->setLabelText(QFileDialog::Accept, tr("Export"));
    dialog->selectFile(suggestedName + QStringLiteral("-model"));
    connect(dialog, &QFileDialog::fileSelected, this, [this, folder](const QString &chosen) {
        const bool exists = QFile::exists(chosen);
        if (exists) {
            QMessageBox box(QMessageBox::Question, tr("Replace?"), tr("\"%1\" exists. Replace it?").arg(chosen),
                            QMessageBox::Yes | QMessageBox::No, this);
            box.setTextFormat(Qt::PlainText);
            if (box.exec() != QMessageBox::Yes)
                return;
        }
        m_exporter.start(folder, pathFromBytes(QFile::encodeName(chosen)), exists);
    });
    dialog->open();
}

} // namespace tw

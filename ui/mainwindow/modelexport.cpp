// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow/modelexport.h"

#include "core/base/files.h"

#include <QtConcurrent/QtConcurrentRun>

namespace tw {

QList<ExportableModel> exportableModels(const Workspace &workspace, const QString &job)
{
    QList<ExportableModel> models;
    const Result<JobRecord> record = workspace.job(job);
    if (!record)
        return models;
    std::error_code failed;
    for (const NodeRecord &node : record->nodes) {
        for (const fs::directory_entry &port :
             fs::directory_iterator(workspace.nodeFolder(job, node.id) / "outputs", failed)) {
            if (fs::exists(port.path() / "model.json", failed))
                models.append({node.id, port.path()});
        }
    }
    return models;
}

Result<void> copyModelDirectory(const fs::path &source, const fs::path &destination, bool replace)
{
    std::error_code failed;
    if (!fs::exists(source / "model.json", failed))
        return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "\"%1\" holds no model.json."),
                         {displayPath(source)}, QT_TRANSLATE_NOOP("Error", "Train a model first."));
    AtomicFolder folder(destination, replace);
    TW_TRY(folder.open());
    fs::copy(source, folder.temporary(), fs::copy_options::recursive | fs::copy_options::overwrite_existing, failed);
    if (failed)
        return writeError(destination, failed.value());
    return folder.commit();
}

ModelExporter::ModelExporter(QObject *parent) : QObject(parent)
{
    connect(&m_watcher, &QFutureWatcher<Result<void>>::finished, this, [this] {
        const Result<void> outcome = m_watcher.future().result();
        if (outcome)
            Q_EMIT finished(displayPath(m_destination));
        else
            Q_EMIT failed(outcome.error());
    });
}

ModelExporter::~ModelExporter()
{
    m_watcher.waitForFinished();
}

void ModelExporter::start(const fs::path &source, const fs::path &destination, bool replace)
{
    m_destination = destination;
    m_watcher.setFuture(QtConcurrent::run(copyModelDirectory, source, destination, replace));
}

} // namespace tw

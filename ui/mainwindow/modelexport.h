// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/jobs/workspace.h"

#include <QFutureWatcher>
#include <QObject>

namespace tw {

struct ExportableModel
{
    QString node;
    fs::path folder; ///< holds model.json
};

/// Model directories that a job's nodes have made, in plan order. Reads the disk: worker thread.
QList<ExportableModel> exportableModels(const Workspace &workspace, const QString &job);

/// Copies `source` into `destination` whole or not at all. FailedToWriteOutputsError;
/// InvalidModelDirectoryError when `source` has no model.json. Worker thread.
Result<void> copyModelDirectory(const fs::path &source, const fs::path &destination, bool replace);

/// One copy at a time, off the GUI thread.
class ModelExporter : public QObject
{
    Q_OBJECT
public:
    explicit ModelExporter(QObject *parent = nullptr);
    ~ModelExporter() override;
    bool isBusy() const { return m_watcher.isRunning(); }
    void start(const fs::path &source, const fs::path &destination, bool replace);

Q_SIGNALS:
    void finished(const QString &destination);
    void failed(const tw::Error &error);

private:
    QFutureWatcher<Result<void>> m_watcher;
    fs::path m_destination;
};

} // namespace tw

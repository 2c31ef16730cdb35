// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

#include <QList>
#include <QString>

namespace tw {

struct LogFile
{
    fs::path path;
    QString node;
    QString title; ///< file name without suffix; with the node where that is not unique
    bool operator==(const LogFile &) const = default;
};

/// Any thread. Logs of a job's nodes (of `node` only where it is not empty): 70_driver_log_0, …_1, …,
/// 70_mpi_log, then std_log of every node in the order of `nodes`, which may be incomplete.
QList<LogFile> listLogs(const fs::path &jobFolder, const QString &node);
/// The order that pipeline.json gives the nodes.
QStringList pipelineNodes(const fs::path &jobFolder);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/component/runcontext.h"

#include <map>

namespace tw {

/// A file that only grows. Each append() reaches the system at once, so a program that is killed
/// loses nothing of it. One thread at a time.
class AppendFile
{
public:
    explicit AppendFile(fs::path file) : m_file(std::move(file)) {}
    ~AppendFile();
    AppendFile(const AppendFile &) = delete;
    AppendFile &operator=(const AppendFile &) = delete;
    /// FailedToWriteOutputsError; makes the file at the first call.
    Result<void> append(const QByteArray &bytes);
    Result<void> sync();

private:
    fs::path m_file;
    int m_fd = -1;
};

/// Durable side of one node: metrics.jsonl, logs/std_log.txt, logs/70_driver_log_<rank>.txt.
/// After a failure nothing more is written and every call returns that failure.
class NodeFiles
{
public:
    explicit NodeFiles(fs::path nodeFolder);
    /// "2026-01-31T08:00:00.000Z INFO text"; each line of a text of several lines gets its own.
    Result<void> log(LogLevel level, const QString &line);
    /// The line exactly as it is.
    Result<void> driverLog(int rank, const QString &line);
    Result<void> metric(const MetricPoint &point);
    /// fsync of what was written.
    Result<void> sync();

private:
    Result<void> append(AppendFile &file, const QByteArray &bytes);

    fs::path m_folder;
    AppendFile m_metrics;
    AppendFile m_log;
    std::map<int, AppendFile> m_driverLogs;
    Result<void> m_state;
};

} // namespace tw

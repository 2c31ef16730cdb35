// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/nodefiles.h"

#include "core/base/files.h"
#include "core/base/visibletext.h"

#include <QDateTime>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace tw {

namespace {

const char *levelName(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug:
        return "DEBUG";
    case LogLevel::Info:
        return "INFO";
    case LogLevel::Warning:
        return "WARNING";
    case LogLevel::Error:
        break;
    }
    return "ERROR";
}

} // namespace

AppendFile::~AppendFile()
{
    if (m_fd >= 0)
        ::close(m_fd);
}

Result<void> AppendFile::append(const QByteArray &bytes)
{
    if (m_fd < 0)
        m_fd = ::open(m_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (m_fd < 0)
        return writeError(m_file, errno);
    qsizetype done = 0;
    while (done < bytes.size()) {
        const ssize_t wrote = ::write(m_fd, bytes.constData() + done, static_cast<size_t>(bytes.size() - done));
        if (wrote < 0 && errno != EINTR)
            return writeError(m_file, errno);
        done += wrote > 0 ? wrote : 0;
    }
    return {};
}

Result<void> AppendFile::sync()
{
    // Pipes and devices cannot be synced (EINVAL), and need not be.
    if (m_fd >= 0 && ::fdatasync(m_fd) != 0 && errno != EINVAL && errno != EROFS)
        return writeError(m_file, errno);
    return {};
}

NodeFiles::NodeFiles(fs::path nodeFolder)
    : m_folder(std::move(nodeFolder)), m_metrics(m_folder / "metrics.jsonl"), m_log(m_folder / "logs" / "std_log.txt")
{
}

Result<void> NodeFiles::append(AppendFile &file, const QByteArray &bytes)
{
    if (m_state.ok())
        m_state = file.append(bytes);
    return m_state;
}

Result<void> NodeFiles::log(LogLevel level, const QString &line)
{
    const QByteArray prefix =
        QDateTime::currentDateTimeUtc().toString(Qt::ISODateWithMs).toUtf8() + ' ' + levelName(level) + ' ';
    QByteArray bytes;
    const QList<QByteArray> parts = visibleText(line).toUtf8().split('\n');
    for (const QByteArray &part : parts)
        bytes += prefix + part + '\n';
    return append(m_log, bytes);
}

Result<void> NodeFiles::driverLog(int rank, const QString &line)
{
    auto found = m_driverLogs.find(rank);
    if (found == m_driverLogs.end()) {
        const std::string name = "70_driver_log_" + std::to_string(rank) + ".txt";
        found = m_driverLogs.try_emplace(rank, m_folder / "logs" / name).first;
    }
    return append(found->second, visibleText(line).toUtf8() + '\n');
}

Result<void> NodeFiles::metric(const MetricPoint &point)
{
    return append(m_metrics, point.toJsonLine() + '\n');
}

Result<void> NodeFiles::sync()
{
    TW_TRY(m_state);
    m_state = m_metrics.sync();
    if (m_state.ok())
        m_state = m_log.sync();
    for (auto &rank : m_driverLogs)
        if (m_state.ok())
            m_state = rank.second.sync();
    return m_state;
}

} // namespace tw

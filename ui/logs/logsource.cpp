// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/logs/logsource.h"

#include <QtConcurrent>

#include <algorithm>

namespace tw {

namespace {
constexpr size_t chunkLines = 256;
constexpr qint64 scanBytes = 32 << 20; // a long file shows its beginning before all of it is known
} // namespace

LogSource::LogSource(fs::path file, QObject *parent) : QObject(parent), m_file(std::move(file))
{
    connect(&m_scanner, &QFutureWatcherBase::finished, this, &LogSource::takeGrowth);
}

LogSource::~LogSource() = default;

void LogSource::poll()
{
    if (m_scanner.isRunning()) {
        m_pollAgain = true;
        return;
    }
    m_scanner.setFuture(QtConcurrent::run(scanLog, m_file, positionOf(m_index), scanBytes));
}

void LogSource::takeGrowth()
{
    const LogGrowth growth = m_scanner.result();
    const bool changed =
        growth.restarted || growth.added.end != m_index.end || !m_looked || growth.missing != m_missing;
    m_looked = true;
    m_missing = growth.missing;
    if (growth.restarted) {
        m_chunks.clear();
        m_stale.clear();
    } else if (!m_index.starts.empty()) {
        m_stale.insert(qsizetype((m_index.size() - 1) / chunkLines)); // its last line, or those after it
    }
    appendGrowth(m_index, growth);
    if (changed)
        Q_EMIT grown(growth.restarted);
    if (growth.moreToRead || std::exchange(m_pollAgain, false))
        poll();
}

std::optional<QString> LogSource::line(size_t number)
{
    if (number >= m_index.size())
        return std::nullopt;
    const qsizetype chunk = qsizetype(number / chunkLines);
    const QStringList *lines = m_chunks.object(chunk);
    if (!lines || m_stale.contains(chunk))
        request(chunk);
    const qsizetype at = qsizetype(number % chunkLines);
    return lines && at < lines->size() ? std::optional(lines->at(at)) : std::nullopt;
}

void LogSource::request(qsizetype chunk)
{
    if (m_requested.contains(chunk))
        return;
    m_requested.insert(chunk);
    m_stale.remove(chunk);
    const size_t first = size_t(chunk) * chunkLines;
    const size_t last = std::min(first + chunkLines, m_index.size()) - 1;
    auto *watcher = new QFutureWatcher<QStringList>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, chunk] {
        m_requested.remove(chunk);
        m_chunks.insert(chunk, new QStringList(watcher->result()));
        watcher->deleteLater();
        Q_EMIT linesRead();
    });
    watcher->setFuture(QtConcurrent::run(readLines, m_file, m_index.starts[first], m_index.endOf(last)));
}

} // namespace tw

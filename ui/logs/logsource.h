// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/logs/logindex.h"

#include <QCache>
#include <QFutureWatcher>
#include <QObject>
#include <QSet>

#include <optional>

namespace tw {

/// A growing text file by lines. The file is the truth; poll() asks a worker for what it grew, and
/// texts are read by workers in stretches of 256 lines. GUI thread.
class LogSource : public QObject
{
    Q_OBJECT
public:
    explicit LogSource(fs::path file, QObject *parent = nullptr);
    ~LogSource() override;

    const fs::path &file() const { return m_file; }
    /// Looks at the file again; while a look is under way, once more after it.
    void poll();
    size_t size() const { return m_index.size(); }
    const LogIndex &index() const { return m_index; }
    bool isMissing() const { return m_missing; }
    bool hasLooked() const { return m_looked; }
    /// Nothing while a worker reads it; linesRead() follows.
    std::optional<QString> line(size_t number);

Q_SIGNALS:
    void grown(bool restarted);
    void linesRead();

private:
    void takeGrowth();
    void request(qsizetype chunk);

    fs::path m_file;
    LogIndex m_index;
    QFutureWatcher<LogGrowth> m_scanner;
    QCache<qsizetype, QStringList> m_chunks{96};
    QSet<qsizetype> m_requested, m_stale;
    bool m_pollAgain = false, m_missing = false, m_looked = false;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobevent.h"

#include <QHash>
#include <QList>

#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace tw {

/// Bounded, coalescing queue between a running job and its views (rules in jobqueue.h). Any thread.
class EventBuffer
{
public:
    explicit EventBuffer(size_t maxLines = 20000, size_t maxPoints = 20000);
    /// True for the first event since take(): the reader must be told.
    bool push(JobEvent event);
    /// Everything that waits, in the order of push().
    QList<JobEvent> take();
    /// Log lines and points that were left out so far.
    qint64 dropped() const;

private:
    using Entry = std::pair<quint64, JobEvent>;
    void thinPoints();

    const size_t m_maxLines;
    const size_t m_maxPoints;
    mutable std::mutex m_mutex;
    quint64 m_next = 0;
    qint64 m_dropped = 0;
    bool m_told = false;
    std::deque<Entry> m_kept;
    std::deque<Entry> m_lines;
    std::deque<Entry> m_points;
    std::map<std::pair<QString, QString>, Entry> m_progress; ///< latest by job and node
};

} // namespace tw

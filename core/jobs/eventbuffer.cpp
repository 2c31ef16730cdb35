// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/eventbuffer.h"

#include <algorithm>
#include <tuple>

namespace tw {

namespace {

using PointKey = std::tuple<QString, QString, QString, int>;

PointKey keyOf(const JobEvent &event)
{
    const MetricPoint &point = std::get<MetricEvent>(event.body).point;
    return {event.job, point.node, point.series, point.rank};
}

} // namespace

EventBuffer::EventBuffer(size_t maxLines, size_t maxPoints) : m_maxLines(maxLines), m_maxPoints(maxPoints) {}

bool EventBuffer::push(JobEvent event)
{
    const std::lock_guard guard(m_mutex);
    Entry entry{m_next++, std::move(event)};
    const JobEventBody &body = entry.second.body;
    if (const auto *progress = std::get_if<ProgressEvent>(&body)) {
        const std::pair key(entry.second.job, progress->node);
        m_progress.insert_or_assign(key, std::move(entry));
    } else if (std::holds_alternative<LogEvent>(body)) {
        m_lines.push_back(std::move(entry));
        if (m_lines.size() > m_maxLines) {
            m_lines.pop_front();
            ++m_dropped;
        }
    } else if (std::holds_alternative<MetricEvent>(body)) {
        m_points.push_back(std::move(entry));
        if (m_points.size() > m_maxPoints)
            thinPoints();
    } else {
        m_kept.push_back(std::move(entry));
    }
    return !std::exchange(m_told, true);
}

/// Drops every second point of the long series, never the last one of a series, so that a series
/// of one point an epoch survives beside one of a point a step.
void EventBuffer::thinPoints()
{
    std::map<PointKey, size_t> left;
    for (const Entry &entry : m_points)
        ++left[keyOf(entry.second)];
    const size_t longSeries = std::max<size_t>(2, m_points.size() / (2 * left.size()));
    std::map<PointKey, bool> isLong;
    for (const auto &[key, count] : left)
        isLong[key] = count > longSeries;
    const size_t before = m_points.size();
    std::deque<Entry> kept;
    for (Entry &entry : m_points) {
        const PointKey key = keyOf(entry.second);
        const size_t behind = --left[key];
        if (!isLong[key] || behind % 2 == 0)
            kept.push_back(std::move(entry));
    }
    m_points.swap(kept);
    while (m_points.size() > m_maxPoints)
        m_points.pop_front();
    m_dropped += static_cast<qint64>(before - m_points.size());
}

QList<JobEvent> EventBuffer::take()
{
    std::deque<Entry> all;
    {
        const std::lock_guard guard(m_mutex);
        m_told = false;
        all.swap(m_kept);
        for (auto *part : {&m_lines, &m_points}) {
            std::move(part->begin(), part->end(), std::back_inserter(all));
            part->clear();
        }
        for (auto &progress : m_progress)
            all.push_back(std::move(progress.second));
        m_progress.clear();
    }
    std::sort(all.begin(), all.end(), [](const Entry &a, const Entry &b) { return a.first < b.first; });
    QList<JobEvent> events;
    events.reserve(static_cast<qsizetype>(all.size()));
    for (Entry &entry : all)
        events.append(std::move(entry.second));
    return events;
}

qint64 EventBuffer::dropped() const
{
    const std::lock_guard guard(m_mutex);
    return m_dropped;
}

} // namespace tw

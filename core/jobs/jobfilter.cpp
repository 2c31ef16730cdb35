// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/jobfilter.h"

#include <algorithm>

namespace tw {

static bool holds(const JobRecord &job, const QString &word)
{
    const auto in = [&](const QString &text) { return text.contains(word, Qt::CaseInsensitive); };
    if (in(job.id) || in(job.name) || in(job.description))
        return true;
    for (auto tag = job.tags.begin(); tag != job.tags.end(); ++tag)
        if (in(tag.key() + u'=' + tag.value()))
            return true;
    return false;
}

bool matches(const JobRecord &job, const JobFilter &filter)
{
    if (!filter.experiment.isEmpty() && job.experiment != filter.experiment)
        return false;
    if (!filter.states.isEmpty() && !filter.states.contains(job.state))
        return false;
    const QStringList words = filter.search.split(u' ', Qt::SkipEmptyParts);
    return std::all_of(words.begin(), words.end(), [&](const QString &word) { return holds(job, word); });
}

QStringList jobStateIds()
{
    QStringList ids;
    for (int state = int(JobState::NotStarted); state <= int(JobState::Interrupted); ++state)
        ids.append(jobStateId(JobState(state)));
    return ids;
}

std::optional<JobState> jobStateFromText(const QString &text)
{
    const QStringList ids = jobStateIds();
    const auto found = std::find_if(ids.begin(), ids.end(),
                                    [&](const QString &id) { return id.compare(text, Qt::CaseInsensitive) == 0; });
    return found == ids.end() ? std::nullopt : std::optional(jobStateFromId(*found));
}

} // namespace tw

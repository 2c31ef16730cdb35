// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/workspace.h"

namespace tw {

/// Which jobs to list; empty members let every job pass.
struct JobFilter
{
    QString experiment;     ///< the whole name
    QString search;         ///< words, each in the id, the name, the description or a tag, in any case
    QList<JobState> states; ///< any of them
};

bool matches(const JobRecord &job, const JobFilter &filter);
/// "Running", in any case; nothing for other words.
std::optional<JobState> jobStateFromText(const QString &text);
/// Every state's id, in the order of JobState.
QStringList jobStateIds();

} // namespace tw

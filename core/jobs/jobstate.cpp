// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/jobstate.h"

#include <array>
#include <utility>

namespace tw {

constexpr std::array jobStateNames{
    std::pair{JobState::NotStarted, "NotStarted"},
    std::pair{JobState::Queued, "Queued"},
    std::pair{JobState::Preparing, "Preparing"},
    std::pair{JobState::Running, "Running"},
    std::pair{JobState::Paused, "Paused"},
    std::pair{JobState::Finalizing, "Finalizing"},
    std::pair{JobState::Completed, "Completed"},
    std::pair{JobState::Failed, "Failed"},
    std::pair{JobState::CancelRequested, "CancelRequested"},
    std::pair{JobState::Canceled, "Canceled"},
    std::pair{JobState::Interrupted, "Interrupted"},
};

constexpr std::array nodeStateNames{
    std::pair{NodeState::NotStarted, "NotStarted"},
    std::pair{NodeState::Queued, "Queued"},
    std::pair{NodeState::Running, "Running"},
    std::pair{NodeState::Paused, "Paused"},
    std::pair{NodeState::CancelRequested, "CancelRequested"},
    std::pair{NodeState::Completed, "Completed"},
    std::pair{NodeState::Failed, "Failed"},
    std::pair{NodeState::Canceled, "Canceled"},
    std::pair{NodeState::Interrupted, "Interrupted"},
    std::pair{NodeState::Reused, "Reused"},
    std::pair{NodeState::Skipped, "Skipped"},
};

template <typename Names, typename State> static QString idOf(const Names &names, State state)
{
    for (const auto &[value, name] : names)
        if (value == state)
            return QString::fromLatin1(name);
    return {};
}

template <typename State, typename Names> static State stateOf(const Names &names, const QString &id)
{
    for (const auto &[value, name] : names)
        if (id == QLatin1String(name))
            return value;
    return State::NotStarted;
}

QString jobStateId(JobState state)
{
    return idOf(jobStateNames, state);
}

JobState jobStateFromId(const QString &id)
{
    return stateOf<JobState>(jobStateNames, id);
}

bool isFinal(JobState state)
{
    return state == JobState::Completed || state == JobState::Failed || state == JobState::Canceled
           || state == JobState::Interrupted;
}

QString nodeStateId(NodeState state)
{
    return idOf(nodeStateNames, state);
}

NodeState nodeStateFromId(const QString &id)
{
    return stateOf<NodeState>(nodeStateNames, id);
}

bool isFinal(NodeState state)
{
    switch (state) {
    case NodeState::Completed:
    case NodeState::Failed:
    case NodeState::Canceled:
    case NodeState::Interrupted:
    case NodeState::Reused:
    case NodeState::Skipped:
        return true;
    default:
        return false;
    }
}

} // namespace tw

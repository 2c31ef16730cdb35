// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace tw {

enum class JobState {
    NotStarted,
    Queued,
    Preparing,
    Running,
    Paused,
    Finalizing,
    Completed,
    Failed,
    CancelRequested,
    Canceled,
    Interrupted
};

/// Reused: taken from an earlier job. Skipped: an input failed.
enum class NodeState {
    NotStarted,
    Queued,
    Running,
    Paused,
    CancelRequested,
    Completed,
    Failed,
    Canceled,
    Interrupted,
    Reused,
    Skipped
};

QString jobStateId(JobState state); ///< "Running": stored and printed, never translated
JobState jobStateFromId(const QString &id);
bool isFinal(JobState state);
QString nodeStateId(NodeState state);
NodeState nodeStateFromId(const QString &id);
bool isFinal(NodeState state);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/jobs/jobstate.h"

#include <QList>
#include <QString>

#include <optional>

namespace tw {

/// What the canvas shows on a node besides the pipeline itself.
struct NodeStatus
{
    NodeState state = NodeState::NotStarted;
    double progress = -1; ///< [0, 1]; negative: unknown
    QString progressText; ///< sub-line while it runs
    QString result;       ///< line after or during the run ("best top-1 91.2 %")
    QString stopped;      ///< reason when it ended early
    std::optional<Error> runError;
    bool changedSinceRun = false; ///< edited after its state was reached
};

} // namespace tw

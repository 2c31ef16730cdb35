// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/pipeline/pipeline.h"

#include <QVariantMap>

namespace tw::test {

/// Data sets, archives and weights below `folder`, sound ones ("good", "more") and each other one
/// with the fault that its name says. Pictures are of 8 × 8 pixels but in "large" and "sizes".
void writeFaultyData(const fs::path &folder);

/// The whole chain from two data sets ("data": good, "valdata": more) to "evaluate", changed:
/// "node.parameter" → value (text for a path is a name below `folder`), "node" → component that
/// takes its place, ">node.port" → "node.port" of the wire that arrives there, or "" for none.
Pipeline faultyPipeline(const fs::path &folder, const QVariantMap &changes);

} // namespace tw::test

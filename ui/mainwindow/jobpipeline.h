// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/pipeline/pipeline.h"

namespace tw {

/// Whether what a job ran and what is open are one pipeline, perhaps edited in between: the same
/// name, and nodes of the same id are of the same component. Without a name all ids must agree.
bool isSamePipeline(const Pipeline &ran, const Pipeline &open);

/// Nodes of the open pipeline that are not as the job ran them: parameters, component or wires in.
/// An empty automatic value equals whatever was drawn for it.
QSet<QString> nodesChangedSince(const Pipeline &ran, const Pipeline &open, const ComponentRegistry &registry);

} // namespace tw

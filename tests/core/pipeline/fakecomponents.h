// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/pipeline/pipeline.h"

namespace tw::test {

/// source → convert → split → apply → train → score → evaluate, with `transform` and `model`
/// beside them. `train` is at version 2 with a migration from 1 ("lr" became learning_rate,
/// the default of epochs was 10) and a check of its own (warmup ≤ epochs).
const ComponentRegistry &fakeComponents();
PipelineNode node(const char *id, const char *component, const ParameterValues &parameters = {});
PipelineConnection wire(const char *from, const char *to);
ParameterValues values(std::initializer_list<std::pair<const char *, QVariant>> pairs);
/// A whole pipeline without faults: source1 convert1 split1 transform1 apply1 model1 train1 score1 evaluate1.
Pipeline wholePipeline();

} // namespace tw::test

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"
#include "core/data/cacheplan.h"

namespace tw {

/// `cache` and `cache_detail` of Train PyTorch Model: their declaration, their values, and what is known of them
/// before a training.
void addCacheParameters(ComponentType &type);
CacheMode cacheModeOf(const ParameterValues &values);
CacheDetail cacheDetailOf(const ParameterValues &values);

/// The operations that preflight knows of a port; none where they are not known.
std::optional<TransformList> attachedOperations(const PortFacts &facts);
/// Notes for the panel: the size that the cache of the pictures at `training_dataset` and
/// `validation_dataset` needs, and what to expect of a compact one. A warning when it will not hold
/// all of them. Reads headers of some pictures.
void describeCache(const PreflightRequest &request, PreflightReply &reply);

} // namespace tw

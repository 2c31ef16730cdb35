// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/pipeline/pipeline.h"

namespace tw {

/// Pure; called at every edit. All faults at once, each on its node (and parameter): unknown
/// components, ids (form, duplicates), parameter kinds, ranges and required values, missing required
/// inputs, two wires into one input, port types, unknown ports, cycles, an empty pipeline.
QList<Error> validate(const Pipeline &pipeline, const ComponentRegistry &registry);

/// Why a wire from `from` to `to` is refused, or nothing. Also refuses cycles and unknown ports;
/// an input that is already wired is not a reason (the new wire replaces the old one).
std::optional<Error> connectionFault(const Pipeline &pipeline, const PortAddress &from, const PortAddress &to,
                                     const ComponentRegistry &registry);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"

namespace tw {

/// For preflight: says that a run will leave this output empty, and why. The checks turn `reason` into an
/// error of the node where something is connected to the output.
void leaveEmpty(PortFacts &facts, const Error &reason);
/// The reason, where the output will be empty.
std::optional<Error> emptyReason(const PortFacts &facts);

} // namespace tw

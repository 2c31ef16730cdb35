// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace tw {

/// Registers resources/resources.qrc, which a static library does not do by itself. Cheap, any number of times.
void initResources();

} // namespace tw

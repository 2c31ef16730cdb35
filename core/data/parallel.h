// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"

#include <cstdint>
#include <functional>

namespace tw {

/// Calls work(index, worker) once for every index below `count`, on `workers` threads (at least
/// one; `worker` counts from 0). `work` must not throw. `progress` is called on the caller's
/// thread, about every 50 ms and at the end. Returns false when `stop` was set before the end.
bool parallelFor(std::size_t count, int workers, const StopToken *stop,
                 const std::function<void(std::size_t index, std::size_t worker)> &work,
                 const std::function<void(std::int64_t done, std::int64_t total)> &progress = {});

} // namespace tw

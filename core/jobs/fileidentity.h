// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/component/runcontext.h"

namespace tw {

/// Hash over the sorted names, sizes, times of change (mtime and ctime) and inodes of the file or of
/// all files below the folder; links are followed, loops end. The two last tell a file that was
/// swapped for another of the same size and time, which nobody can set back. Empty when it cannot be
/// told (nothing there, not readable) or `stop` was set meanwhile. Any thread.
QByteArray fileIdentity(const fs::path &path, const StopToken *stop = nullptr);

} // namespace tw

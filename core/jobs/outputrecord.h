// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <QStringList>

namespace tw {

/// What the output folders of a node held when it was completed: nodes/<node>/outputs.json
/// {format, version, ports: {port: {files, bytes, digest, list}}}. The digest covers names, sizes and
/// mtimes; the list (name → size) is there for up to `listedFiles` files, so that a message can name one.
inline constexpr int listedFiles = 1000;

/// Records `ports` below `nodeFolder`/outputs. FailedToWriteOutputsError.
Result<void> recordOutputs(const fs::path &nodeFolder, const QStringList &ports);

/// Compares with the record; any thread. FailedToWriteOutputsError naming the first file that is
/// missing, new, of another size or written since, or that there is no record.
Result<void> checkOutputs(const fs::path &nodeFolder, const QStringList &ports);

} // namespace tw

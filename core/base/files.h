// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <QByteArray>

namespace tw {

/// Whole file. Errors: `errorName` naming the path and the system's reason.
Result<QByteArray> readFile(const fs::path &file, const char *errorName, qint64 maxBytes = qint64(1) << 40);
/// Temporary sibling, fsync, rename, fsync of the folder: the old file or the new one, never half.
/// A symbolic link stays one and leads to the new bytes. What is no regular file (a device, a pipe) is
/// written and not replaced; a block device is refused.
/// Errors: FailedToWriteOutputsError naming the path and the system's reason.
Result<void> writeFileAtomically(const fs::path &file, const QByteArray &bytes);
Result<void> makeFolder(const fs::path &folder);
/// fsync of a file or folder; best effort for folders.
Result<void> syncPath(const fs::path &path);
/// FailedToWriteOutputsError for `path` with strerror(errno), and a hint for disk full / read-only.
Error writeError(const fs::path &path, int systemErrno);

/// A folder built beside its destination and renamed into place by commit(); removed when not
/// committed. Replaces an existing destination only where `replace` is true.
class AtomicFolder
{
public:
    explicit AtomicFolder(fs::path destination, bool replace = false);
    ~AtomicFolder();
    AtomicFolder(const AtomicFolder &) = delete;
    AtomicFolder &operator=(const AtomicFolder &) = delete;
    /// Makes the temporary sibling ".<name>.part-<random>".
    Result<void> open();
    const fs::path &temporary() const { return m_temporary; }
    /// Syncs every file below, renames, syncs the parent.
    Result<void> commit();

private:
    fs::path m_destination;
    fs::path m_temporary;
    bool m_replace;
    bool m_done = false;
};

} // namespace tw

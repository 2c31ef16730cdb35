// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <utility>

namespace tw {

/// An flock on a file, held until release() or the end of the process, however it ends.
class RunLock
{
public:
    RunLock() = default;
    ~RunLock() { release(); }
    RunLock(RunLock &&other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
    RunLock &operator=(RunLock &&other) noexcept
    {
        std::swap(m_fd, other.m_fd);
        return *this;
    }

    /// Makes the file where needed. InvalidWorkspaceError when someone else holds the lock,
    /// FailedToWriteOutputsError when the file cannot be made.
    static Result<RunLock> acquire(const fs::path &file);
    /// A missing file is not held.
    static bool isHeld(const fs::path &file);
    void release();

private:
    int m_fd = -1;
};

} // namespace tw

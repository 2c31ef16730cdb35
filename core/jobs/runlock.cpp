// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/runlock.h"

#include "core/base/files.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace tw {

Result<RunLock> RunLock::acquire(const fs::path &file)
{
    RunLock lock;
    lock.m_fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock.m_fd < 0)
        return writeError(file, errno);
    // isHeld() of another program takes the lock for a moment, so one refusal proves nothing.
    constexpr int tries = 50;
    for (int i = 0; i < tries; ++i) {
        if (::flock(lock.m_fd, LOCK_EX | LOCK_NB) == 0)
            return lock;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return writeError(file, errno);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return makeError(errors::InvalidWorkspace, QT_TRANSLATE_NOOP("Error", "Another program holds the lock %1."),
                     {displayPath(file)},
                     QT_TRANSLATE_NOOP("Error", "Wait until the job has ended there, or cancel it there."));
}

bool RunLock::isHeld(const fs::path &file)
{
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool held = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(fd);
    return held;
}

void RunLock::release()
{
    if (m_fd >= 0)
        ::close(m_fd);
    m_fd = -1;
}

} // namespace tw

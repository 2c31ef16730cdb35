// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/startup.h"

#include <climits>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <malloc.h>
#include <string>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define TW_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TW_ADDRESS_SANITIZER 1
#endif
#endif

namespace tw {

static constexpr char waitPolicy[] = "OMP_WAIT_POLICY";
static constexpr char secondStartMarker[] = "TRAINWRIGHT_SECOND_START";

static std::string ownProgram()
{
    std::string path(PATH_MAX, '\0');
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
    path.resize(length > 0 ? static_cast<size_t>(length) : 0);
    // A replaced program file reads as "… (deleted)"; the link itself still opens.
    return ::access(path.c_str(), X_OK) == 0 ? path : std::string("/proc/self/exe");
}

/// A closed standard output would be the number of the next file that is opened, the store for example,
/// and what is printed would go there. The place taken refuses to be written (or read).
static void holdStandardDescriptors()
{
    for (int descriptor = 0; descriptor <= 2; ++descriptor)
        if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
}

void prepareProcess(char **argv)
{
    holdStandardDescriptors();
    configureAllocator();
    if (std::getenv(secondStartMarker) != nullptr) {
        ::unsetenv(secondStartMarker); // children inherit OMP_WAIT_POLICY and need no mark
        return;
    }
    if (std::getenv(waitPolicy) != nullptr)
        return;
    ::setenv(waitPolicy, "passive", 1);
    ::setenv(secondStartMarker, "1", 1);
    ::execv(ownProgram().c_str(), argv);
    ::unsetenv(secondStartMarker); // could not start again: go on without the setting
}

void configureAllocator()
{
#if !defined(TW_ADDRESS_SANITIZER)
    ::mallopt(M_MMAP_MAX, 0);
    ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
    ::mallopt(M_TOP_PAD, 64 << 20);
    ::mallopt(M_ARENA_MAX, 1);
#endif
}

void returnFreeMemory()
{
#if !defined(TW_ADDRESS_SANITIZER)
    ::malloc_trim(0);
#endif
}

void leaveProcess(int code)
{
#if defined(TW_ADDRESS_SANITIZER)
    std::exit(code);
#else
    std::fflush(nullptr);
    ::_exit(code);
#endif
}

void useCNumbers()
{
    std::setlocale(LC_NUMERIC, "C");
}

} // namespace tw

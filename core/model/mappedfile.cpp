// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/mappedfile.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

namespace {

/// What is mapped, for the handler of SIGBUS, which may neither lock nor allocate. Files beyond these are not
/// guarded.
struct Range
{
    std::atomic<std::uintptr_t> begin = 0;
    std::atomic<std::size_t> bytes = 0;
};
std::array<Range, 256> ranges;
std::atomic<unsigned> lostParts = 0;
std::uintptr_t pageBytes = 4096;
struct sigaction earlierAction;

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

/// A page of zeros in place of one that the file lost; any other fault goes to who was asked before.
void onBusError(int signal, siginfo_t *info, void *context)
{
    const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    for (const Range &range : ranges) {
        const std::uintptr_t begin = range.begin;
        if (begin == 0 || at < begin || at - begin >= range.bytes)
            continue;
        const int code = errno;
        void *page = reinterpret_cast<void *>(at / pageBytes * pageBytes);
        if (::mmap(page, pageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
            break;
        ++lostParts;
        errno = code;
        return;
    }
    if (earlierAction.sa_flags & SA_SIGINFO)
        earlierAction.sa_sigaction(signal, info, context);
    else
        ::sigaction(SIGBUS, &earlierAction, nullptr); // the fault comes again
}

void guard(const std::byte *data, std::size_t size)
{
    static std::once_flag once;
    std::call_once(once, [] {
        pageBytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        struct sigaction action = {};
        action.sa_sigaction = onBusError;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        ::sigaction(SIGBUS, &action, &earlierAction);
    });
    for (Range &range : ranges) {
        std::uintptr_t none = 0;
        if (range.bytes == 0 && range.begin.compare_exchange_strong(none, reinterpret_cast<std::uintptr_t>(data))) {
            range.bytes = size;
            return;
        }
    }
}

void unguard(const std::byte *data)
{
    for (Range &range : ranges) {
        if (range.begin == reinterpret_cast<std::uintptr_t>(data)) {
            range.bytes = 0;
            range.begin = 0;
            return;
        }
    }
}

} // namespace

static Error openError(const fs::path &file, int systemErrno)
{
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "The weights file %1 cannot be read: %2."),
                     {displayPath(file), QString::fromLocal8Bit(std::strerror(systemErrno))},
                     QT_TRANSLATE_NOOP("Error", "Check that the file exists and that you may read it."));
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const fs::path &file)
{
    // A pipe with no writer would wait for one; below it is refused.
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return openError(file, errno);
    struct stat status = {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        const int reason = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        ::close(fd);
        return openError(file, reason);
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    void *data = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    const int mapErrno = errno;
    ::close(fd);
    if (data == MAP_FAILED)
        return openError(file, mapErrno);
    return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte *>(data), size));
}

void MappedFile::release(std::span<const std::byte> piece)
{
    if (piece.empty())
        return;
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<std::uintptr_t>(piece.data());
    const std::uintptr_t begin = first / page * page, end = (first + piece.size() + page - 1) / page * page;
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED); // only a hint: a failure changes nothing
}

MappedFile::MappedFile(const std::byte *data, std::size_t size) : m_data(data), m_size(size)
{
    if (m_data)
        guard(m_data, m_size);
}

unsigned MappedFile::lost()
{
    return lostParts;
}

Result<void> MappedFile::checkNothingLost(unsigned before, const QString &what)
{
    if (lost() == before)
        return {};
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "%1 was cut short by another program while it was read."), {what},
                     QT_TRANSLATE_NOOP("Error", "Try again when the other program has saved it."));
}

MappedFile::~MappedFile()
{
    if (!m_data)
        return;
    unguard(m_data);
    ::munmap(const_cast<std::byte *>(m_data), m_size);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/mappedfile.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

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

MappedFile::~MappedFile()
{
    if (m_data)
        ::munmap(const_cast<std::byte *>(m_data), m_size);
}

} // namespace tw

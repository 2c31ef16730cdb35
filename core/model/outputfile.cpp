// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/outputfile.h"

#include "core/base/files.h"

#include <QRandomGenerator>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace tw {

OutputFile::OutputFile(fs::path destination) : m_destination(std::move(destination)) {}

OutputFile::~OutputFile()
{
    if (m_fd >= 0)
        ::close(m_fd);
    if (!m_temporary.empty())
        ::unlink(m_temporary.c_str());
}

Result<void> OutputFile::open()
{
    const std::string prefix = "." + m_destination.filename().native() + ".part-";
    for (int attempt = 0; attempt < 100; ++attempt) {
        const quint32 number = QRandomGenerator::global()->generate();
        const fs::path name = m_destination.parent_path() / (prefix + std::to_string(number));
        m_fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (m_fd >= 0) {
            m_temporary = name;
            return {};
        }
        if (errno != EEXIST)
            break;
    }
    return writeError(m_destination, errno);
}

Result<void> OutputFile::write(const void *data, std::size_t bytes)
{
    constexpr std::size_t largestWrite = std::size_t(1) << 26;
    const char *from = static_cast<const char *>(data);
    while (bytes > 0) {
        const ssize_t written = ::write(m_fd, from, std::min(bytes, largestWrite));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return writeError(m_destination, written < 0 ? errno : EIO);
        from += written;
        bytes -= static_cast<std::size_t>(written);
        m_position += static_cast<std::uint64_t>(written);
    }
    return {};
}

Result<void> OutputFile::commit()
{
    if (::fsync(m_fd) != 0)
        return writeError(m_destination, errno);
    const int closed = ::close(m_fd);
    m_fd = -1;
    if (closed != 0)
        return writeError(m_destination, errno);
    if (::rename(m_temporary.c_str(), m_destination.c_str()) != 0)
        return writeError(m_destination, errno);
    m_temporary.clear();
    return {};
}

} // namespace tw

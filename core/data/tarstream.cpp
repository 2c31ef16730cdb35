// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/archiveformats.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

namespace {

class PlainStream final : public TarStream
{
public:
    PlainStream(FileDescriptor descriptor, std::uint64_t length) : m_descriptor(std::move(descriptor)), m_length(length)
    {
    }
    bool read(std::uint8_t *to, std::size_t count, std::size_t &got, QString &problem) override
    {
        const std::int64_t bytes = readAt(m_descriptor.get(), m_position, to, count);
        if (bytes < 0) {
            problem = QString::fromLocal8Bit(std::strerror(errno));
            return false;
        }
        got = std::size_t(bytes);
        m_position += got;
        return true;
    }
    bool skip(std::uint64_t count, QString &) override
    {
        if (count > m_length - std::min(m_position, m_length))
            return false;
        m_position += count;
        return true;
    }

private:
    FileDescriptor m_descriptor;
    std::uint64_t m_length, m_position = 0;
};

/// gzip, bzip2, xz and zstd through libarchive; its filters that start other programs stay off.
class PackedStream final : public TarStream
{
public:
    PackedStream() : m_archive(archive_read_new(), archive_read_free) {}
    QString open(FileDescriptor descriptor)
    {
        m_descriptor = std::move(descriptor);
        archive_read_support_filter_gzip(m_archive.get());
        archive_read_support_filter_bzip2(m_archive.get());
        archive_read_support_filter_xz(m_archive.get());
        archive_read_support_filter_zstd(m_archive.get());
        archive_read_support_format_raw(m_archive.get());
        archive_entry *entry = nullptr;
        if (archive_read_open_fd(m_archive.get(), m_descriptor.get(), std::size_t(1) << 18) != ARCHIVE_OK
            || archive_read_next_header(m_archive.get(), &entry) != ARCHIVE_OK)
            return isEmpty() ? QStringLiteral("it is empty") : reason();
        if (archive_filter_count(m_archive.get()) < 2)
            return QStringLiteral("it is not compressed as its name says");
        return {};
    }
    bool read(std::uint8_t *to, std::size_t count, std::size_t &got, QString &problem) override
    {
        for (got = 0; got < count;) {
            const la_ssize_t bytes = archive_read_data(m_archive.get(), to + got, count - got);
            if (bytes < 0) {
                problem = reason();
                return false;
            }
            if (bytes == 0)
                break;
            got += std::size_t(bytes);
        }
        return true;
    }
    bool skip(std::uint64_t count, QString &problem) override
    {
        std::array<std::uint8_t, 1 << 16> waste;
        while (count > 0) {
            std::size_t got = 0;
            const auto piece = std::size_t(std::min<std::uint64_t>(count, waste.size()));
            if (!read(waste.data(), piece, got, problem) || got < piece)
                return false;
            count -= got;
        }
        return true;
    }

private:
    bool isEmpty() const
    {
        struct stat status = {};
        return ::fstat(m_descriptor.get(), &status) == 0 && status.st_size == 0;
    }
    /// The library's words are for programmers; they tell these cases apart.
    QString reason() const
    {
        const char *text = archive_error_string(m_archive.get());
        const QString words = QString::fromLocal8Bit(text ? text : "").toLower();
        if (archive_errno(m_archive.get()) == ENOMEM || words.contains(QLatin1String("memory")))
            return QStringLiteral("unpacking it needs more memory than there is");
        if (words.contains(QLatin1String("truncated")) || words.contains(QLatin1String("premature")))
            return QStringLiteral("it is cut short");
        return QStringLiteral("its compressed bytes are damaged");
    }
    FileDescriptor m_descriptor;
    std::unique_ptr<archive, int (*)(archive *)> m_archive;
};

} // namespace

FileDescriptor::~FileDescriptor()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

FileDescriptor &FileDescriptor::operator=(FileDescriptor &&other) noexcept
{
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
}

Result<FileDescriptor> openArchiveDescriptor(const fs::path &file)
{
    FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status = {};
    if (!descriptor.isOpen() || ::fstat(descriptor.get(), &status) != 0)
        return archiveError(file, QString::fromLocal8Bit(std::strerror(errno)));
    if (!S_ISREG(status.st_mode))
        return archiveError(file, QStringLiteral("it is no regular file"));
    return descriptor;
}

std::int64_t readAt(int descriptor, std::uint64_t offset, std::uint8_t *to, std::size_t count)
{
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got = ::pread(descriptor, to + done, count - done, off_t(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += std::size_t(got);
    }
    return std::int64_t(done);
}

Result<std::unique_ptr<TarStream>> openTarStream(const fs::path &file, bool packed)
{
    TW_ASSIGN(descriptor, openArchiveDescriptor(file));
    if (packed) {
        auto stream = std::make_unique<PackedStream>();
        const QString problem = stream->open(std::move(descriptor));
        if (!problem.isEmpty())
            return archiveError(file, problem);
        return std::unique_ptr<TarStream>(std::move(stream));
    }
    struct stat status = {};
    if (::fstat(descriptor.get(), &status) != 0)
        return archiveError(file, QString::fromLocal8Bit(std::strerror(errno)));
    return std::unique_ptr<TarStream>(
        std::make_unique<PlainStream>(std::move(descriptor), std::uint64_t(status.st_size)));
}

} // namespace tw

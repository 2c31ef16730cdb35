// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"

#include <QRandomGenerator>
#include <QtGlobal>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

namespace {

class Descriptor
{
public:
    explicit Descriptor(int descriptor) : m_descriptor(descriptor) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    int get() const { return m_descriptor; }
    bool isOpen() const { return m_descriptor >= 0; }
    /// False with errno set when the system reports a late write error.
    bool close()
    {
        const int descriptor = std::exchange(m_descriptor, -1);
        return descriptor < 0 || ::close(descriptor) == 0;
    }

private:
    int m_descriptor;
};

QString systemReason(int systemErrno)
{
    return QString::fromLocal8Bit(strerror(systemErrno));
}

Error readError(const fs::path &file, const char *errorName, int systemErrno)
{
    return makeError(errorName, QT_TRANSLATE_NOOP("Error", "Cannot read '%1': %2."),
                     {displayPath(file), systemReason(systemErrno)},
                     QT_TRANSLATE_NOOP("Error", "Check that the file exists and may be read."));
}

Error tooLarge(const fs::path &file, const char *errorName, qint64 maxBytes)
{
    return makeError(errorName, QT_TRANSLATE_NOOP("Error", "'%1' is larger than the %2 bytes allowed."),
                     {displayPath(file), QString::number(maxBytes)},
                     QT_TRANSLATE_NOOP("Error", "This is probably not the file you meant; take another one."));
}

/// ".<name>.part-<random>" beside `destination`; the name is cut so that it stays a legal one.
fs::path temporarySibling(const fs::path &destination, const char *mark)
{
    const std::string name = destination.filename().native().substr(0, 200);
    const QByteArray random = QByteArray::number(QRandomGenerator::system()->generate64(), 36);
    return destination.parent_path() / ("." + name + mark + random.toStdString());
}

bool writeAll(int descriptor, const QByteArray &bytes)
{
    qsizetype done = 0;
    while (done < bytes.size()) {
        const ssize_t wrote = ::write(descriptor, bytes.constData() + done, static_cast<size_t>(bytes.size() - done));
        if (wrote < 0 && errno != EINTR)
            return false;
        done += wrote > 0 ? wrote : 0;
    }
    return true;
}

/// Writes and syncs a new file; errno tells why on false.
bool writeNewFile(const fs::path &file, const QByteArray &bytes, mode_t mode)
{
    Descriptor descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    return descriptor.isOpen() && writeAll(descriptor.get(), bytes) && ::fsync(descriptor.get()) == 0
           && descriptor.close();
}

/// A symbolic link stays one: what it points to is written, whether it exists or not.
fs::path resolvedTarget(const fs::path &file)
{
    constexpr int mostLinks = 40; // as the system follows
    fs::path target = file;
    std::error_code fault;
    for (int i = 0; i < mostLinks && fs::is_symlink(target, fault); ++i) {
        const fs::path next = fs::read_symlink(target, fault);
        if (fault)
            return file;
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return target;
}

/// Devices, pipes and sockets are written, never replaced. Without a reader a pipe refuses at once.
Result<void> writeThrough(const fs::path &file, const QByteArray &bytes)
{
    Descriptor descriptor(::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (descriptor.isOpen())
        ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) & ~O_NONBLOCK);
    if (!descriptor.isOpen() || !writeAll(descriptor.get(), bytes) || !descriptor.close())
        return writeError(file, errno);
    return {};
}

fs::path parentOf(const fs::path &path)
{
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

fs::path withoutTrailingSlash(fs::path path)
{
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error);
    path = (error ? path : absolute).lexically_normal();
    return path.has_filename() ? path : path.parent_path();
}

/// Puts `fresh` at `destination` and removes what was there; errno, or 0.
int takePlace(const fs::path &fresh, const fs::path &destination)
{
    fs::path old = fresh;
    if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, destination.c_str(), RENAME_EXCHANGE) != 0) {
        // Not every file system can exchange; then there is a moment with neither in place.
        old = temporarySibling(destination, ".old-");
        if (::rename(destination.c_str(), old.c_str()) != 0)
            return errno;
        if (::rename(fresh.c_str(), destination.c_str()) != 0) {
            const int systemErrno = errno;
            ::rename(old.c_str(), destination.c_str());
            return systemErrno;
        }
    }
    std::error_code ignored;
    fs::remove_all(old, ignored);
    return 0;
}

Result<void> syncTree(const fs::path &folder)
{
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (it->is_symlink(error))
            continue;
        if (it->is_regular_file(error) || it->is_directory(error))
            TW_TRY(syncPath(it->path()));
    }
    return error ? Result<void>(writeError(folder, error.value())) : Result<void>();
}

} // namespace

Error writeError(const fs::path &path, int systemErrno)
{
    const char *hint = QT_TRANSLATE_NOOP("Error", "Check the destination, or choose another one.");
    if (systemErrno == ENOSPC || systemErrno == EDQUOT)
        hint = QT_TRANSLATE_NOOP("Error", "The disk is full: free some space or choose a folder on another disk.");
    else if (systemErrno == EROFS)
        hint = QT_TRANSLATE_NOOP("Error", "The disk is read-only: choose a folder on another disk.");
    else if (systemErrno == EACCES || systemErrno == EPERM)
        hint = QT_TRANSLATE_NOOP("Error", "You may not write there: change the permissions or choose another folder.");
    else if (systemErrno == EEXIST || systemErrno == ENOTEMPTY)
        hint = QT_TRANSLATE_NOOP("Error", "It exists already: choose another name or remove it first.");
    return makeError(errors::FailedToWriteOutputs, QT_TRANSLATE_NOOP("Error", "Cannot write '%1': %2."),
                     {displayPath(path), systemReason(systemErrno)}, hint);
}

Result<QByteArray> readFile(const fs::path &file, const char *errorName, qint64 maxBytes)
{
    const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status = {};
    if (!descriptor.isOpen() || ::fstat(descriptor.get(), &status) != 0)
        return readError(file, errorName, errno);
    if (S_ISDIR(status.st_mode))
        return readError(file, errorName, EISDIR);
    if (status.st_size > maxBytes)
        return tooLarge(file, errorName, maxBytes);
    // Read to the end rather than to st_size: pipes and files that grow have no true size.
    QByteArray bytes;
    qsizetype used = 0;
    for (qsizetype step = status.st_size + 1;; step = 1 << 20) {
        bytes.resize(used + step);
        const ssize_t got = ::read(descriptor.get(), bytes.data() + used, static_cast<size_t>(step));
        if (got < 0 && errno != EINTR)
            return readError(file, errorName, errno);
        used += got > 0 ? got : 0;
        if (used > maxBytes)
            return tooLarge(file, errorName, maxBytes);
        if (got == 0)
            break;
    }
    bytes.resize(used);
    return bytes;
}

Result<void> writeFileAtomically(const fs::path &file, const QByteArray &bytes)
{
    struct stat status = {};
    const bool replaces = ::stat(file.c_str(), &status) == 0;
    if (replaces && S_ISDIR(status.st_mode))
        return writeError(file, EISDIR);
    if (replaces && S_ISBLK(status.st_mode))
        return writeError(file, ENOTSUP); // a whole disk is never meant
    if (replaces && !S_ISREG(status.st_mode))
        return writeThrough(file, bytes);
    const fs::path target = resolvedTarget(file);
    const fs::path temporary = temporarySibling(target, ".part-");
    bool done = writeNewFile(temporary, bytes, 0666);
    if (done && replaces)
        done = ::chmod(temporary.c_str(), status.st_mode & 07777) == 0;
    if (done)
        done = ::rename(temporary.c_str(), target.c_str()) == 0;
    if (!done) {
        const int systemErrno = errno;
        ::unlink(temporary.c_str());
        return writeError(file, systemErrno);
    }
    return syncPath(parentOf(target));
}

Result<void> makeFolder(const fs::path &folder)
{
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error && !fs::is_directory(folder, error))
        error = std::make_error_code(std::errc::not_a_directory);
    return error ? Result<void>(writeError(folder, error.value())) : Result<void>();
}

Result<void> syncPath(const fs::path &path)
{
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor.isOpen())
        return writeError(path, errno);
    if (::fsync(descriptor.get()) == 0)
        return {};
    const int systemErrno = errno;
    struct stat status = {};
    if (::fstat(descriptor.get(), &status) == 0 && S_ISDIR(status.st_mode))
        return {}; // some file systems cannot sync a folder
    return writeError(path, systemErrno);
}

AtomicFolder::AtomicFolder(fs::path destination, bool replace)
    : m_destination(withoutTrailingSlash(std::move(destination))), m_replace(replace)
{
}

AtomicFolder::~AtomicFolder()
{
    if (m_done || m_temporary.empty())
        return;
    std::error_code ignored;
    fs::remove_all(m_temporary, ignored);
}

Result<void> AtomicFolder::open()
{
    TW_TRY(makeFolder(parentOf(m_destination)));
    m_temporary = temporarySibling(m_destination, ".part-");
    if (::mkdir(m_temporary.c_str(), 0777) != 0)
        return writeError(m_destination, errno);
    return {};
}

Result<void> AtomicFolder::commit()
{
    TW_TRY(syncTree(m_temporary));
    TW_TRY(syncPath(m_temporary));
    if (::rename(m_temporary.c_str(), m_destination.c_str()) != 0) {
        const int systemErrno = errno == ENOTDIR ? EEXIST : errno;
        const bool occupied = systemErrno == ENOTEMPTY || systemErrno == EEXIST;
        if (!occupied || !m_replace)
            return writeError(m_destination, systemErrno);
        if (const int failure = takePlace(m_temporary, m_destination); failure != 0)
            return writeError(m_destination, failure);
    }
    m_done = true;
    return syncPath(parentOf(m_destination));
}

} // namespace tw

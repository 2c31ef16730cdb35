// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"

#include <QCryptographicHash>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace tw {

QByteArray blake2b(const QByteArray &bytes)
{
    return QCryptographicHash::hash(bytes, QCryptographicHash::Blake2b_256).toHex();
}

QByteArray contentKey(QByteArrayView bytes)
{
    QCryptographicHash hash(QCryptographicHash::Blake2b_256);
    hash.addData(bytes);
    return hash.result();
}

static Error readFailure(const fs::path &file, const char *errorName, int systemErrno)
{
    return makeError(errorName, QT_TRANSLATE_NOOP("Error", "Cannot read '%1': %2."),
                     {displayPath(file), QString::fromLocal8Bit(strerror(systemErrno))},
                     QT_TRANSLATE_NOOP("Error", "Check that the file exists and may be read."));
}

Result<QByteArray> sha256OfFile(const fs::path &file, const char *errorName)
{
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return readFailure(file, errorName, errno);
    QCryptographicHash hash(QCryptographicHash::Sha256);
    constexpr size_t blockBytes = 1 << 20;
    const auto block = std::make_unique<char[]>(blockBytes);
    ssize_t got = 0;
    do {
        got = ::read(descriptor, block.get(), blockBytes);
        if (got > 0)
            hash.addData(QByteArrayView(block.get(), got));
    } while (got > 0 || (got < 0 && errno == EINTR));
    const int systemErrno = errno;
    ::close(descriptor);
    if (got < 0)
        return readFailure(file, errorName, systemErrno);
    return hash.result().toHex();
}

} // namespace tw

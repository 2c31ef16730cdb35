// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/downloadfolder.h"

#include "core/base/files.h"
#include "core/base/json.h"

#include <QCoreApplication>
#include <QJsonObject>

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

namespace {

constexpr std::chrono::milliseconds lockPause(50);
constexpr time_t fixedTime = 946'684'800; // 2000-01-01

/// Size, time and inode; empty: nothing is there.
QString stampOf(const fs::path &file)
{
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return {};
    // A changed file whose time was set back, as ours is, shows in the time of the change.
    return QStringLiteral("%1 %2.%3 %4.%5 %6")
        .arg(status.st_size)
        .arg(status.st_mtim.tv_sec)
        .arg(status.st_mtim.tv_nsec)
        .arg(status.st_ctim.tv_sec)
        .arg(status.st_ctim.tv_nsec)
        .arg(status.st_ino);
}

Result<void> writeState(const fs::path &file, const QJsonObject &state)
{
    return writeFileAtomically(file, jsonCompact(state) + '\n');
}

QJsonObject readState(const fs::path &file)
{
    const auto state = readJsonObject(file, errors::InvalidDataset);
    return state.ok() ? *state : QJsonObject();
}

} // namespace

DownloadFolder::DownloadFolder(fs::path folder, std::string fileName)
    : m_folder(std::move(folder)), m_fileName(std::move(fileName))
{
}

DownloadFolder::~DownloadFolder()
{
    if (m_lock < 0)
        return;
    std::error_code ignored; // nothing is left of a file that was refused
    if (!fs::exists(file(), ignored) && !fs::exists(partFile(), ignored)) {
        fs::remove(stampFile(), ignored);
        fs::remove(partStateFile(), ignored);
        fs::remove(lockFile(), ignored);
        fs::remove(m_folder, ignored);
    }
    ::close(m_lock);
}

Result<void> DownloadFolder::hold(const StopToken *stop)
{
    TW_TRY(makeFolder(m_folder));
    const fs::path file = lockFile();
    for (;;) {
        const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (lock < 0 && errno == ENOENT) {
            TW_TRY(makeFolder(m_folder)); // the one who held it left nothing
            continue;
        }
        if (lock < 0)
            return writeError(file, errno);
        struct stat held = {}, named = {};
        if (::flock(lock, LOCK_EX | LOCK_NB) == 0 && ::fstat(lock, &held) == 0 && ::stat(file.c_str(), &named) == 0
            && held.st_ino == named.st_ino) {
            m_lock = lock;
            return {};
        }
        ::close(lock);
        if (stop && stop->cancel.load(std::memory_order_relaxed))
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The download was canceled."));
        std::this_thread::sleep_for(lockPause);
    }
}

bool DownloadFolder::isKnownGood() const
{
    const QString stamp = stampOf(file());
    return !stamp.isEmpty() && readState(stampFile()).value(QLatin1String("stamp")).toString() == stamp;
}

Result<void> DownloadFolder::setKnownGood() const
{
    return writeState(stampFile(), {{"stamp", stampOf(file())}});
}

Result<void> DownloadFolder::takePart() const
{
    const struct timespec times[2] = {{fixedTime, 0}, {fixedTime, 0}};
    if (::utimensat(AT_FDCWD, partFile().c_str(), times, 0) != 0)
        return writeError(partFile(), errno);
    TW_TRY(syncPath(partFile()));
    if (::rename(partFile().c_str(), file().c_str()) != 0)
        return writeError(file(), errno);
    std::error_code ignored;
    fs::remove(partStateFile(), ignored);
    TW_TRY(syncPath(m_folder));
    return setKnownGood();
}

PartialDownload DownloadFolder::partial(const QString &address) const
{
    std::error_code absent;
    const auto bytes = fs::file_size(partFile(), absent);
    if (absent || bytes == 0)
        return {};
    PartialDownload partial;
    partial.bytes = qint64(bytes);
    const QJsonObject state = readState(partStateFile());
    if (state.value(QLatin1String("address")).toString() != address)
        return partial;
    partial.total = state.value(QLatin1String("total")).toInteger(-1);
    partial.validator = state.value(QLatin1String("validator")).toString().toLatin1();
    return partial;
}

Result<void> DownloadFolder::setPartial(const QString &address, qint64 total, const QByteArray &validator) const
{
    return writeState(partStateFile(),
                      {{"address", address}, {"total", total}, {"validator", QString::fromLatin1(validator)}});
}

void DownloadFolder::removePart() const
{
    std::error_code ignored;
    fs::remove(partFile(), ignored);
    fs::remove(partStateFile(), ignored);
}

void DownloadFolder::removeFile() const
{
    std::error_code ignored;
    fs::remove(stampFile(), ignored);
    fs::remove(file(), ignored);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/download.h"

#include "core/base/address.h"
#include "core/base/files.h"
#include "core/data/downloadfolder.h"
#include "core/data/httpfetch.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QElapsedTimer>

#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace tw {

namespace {

constexpr qint64 progressIntervalMs = 200, rateWindowMs = 3000;

bool isCanceled(const StopToken *stop)
{
    return stop && stop->cancel.load(std::memory_order_relaxed);
}

Error canceled()
{
    return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The download was canceled."));
}

Result<void> addFile(QCryptographicHash &hash, const fs::path &file, const char *errorName, const StopToken *stop)
{
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    std::vector<char> block(1 << 20);
    ssize_t got = descriptor < 0 ? -1 : 1;
    while (got > 0 && !isCanceled(stop)) {
        got = ::read(descriptor, block.data(), block.size());
        if (got > 0)
            hash.addData(QByteArrayView(block.data(), got));
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    const int code = errno;
    if (descriptor >= 0)
        ::close(descriptor);
    if (got < 0)
        return makeError(errorName, QT_TRANSLATE_NOOP("Error", "Cannot read '%1': %2."),
                         {displayPath(file), QString::fromLocal8Bit(std::strerror(code))},
                         QT_TRANSLATE_NOOP("Error", "Check that the file exists and may be read."));
    return got > 0 ? Result<void>(canceled()) : Result<void>();
}

/// Bytes a second over the last seconds.
class Rate
{
public:
    Rate() { m_clock.start(); }
    double at(qint64 bytes)
    {
        const qint64 now = m_clock.elapsed();
        if (now - m_newMs > rateWindowMs) {
            m_oldMs = std::exchange(m_newMs, now);
            m_oldBytes = std::exchange(m_newBytes, bytes);
        }
        return now > m_oldMs ? double(bytes - m_oldBytes) * 1000 / double(now - m_oldMs) : 0;
    }

private:
    QElapsedTimer m_clock;
    qint64 m_oldMs = 0, m_newMs = 0, m_oldBytes = 0, m_newBytes = 0;
};

/// The part of a file on the disk, with the hash of what is in it.
class PartWriter final : public FetchSink
{
public:
    PartWriter(const DownloadRequest &request, const DownloadFolder &folder) : m_request(request), m_folder(folder) {}
    ~PartWriter() override
    {
        close();
        if (m_bytes == 0)
            m_folder.removePart();
    }
    PartWriter(const PartWriter &) = delete;
    PartWriter &operator=(const PartWriter &) = delete;

    /// Takes up what an earlier try left.
    Result<void> open();
    Result<void> begin(const FetchHead &head) override;
    Result<void> take(QByteArrayView bytes) override;
    Result<void> restart();
    qint64 bytes() const { return m_bytes; }
    /// Of bytes that an earlier try or an earlier head brought.
    bool isPieced() const { return m_isPieced; }
    bool knowsTotal() const { return m_total >= 0; }
    QByteArray hash() const { return m_hash.result().toHex(); }
    const QByteArray &validator() const { return m_validator; }
    bool isWhole() const { return m_total > 0 && m_bytes == m_total; }
    void close()
    {
        if (m_descriptor >= 0)
            ::close(std::exchange(m_descriptor, -1));
    }

private:
    Result<void> checkRoom() const;
    void report();

    const DownloadRequest &m_request;
    const DownloadFolder &m_folder;
    int m_descriptor = -1;
    qint64 m_bytes = 0, m_total = -1;
    QByteArray m_validator;
    bool m_isPieced = false;
    QCryptographicHash m_hash{QCryptographicHash::Sha256};
    QElapsedTimer m_sinceReport;
    Rate m_rate;
    qint64 m_fetched = 0;
};

Result<void> PartWriter::open()
{
    const fs::path part = m_folder.partFile();
    const PartialDownload left = m_folder.partial(displayAddress(m_request.url));
    m_descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (m_descriptor < 0)
        return writeError(part, errno);
    m_bytes = left.bytes; // kept, should it not be read to its end now
    if (left.bytes > 0)
        TW_TRY(addFile(m_hash, part, m_request.errorName, m_request.stop));
    m_total = left.total;
    m_validator = left.validator;
    m_isPieced = m_bytes > 0;
    if (::lseek(m_descriptor, off_t(m_bytes), SEEK_SET) < 0)
        return writeError(part, errno);
    return {};
}

Result<void> PartWriter::restart()
{
    m_hash.reset();
    m_bytes = 0;
    m_total = -1;
    m_validator.clear();
    m_isPieced = false;
    if (::ftruncate(m_descriptor, 0) != 0 || ::lseek(m_descriptor, 0, SEEK_SET) < 0)
        return writeError(m_folder.partFile(), errno);
    return {};
}

Result<void> PartWriter::begin(const FetchHead &head)
{
    if (head.start != m_bytes)
        TW_TRY(restart());
    m_isPieced = m_bytes > 0;
    m_total = head.total;
    m_validator = head.validator;
    TW_TRY(checkRoom());
    return m_folder.setPartial(displayAddress(m_request.url), m_total, m_validator);
}

Result<void> PartWriter::checkRoom() const
{
    struct statvfs disk = {};
    if (m_total < 0 || ::statvfs(m_folder.path().c_str(), &disk) != 0)
        return {};
    const auto room = quint64(disk.f_bavail) * disk.f_frsize;
    if (quint64(m_total - m_bytes) <= room)
        return {};
    return makeError(errors::FailedToWriteOutputs,
                     QT_TRANSLATE_NOOP("Error", "The disk of \"%1\" has %2 bytes left; the download needs %3 more."),
                     {displayPath(m_folder.path()), QString::number(room), QString::number(m_total - m_bytes)},
                     QT_TRANSLATE_NOOP("Error", "Make room, or choose a workspace on another disk."));
}

Result<void> PartWriter::take(QByteArrayView bytes)
{
    for (qsizetype done = 0; done < bytes.size();) {
        const ssize_t wrote = ::write(m_descriptor, bytes.data() + done, std::size_t(bytes.size() - done));
        if (wrote < 0 && errno != EINTR) {
            const int code = errno;
            m_folder.removePart(); // it would keep the full disk full
            return writeError(m_folder.partFile(), code);
        }
        done += wrote > 0 ? wrote : 0;
    }
    m_hash.addData(bytes);
    m_bytes += bytes.size();
    m_fetched += bytes.size();
    report();
    return {};
}

void PartWriter::report()
{
    if (!m_request.progress || (m_sinceReport.isValid() && m_sinceReport.elapsed() < progressIntervalMs && !isWhole()))
        return;
    m_sinceReport.start();
    m_request.progress({m_bytes, m_total, m_rate.at(m_fetched)});
}

Result<void> pauseFor(std::chrono::milliseconds time, const StopToken *stop)
{
    constexpr std::chrono::milliseconds step(50);
    for (; time.count() > 0 && !isCanceled(stop); time -= step)
        std::this_thread::sleep_for(std::min(time, step));
    return isCanceled(stop) ? Result<void>(canceled()) : Result<void>();
}

Error cutShort(const DownloadRequest &request, qint64 bytes, const QString &reason)
{
    return makeError(request.errorName,
                     QT_TRANSLATE_NOOP("Error", "The download of '%1' broke off after %2 bytes, again and again: %3."),
                     {displayAddress(request.url), QString::number(bytes), reason},
                     QT_TRANSLATE_NOOP("Error", "Run again to go on where it stopped."));
}

bool isWanted(const DownloadRequest &request, const QByteArray &hash)
{
    return !request.sha256.isEmpty() && hash.startsWith(request.sha256.toLower());
}

/// Until everything has arrived, with as many exchanges as it takes.
Result<void> fetchAll(const DownloadRequest &request, PartWriter &part)
{
    for (int left = request.tries;;) {
        if (part.isWhole())
            return {};
        const qint64 before = part.bytes();
        FetchRequest wanted{request.url, before, part.validator(), request.silence};
        wanted.errorName = request.errorName;
        wanted.stop = request.stop;
        TW_ASSIGN(outcome, fetch(wanted, part));
        if (outcome.cut.isEmpty())
            return {};
        left = part.bytes() > before ? request.tries : left - 1;
        if (left <= 0)
            return cutShort(request, part.bytes(), outcome.cut);
        TW_TRY(pauseFor(request.pause, request.stop));
    }
}

Result<void> fetchRight(const DownloadRequest &request, const DownloadFolder &folder)
{
    PartWriter part(request, folder);
    TW_TRY(part.open());
    TW_TRY(fetchAll(request, part));
    // Of two files, perhaps, or cut where nothing says how long it is: Qt does not call that an error.
    const bool isDoubtful = part.isPieced() || !part.knowsTotal();
    for (int left = isDoubtful ? 2 : 0; !isWanted(request, part.hash()) && left > 0; --left) {
        TW_TRY(part.restart());
        TW_TRY(fetchAll(request, part));
    }
    part.close();
    if (isWanted(request, part.hash()))
        return folder.takePart();
    folder.removePart();
    return wrongHash(displayAddress(request.url), request.sha256.toLower(), part.hash(), request.errorName);
}

/// Whether the file in the cache is the right one.
Result<bool> isThere(const DownloadRequest &request, const DownloadFolder &folder)
{
    std::error_code unknown;
    if (folder.isKnownGood())
        return true;
    if (!fs::is_regular_file(folder.file(), unknown))
        return false;
    TW_ASSIGN(found, fileSha256(folder.file(), request.errorName, request.stop));
    if (!isWanted(request, found)) {
        folder.removeFile();
        return false;
    }
    TW_TRY(folder.setKnownGood());
    return true;
}

} // namespace

Result<QByteArray> fileSha256(const fs::path &file, const char *errorName, const StopToken *stop)
{
    QCryptographicHash hash(QCryptographicHash::Sha256);
    TW_TRY(addFile(hash, file, errorName, stop));
    return hash.result().toHex();
}

Error wrongHash(const QString &shown, const QByteArray &wanted, const QByteArray &found, const char *errorName)
{
    constexpr qsizetype wholeHash = 64;
    return makeError(errorName,
                     wanted.size() < wholeHash
                         ? QT_TRANSLATE_NOOP("Error", "\"%1\" has the sha256 %3; it should begin with %2.")
                         : QT_TRANSLATE_NOOP("Error", "\"%1\" has the sha256 %3; it should have %2."),
                     {shown, QString::fromLatin1(wanted), QString::fromLatin1(found)},
                     QT_TRANSLATE_NOOP("Error", "The file was changed or damaged, or the sha256 belongs to another "
                                                "one: compare it with what the publisher of the data says."));
}

Result<DownloadedFile> download(const DownloadRequest &request)
{
    const fs::path place = request.folder.empty()
                               ? request.cacheFolder / "downloads" / request.sha256.toLower().toStdString()
                               : request.folder;
    DownloadFolder folder(place, request.fileName);
    TW_TRY(folder.hold(request.stop));
    TW_ASSIGN(wasThere, isThere(request, folder));
    if (!wasThere)
        TW_TRY(fetchRight(request, folder));
    return DownloadedFile{folder.file(), wasThere};
}

QString downloadText(const DownloadProgress &progress)
{
    const auto megabytes = [](double bytes) { return QString::number(bytes / 1e6, 'f', 1); };
    const QString done =
        progress.total < 0
            ? megabytes(double(progress.done))
            : QStringLiteral("%1 of %2").arg(megabytes(double(progress.done)), megabytes(double(progress.total)));
    return QStringLiteral("downloaded %1 MB · %2 MB/s").arg(done, megabytes(progress.bytesPerSecond));
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/component/runcontext.h"

#include <QUrl>

#include <chrono>
#include <functional>
#include <string>

namespace tw {

struct DownloadProgress
{
    qint64 done = 0;           ///< bytes, those of an earlier try too
    qint64 total = -1;         ///< -1: the server does not say
    double bytesPerSecond = 0; ///< over the last seconds
};

struct DownloadRequest
{
    QUrl url;             ///< as parseAddress() gives it
    QByteArray sha256;    ///< 64 hex digits, or how they begin (8 at least)
    std::string fileName; ///< as addressFileName() gives it
    fs::path cacheFolder; ///< the file comes to lie in <cacheFolder>/downloads/<sha256>/<fileName>
    fs::path folder{};    ///< or in this folder, where it is given
    const StopToken *stop = nullptr;
    std::function<void(const DownloadProgress &)> progress; ///< the caller's thread, a few times a second
    std::chrono::milliseconds silence{30'000};              ///< longest time without a byte
    std::chrono::milliseconds pause{1'000};                 ///< before going on after a cut
    int tries = 5;                                          ///< cuts in a row that bring nothing new
    const char *errorName = errors::InvalidDataset;         ///< of what is not right at the address
};

struct DownloadedFile
{
    fs::path path;
    bool wasThere = false; ///< nothing was fetched
};

/// Fetches a file once: what lies in the cache with the right hash is not fetched again. The hash is
/// taken once and remembered by size, time and inode; a file that was changed since is fetched anew.
/// A transfer that was cut, canceled or timed out goes on where it stopped, in this call (cut) and in a
/// later one. Two calls for the same file, of two programs also, fetch it once: the second waits.
/// The time of the file is the same for every download, so that the fingerprint of a data set in it is.
///
/// Errors: `errorName` naming the address: fetch(), or the wrong hash (naming both; nothing is kept);
/// TimeoutOccurredError; CanceledError within 200 ms; FailedToWriteOutputsError: no room (found out
/// before the transfer where the server says the size), no right to write. Any thread, while a
/// QCoreApplication exists; blocks.
Result<DownloadedFile> download(const DownloadRequest &request);

/// SHA-256 in lower-case hex, read in blocks; `errorName` naming the file, CanceledError.
Result<QByteArray> fileSha256(const fs::path &file, const char *errorName, const StopToken *stop);
/// `errorName`: `shown` has another hash than the one that was given, in full or how it begins.
Error wrongHash(const QString &shown, const QByteArray &wanted, const QByteArray &found, const char *errorName);

/// "downloaded 12.3 of 100.0 MB · 4.5 MB/s"
QString downloadText(const DownloadProgress &progress);

} // namespace tw

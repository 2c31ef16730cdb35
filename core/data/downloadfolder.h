// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/component/runcontext.h"

#include <QByteArray>

#include <optional>

namespace tw {

/// What an earlier try left: the bytes so far lie in partFile().
struct PartialDownload
{
    qint64 bytes = 0;
    qint64 total = -1;
    QByteArray validator; ///< empty where another address was asked
};

/// One file of a folder, such as <cache>/downloads/<sha256>, held by one caller at a time.
class DownloadFolder
{
public:
    DownloadFolder(fs::path folder, std::string fileName);
    ~DownloadFolder();
    DownloadFolder(const DownloadFolder &) = delete;
    DownloadFolder &operator=(const DownloadFolder &) = delete;

    /// Makes the folder and waits until no other call or program holds the file. FailedToWriteOutputsError,
    /// CanceledError.
    Result<void> hold(const StopToken *stop);
    fs::path file() const { return m_folder / m_fileName; }
    fs::path partFile() const { return m_folder / ("." + m_fileName + ".part"); }
    const fs::path &path() const { return m_folder; }

    /// Whether the file is there as it was when its hash was taken.
    bool isKnownGood() const;
    /// Remembers the file as it is now.
    Result<void> setKnownGood() const;
    /// Gives the part the file's name, with a fixed time.
    Result<void> takePart() const;

    PartialDownload partial(const QString &address) const;
    Result<void> setPartial(const QString &address, qint64 total, const QByteArray &validator) const;
    void removePart() const;
    void removeFile() const;

private:
    fs::path lockFile() const { return m_folder / ("." + m_fileName + ".lock"); }
    fs::path stampFile() const { return m_folder / ("." + m_fileName + ".verified"); }
    fs::path partStateFile() const { return m_folder / ("." + m_fileName + ".part.json"); }

    fs::path m_folder;
    std::string m_fileName;
    int m_lock = -1;
};

} // namespace tw

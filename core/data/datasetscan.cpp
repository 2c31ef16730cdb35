// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetscan.h"

#include "core/base/json.h"
#include "core/data/folderscan.h"
#include "core/data/idxfile.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonObject>

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

QJsonArray toArray(const std::vector<std::string> &names)
{
    QJsonArray out;
    for (const std::string &name : names)
        out.append(pathToJson(fs::path(name)));
    return out;
}

} // namespace

Result<ScanResult> scanDataset(const fs::path &path, const ScanOptions &options, const StopToken *stop,
                               const std::function<void(std::int64_t)> &progress)
{
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status))
        return missing(path, status.type() == fs::file_type::not_found ? std::error_code() : code);
    if (fs::is_directory(status)) {
        TW_ASSIGN(pairs, idxPairs(path));
        if (pairs.empty())
            return scanFolder(path, options, stop, progress);
        if (pairs.size() == 1)
            return scanIdx(pairs.front(), options, stop);
        QStringList names;
        for (const fs::path &file : pairs)
            names.append(displayPath(file.filename()));
        return severalPairs(path, names);
    }
    if (fs::is_regular_file(status) && isIdxImagesName(path.filename().native()))
        return scanIdx(path, options, stop);
    return makeError(
        errors::InvalidDataset,
        QT_TRANSLATE_NOOP("Error", "\"%1\" is neither a folder of pictures nor the images file of an IDX pair."),
        {displayPath(path)},
        QT_TRANSLATE_NOOP("Error", "Choose a folder, or a file named …-images-idx3-ubyte or …-images-idx3-ubyte.gz; "
                                   "unpack an archive first."));
}

QByteArray DataReport::toJson() const
{
    QJsonArray bad;
    for (const UnreadableImage &image : unreadable)
        bad.append(QJsonObject{{QStringLiteral("path"), pathToJson(fs::path(image.path))},
                               {QStringLiteral("reason"), QString::fromStdString(image.reason)}});
    QJsonArray texts;
    for (const std::string &text : warnings)
        texts.append(QString::fromStdString(text));
    return jsonObjectLine({{"format", "\"trainwright-data-report\""},
                           {"version", "1"},
                           {"unreadable", jsonCompact(bad)},
                           {"ignored", jsonCompact(toArray(ignoredFiles))},
                           {"skipped_folders", jsonCompact(toArray(skippedFolders))},
                           {"empty_classes", jsonCompact(toArray(emptyClasses))},
                           {"warnings", jsonCompact(texts)}})
           + '\n';
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/outputrecord.h"

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/json.h"

#include <QJsonObject>

#include <map>
#include <string>

#include <sys/stat.h>

namespace tw {

namespace {

constexpr char recordFormat[] = "trainwright-outputs";
constexpr int recordVersion = 1;

struct Held
{
    qint64 bytes = 0;
    qint64 mtimeNs = 0;
};
using Holdings = std::map<std::string, Held>; ///< files by their path below the port's folder

Result<Holdings> holdingsOf(const fs::path &folder)
{
    Holdings found;
    std::error_code fault;
    fs::recursive_directory_iterator entry(folder, fault);
    for (; !fault && entry != fs::recursive_directory_iterator(); entry.increment(fault)) {
        struct stat status = {};
        if (::lstat(entry->path().c_str(), &status) != 0)
            return writeError(entry->path(), errno);
        if (!S_ISDIR(status.st_mode))
            found[entry->path().native().substr(folder.native().size() + 1)] = {
                status.st_size, qint64(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
    }
    if (fault)
        return writeError(folder, fault.value());
    return found;
}

QString digestOf(const Holdings &holdings)
{
    QByteArray text;
    for (const auto &[name, held] : holdings)
        text += QByteArray::fromStdString(name) + '\0' + QByteArray::number(held.bytes) + ' '
                + QByteArray::number(held.mtimeNs) + '\n';
    return QString::fromLatin1(blake2b(text));
}

/// Names are bytes: percent-encoding keeps those that are not UTF-8 apart.
QString keyOf(const std::string &name)
{
    return QString::fromLatin1(QByteArray::fromStdString(name).toPercentEncoding("/ "));
}

QJsonObject portJson(const Holdings &holdings)
{
    qint64 bytes = 0;
    QJsonObject list;
    for (const auto &[name, held] : holdings) {
        bytes += held.bytes;
        if (holdings.size() <= listedFiles)
            list.insert(keyOf(name), held.bytes);
    }
    return {{"files", qint64(holdings.size())}, {"bytes", bytes}, {"digest", digestOf(holdings)}, {"list", list}};
}

Error damaged(const fs::path &file, const QString &what)
{
    return makeError(errors::FailedToWriteOutputs, QT_TRANSLATE_NOOP("Error", "The stored output %1 is damaged: %2."),
                     {displayPath(file), what},
                     QT_TRANSLATE_NOOP("Error", "Run the pipeline again: what is damaged is made anew."));
}

/// Says how `now` differs from the record.
Error difference(const fs::path &folder, const QJsonObject &record, const Holdings &now)
{
    const QJsonObject list = record.value(QStringLiteral("list")).toObject();
    const qint64 files = record.value(QStringLiteral("files")).toInteger();
    if (list.size() == files) {
        for (auto known = list.begin(); known != list.end(); ++known) {
            const std::string name = QByteArray::fromPercentEncoding(known.key().toLatin1()).toStdString();
            const auto found = now.find(name);
            if (found == now.end())
                return damaged(folder / name, QStringLiteral("the file is missing"));
            if (found->second.bytes != known->toInteger())
                return damaged(
                    folder / name,
                    QStringLiteral("it has %1 bytes instead of %2").arg(found->second.bytes).arg(known->toInteger()));
        }
        for (const auto &[name, held] : now)
            if (!list.contains(keyOf(name)))
                return damaged(folder / name, QStringLiteral("the file was not written by the job"));
    }
    if (files != qint64(now.size()))
        return damaged(folder, QStringLiteral("it has %1 files instead of %2").arg(now.size()).arg(files));
    return damaged(folder, QStringLiteral("a file was written since"));
}

fs::path recordFile(const fs::path &nodeFolder)
{
    return nodeFolder / "outputs.json";
}

} // namespace

Result<void> recordOutputs(const fs::path &nodeFolder, const QStringList &ports)
{
    QJsonObject all;
    for (const QString &port : ports) {
        TW_ASSIGN(holdings, holdingsOf(nodeFolder / "outputs" / port.toStdString()));
        all.insert(port, portJson(holdings));
    }
    return writeFileAtomically(
        recordFile(nodeFolder),
        jsonCompact(QJsonObject{{"format", recordFormat}, {"version", recordVersion}, {"ports", all}}) + '\n');
}

Result<void> checkOutputs(const fs::path &nodeFolder, const QStringList &ports)
{
    const auto record = readJsonObject(recordFile(nodeFolder), errors::FailedToWriteOutputs);
    if (!record.ok() || record->value(QStringLiteral("version")).toInt() != recordVersion)
        return damaged(nodeFolder, QStringLiteral("there is no readable record of its files"));
    const QJsonObject all = record->value(QStringLiteral("ports")).toObject();
    for (const QString &port : ports) {
        const fs::path folder = nodeFolder / "outputs" / port.toStdString();
        const auto now = holdingsOf(folder);
        if (!now.ok())
            return damaged(folder, QStringLiteral("the folder cannot be read"));
        const QJsonObject known = all.value(port).toObject();
        if (known.value(QStringLiteral("digest")).toString() != digestOf(*now))
            return difference(folder, known, *now);
    }
    return {};
}

} // namespace tw

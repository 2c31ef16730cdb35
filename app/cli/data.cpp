// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/data/batchloader.h"
#include "core/data/datasetscan.h"

namespace tw::cli {

namespace {

QByteArray nameJson(const std::string &name)
{
    return jsonCompact(pathToJson(fs::path(name)));
}

QByteArray listJson(const std::vector<std::string> &names)
{
    QByteArray text;
    for (const std::string &name : names)
        text += (text.isEmpty() ? "" : ",") + nameJson(name);
    return '[' + text + ']';
}

QByteArray classesJson(const ImageManifest &manifest)
{
    QByteArray text;
    const auto counts = manifest.counts();
    for (std::size_t i = 0; i < manifest.categories.size(); ++i)
        text += (text.isEmpty() ? "" : ",")
                + jsonObjectLine(
                    {{"name", nameJson(manifest.categories[i])}, {"count", QByteArray::number(qint64(counts[i]))}});
    return '[' + text + ']';
}

QByteArray samplesJson(const ImageManifest &manifest)
{
    QByteArray text;
    for (std::size_t i = 0; i < manifest.size(); ++i)
        text += (i ? ",[" : "[") + nameJson(std::string(manifest.path(i))) + ','
                + (manifest.category(i) < 0 ? QByteArray("null") : QByteArray::number(manifest.category(i))) + ']';
    return '[' + text + ']';
}

QByteArray unreadableJson(const DataReport &report)
{
    QByteArray text;
    for (const UnreadableImage &image : report.unreadable)
        text += (text.isEmpty() ? "" : ",")
                + jsonObjectLine(
                    {{"path", nameJson(image.path)}, {"reason", jsonString(QString::fromStdString(image.reason))}});
    return '[' + text + ']';
}

QByteArray reportJson(const ScanResult &scan, bool withSamples)
{
    QByteArray line = jsonObjectLine({{"classes", classesJson(scan.manifest)},
                                      {"images", QByteArray::number(qint64(scan.manifest.size()))},
                                      {"unreadable", unreadableJson(scan.report)},
                                      {"ignored", listJson(scan.report.ignoredFiles)},
                                      {"warnings", listJson(scan.report.warnings)}});
    if (withSamples)
        line = line.chopped(1) + ",\"samples\":" + samplesJson(scan.manifest) + '}';
    return line + '\n';
}

QByteArray reportText(const ScanResult &scan)
{
    QByteArray text;
    const auto counts = scan.manifest.counts();
    for (std::size_t i = 0; i < counts.size(); ++i)
        text += QByteArray::number(qint64(counts[i])).rightJustified(9) + "  "
                + QByteArray::fromStdString(scan.manifest.categories[i]) + '\n';
    text += QByteArray::number(qint64(scan.manifest.size())).rightJustified(9) + "  images in all\n";
    for (const UnreadableImage &image : scan.report.unreadable)
        text += "unreadable: " + QByteArray::fromStdString(image.path) + ": " + QByteArray::fromStdString(image.reason)
                + '\n';
    for (const std::string &name : scan.report.ignoredFiles)
        text += "ignored: " + QByteArray::fromStdString(name) + '\n';
    for (const std::string &warning : scan.report.warnings)
        text += "warning: " + QByteArray::fromStdString(warning) + '\n';
    return text;
}

Result<ScanResult> look(const Arguments &arguments)
{
    ScanOptions options{arguments.has("allow-empty-classes"), {}};
    options.subfolder = arguments.bytes("subfolder").toStdString();
    if (arguments.has("label-column"))
        options.labelColumn = arguments.bytes("label-column").toStdString();
    TW_ASSIGN(scan, scanDataset(pathFromBytes(arguments.words().first()), options));
    TW_TRY(verifyImages(scan, VerifyMode::Full, true, automaticWorkers(), nullptr, [](std::int64_t, std::int64_t) {}));
    return scan;
}

int run(const Arguments &arguments)
{
    const auto scan = look(arguments);
    if (!scan.ok()) {
        printError(scan.error());
        return exitFailed;
    }
    writeOut(arguments.has("json") ? reportJson(*scan, arguments.has("samples")) : reportText(*scan));
    return exitDone;
}

} // namespace

Command dataCommand()
{
    return {"data",
            "PATH",
            "Lists the classes of a data set and checks its pictures.",
            {{"samples", nullptr, "list every picture (with --json)"},
             {"label-column", "NAME", "of a csv: the column of the labels (label); empty: none"},
             {"subfolder", "PATH", "only this folder of the folder or archive"},
             {"allow-empty-classes", nullptr, "accept class folders without pictures"},
             {"json", nullptr, "print JSON"}},
            1,
            1,
            run};
}

} // namespace tw::cli

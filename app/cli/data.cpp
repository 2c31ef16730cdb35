// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/datatext.h"
#include "app/cli/output.h"
#include "app/cli/scoringsupport.h"
#include "app/cli/stoponsignal.h"
#include "core/base/json.h"
#include "core/data/batchloader.h"

#include <QElapsedTimer>

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

/// "," and the two lists that the scan made besides those of reportJson().
QByteArray foldersJson(const DataReport &report)
{
    return ",\"skipped_folders\":" + listJson(report.skippedFolders)
           + ",\"empty_classes\":" + listJson(report.emptyClasses);
}

Result<ScanResult> look(const fs::path &path, const Arguments &arguments, const StopToken &stop)
{
    ScanOptions options{arguments.has("allow-empty-classes"), {}};
    options.subfolder = arguments.bytes("subfolder").toStdString();
    if (arguments.has("label-column"))
        options.labelColumn = arguments.bytes("label-column").toStdString();
    TW_ASSIGN(scan, scanDataset(path, options, &stop));
    ProgressLine line(std::int64_t(scan.manifest.size()), "checked");
    QElapsedTimer clock;
    clock.start();
    const auto progress = [&](std::int64_t done, std::int64_t) {
        line.show(done, double(done) * 1000 / double(std::max<qint64>(clock.elapsed(), 1)));
    };
    const VerifyMode mode = arguments.bytes("verify") == "header" ? VerifyMode::Header : VerifyMode::Full;
    const Result<void> verified = verifyImages(scan, mode, true, automaticWorkers(), &stop, progress);
    line.clear();
    TW_TRY(verified);
    return scan;
}

Result<DatasetReport> compare(std::vector<ScanResult> &scans, const StopToken &stop)
{
    std::vector<ManifestPtr> sets;
    for (ScanResult &scan : scans)
        sets.push_back(std::make_shared<const ImageManifest>(scan.manifest));
    if (sets.size() == 1)
        return DatasetReport::of(sets[0], &stop);
    return DatasetReport::of(sets[0], sets[1], {QStringLiteral("training"), QStringLiteral("validation")}, &stop);
}

Result<QByteArray> lookAtAll(const Arguments &arguments, const StopToken &stop)
{
    std::vector<ScanResult> scans;
    TW_ASSIGN(first, look(pathFromBytes(arguments.words().first()), arguments, stop));
    scans.push_back(std::move(first));
    if (arguments.has("validation")) {
        TW_ASSIGN(second, look(arguments.path("validation"), arguments, stop));
        scans.push_back(std::move(second));
    }
    TW_ASSIGN(report, compare(scans, stop));
    if (!arguments.has("json")) {
        std::vector<DataReport> notes;
        for (const ScanResult &scan : scans)
            notes.push_back(scan.report);
        return datasetText(report, notes);
    }
    QByteArray text = reportJson(scans[0], arguments.has("samples")).chopped(2) + foldersJson(scans[0].report);
    text += report.jsonMembers();
    if (scans.size() > 1)
        text += ",\"validation\":" + reportJson(scans[1], arguments.has("samples")).chopped(1);
    return text + "}\n";
}

int run(const Arguments &arguments)
{
    if (const QByteArray mode = arguments.bytes("verify");
        arguments.has("verify") && mode != "header" && mode != "full")
        return usageError(QStringLiteral("'--verify %1' is neither header nor full.").arg(QString::fromUtf8(mode)), {});
    const StopOnSignal stop;
    const auto text = lookAtAll(arguments, stop.token());
    if (!text.ok())
        return failWith(text.error());
    writeOut(*text);
    return exitDone;
}

} // namespace

Command dataCommand()
{
    return {"data",
            "PATH",
            "Checks every picture of a data set and reports classes, sizes, formats, copies and leakage.",
            {{"validation", "PATH", "a second set: its pictures that stand in the first, too"},
             {"verify", "MODE", "full: decode every picture (default); header: read sizes only"},
             {"samples", nullptr, "list every picture (with --json)"},
             {"label-column", "NAME", "of a csv: the column of the labels (label); empty: none"},
             {"subfolder", "PATH", "only this folder of the folder or archive"},
             {"allow-empty-classes", nullptr, "accept class folders without pictures"},
             {"json", nullptr, "print JSON"}},
            1,
            1,
            run};
}

} // namespace tw::cli

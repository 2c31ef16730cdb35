// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/component/portobjects.h"
#include "core/data/archivefile.h"
#include "core/data/batchloader.h"
#include "core/data/datasetreport.h"
#include "core/data/scancache.h"

#include <future>

namespace tw::components {

namespace {

ScanOptions scanOptions(const ParameterValues &values, const DatasetReference &data = {})
{
    ScanOptions options;
    options.subfolder = data.subfolder;
    options.labelColumn = data.labelColumn;
    options.allowEmptyClasses = values.boolean("allow_empty_classes");
    const QString names = values.isSet("class_names") ? values.text("class_names") : QString();
    if (!names.isEmpty())
        for (const QString &name : names.split(u','))
            options.classNames.push_back(name.trimmed().toStdString());
    return options;
}

QList<Error> validateValues(const ParameterValues &values)
{
    const ScanOptions options = scanOptions(values);
    QStringList seen;
    for (const std::string &bytes : options.classNames) {
        const QString name = QString::fromStdString(bytes);
        if (name.isEmpty())
            return {makeError(errors::NullOrEmpty,
                              QT_TRANSLATE_NOOP("Error", "A name in the list of class names '%1' is empty."),
                              {values.text("class_names")},
                              QT_TRANSLATE_NOOP("Error", "Write one name per class, separated by commas."))
                        .atParameter(QStringLiteral("class_names"))};
        if (seen.contains(name))
            return {makeError(errors::DuplicateName,
                              QT_TRANSLATE_NOOP("Error", "The class name '%1' stands twice in the list."), {name},
                              QT_TRANSLATE_NOOP("Error", "Give every class its own name."))
                        .atParameter(QStringLiteral("class_names"))};
        seen.append(name);
    }
    return {};
}

ScanOptions leniently(ScanOptions options)
{
    options.allowEmptyClasses = true;
    return options;
}

/// What the lenient listing of Image Dataset says, or a listing with this node's own options.
Result<ScanPtr> listing(const fs::path &path, const ScanOptions &options, const StopToken *stop,
                        const std::function<void(std::int64_t)> &progress)
{
    if (options.classNames.empty()) {
        TW_ASSIGN(lenient, scanRemembered(path, leniently(options), stop, progress));
        if (options.allowEmptyClasses || lenient->report.emptyClasses.empty())
            return lenient;
    }
    return scanRemembered(path, options, stop, progress);
}

PreflightReply preflightConvert(const PreflightRequest &request)
{
    PreflightReply reply;
    const PortFacts input = request.inputs.value(QStringLiteral("dataset"));
    const std::optional<DatasetReference> data = datasetOf(input);
    if (!data)
        return reply;
    auto scan = listing(data->path, scanOptions(request.values, *data), request.stop, {});
    if (!scan.ok()) {
        reply.errors.append(scan.error());
        return reply;
    }
    PortFacts facts = factsOf((*scan)->manifest);
    setManifestFact(facts, ManifestPtr(*scan, &(*scan)->manifest));
    for (const std::string &warning : (*scan)->report.warnings)
        reply.warnings.append(QString::fromStdString(warning));
    reply.summary = datasetSummary(facts);
    reply.outputs.insert(QStringLiteral("image_directory"), facts);
    return reply;
}

void reportFindings(const DataReport &report, RunContext &context)
{
    for (const std::string &warning : report.warnings)
        context.log(LogLevel::Warning, QString::fromStdString(warning));
    for (const std::string &name : report.emptyClasses)
        context.log(LogLevel::Warning, QStringLiteral("Class '%1' has no pictures.").arg(QString::fromStdString(name)));
    for (const UnreadableImage &image : report.unreadable)
        context.log(LogLevel::Warning,
                    QStringLiteral("Left out '%1': %2")
                        .arg(QString::fromStdString(image.path), QString::fromStdString(image.reason)));
    if (!report.ignoredFiles.empty())
        context.log(LogLevel::Info, QStringLiteral("Files that are no pictures: %1 (listed in data_report.json)")
                                        .arg(report.ignoredFiles.size()));
}

/// Copies are among the scan's warnings, by name.
void reportNearCopies(const Duplicates &found, RunContext &context)
{
    if (found.nearPairs > 0)
        context.log(LogLevel::Warning,
                    QStringLiteral("Pairs of pictures that look almost the same: %1, of them with two labels: %2 "
                                   "(listed in data_report.json)")
                        .arg(found.nearPairs)
                        .arg(found.nearSeveralLabels));
    context.result(QStringLiteral("duplicates"), qint64(found.exactSurplus));
    context.result(QStringLiteral("near_duplicates"), qint64(found.nearPairs));
}

/// A compressed tar is read in place once it lies unpacked in the workspace's cache.
Result<void> unpackInto(RunContext &context, ImageManifest &manifest)
{
    if (manifest.storage != ImageManifest::Storage::Tar || archiveKindOf(manifest.root) != ArchiveKind::PackedTar)
        return {};
    manifest.unpacked = unpackedArchive(context.cacheFolder(), manifest.root);
    return unpackArchive(manifest.root, manifest.unpacked, &context.stopToken(), [&](std::int64_t bytes) {
        context.progress(-1, QStringLiteral("unpacked %1 MB").arg(bytes / 1'000'000));
    });
}

Result<ScanResult> verifiedScan(const RunRequest &request, const DatasetReference &data)
{
    RunContext &context = request.context;
    const StopToken *stop = &context.stopToken();
    TW_ASSIGN(shared, listing(data.path, scanOptions(request.values, data), stop, [&](std::int64_t found) {
                  context.progress(-1, QStringLiteral("found %1").arg(found));
              }));
    ScanResult scan = *shared;
    TW_TRY(unpackInto(context, scan.manifest));
    const bool full = request.values.text("verify") == QLatin1String("full");
    const bool skip = request.values.text("on_unreadable") == QLatin1String("skip");
    TW_TRY(verifyImages(
        scan, full ? VerifyMode::Full : VerifyMode::Header, skip, automaticWorkers(), stop,
        [&](std::int64_t done, std::int64_t total) {
            context.progress(total > 0 ? double(done) / double(total) : -1,
                             QStringLiteral("verified %1 of %2").arg(done).arg(total));
        },
        context.cacheFolder() / "files.db"));
    scan.manifest.skipUnreadable = skip;
    return scan;
}

Result<RunReply> runConvert(const RunRequest &request)
{
    TW_ASSIGN(data, datasetInput(request, "dataset"));
    TW_ASSIGN(scan, verifiedScan(request, data));
    reportFindings(scan.report, request.context);
    if (scan.manifest.fingerprint.empty())
        scan.manifest.computeFingerprint();
    const fs::path folder = request.outputFolders.value(QStringLiteral("image_directory"));
    const ManifestPtr manifest = std::make_shared<const ImageManifest>(std::move(scan.manifest));
    request.context.progress(-1, QStringLiteral("comparing the pictures"));
    auto written = std::async(std::launch::async, [&manifest, &folder] { return manifest->write(folder); });
    TW_ASSIGN(report, DatasetReport::of(manifest, &request.context.stopToken()));
    TW_TRY(written.get());
    TW_TRY(writeFileAtomically(folder / "data_report.json", report.toJson(scan.report)));
    reportNearCopies(report.duplicates(), request.context);
    const PortFacts facts = factsOf(*manifest);
    request.context.log(LogLevel::Info, datasetSummary(facts));
    request.context.result(QStringLiteral("images"), *facts.images);
    request.context.result(QStringLiteral("classes"), qint64(facts.categories->size()));
    request.context.result(QStringLiteral("unreadable"), qint64(scan.report.unreadable.size()));
    return RunReply{{{QStringLiteral("image_directory"), manifest}}};
}

} // namespace

ComponentType convert_to_image_directory()
{
    ComponentType type;
    type.id = QStringLiteral("convert-to-image-directory");
    type.named(QT_TRANSLATE_NOOP("Component", "Convert to Image Directory"),
               QT_TRANSLATE_NOOP("Component", "Computer Vision"),
               QT_TRANSLATE_NOOP("Component", "Lists the pictures with their classes and checks "
                                              "that each can be read; nothing is copied."));
    type.input("dataset", QT_TRANSLATE_NOOP("Component", "Dataset"), DataType::AnyDirectory);
    type.output("image_directory", QT_TRANSLATE_NOOP("Component", "Image directory"), DataType::ImageDirectory);
    type.parameter(ParameterSpec::choice("on_unreadable", QT_TRANSLATE_NOOP("Parameter", "Unreadable pictures"), "skip",
                                         {{QStringLiteral("skip"), QT_TRANSLATE_NOOP("Parameter", "Skip")},
                                          {QStringLiteral("fail"), QT_TRANSLATE_NOOP("Parameter", "Fail")}})
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Whether a picture that cannot be read is "
                                                                "left out and listed, or stops the run.")));
    type.parameter(
        ParameterSpec::boolean("allow_empty_classes", QT_TRANSLATE_NOOP("Parameter", "Allow empty classes"), false)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Keeps a class folder without pictures as a class "
                                                     "of 0 images instead of refusing the data set.")));
    type.parameter(
        ParameterSpec::choice("verify", QT_TRANSLATE_NOOP("Parameter", "Verify"), "full",
                              {{QStringLiteral("full"), QT_TRANSLATE_NOOP("Parameter", "Decode every picture")},
                               {QStringLiteral("header"), QT_TRANSLATE_NOOP("Parameter", "Read headers only")}})
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Decoding finds every broken picture before training. Reading "
                                                     "headers only lets training start much sooner; what is broken "
                                                     "further inside is then skipped or stops the training, as chosen "
                                                     "for unreadable pictures.")));
    type.parameter(
        ParameterSpec::text("class_names", QT_TRANSLATE_NOOP("Parameter", "Class names"), "")
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Names of an IDX pair's classes in the order of their "
                                                     "numbers, separated by commas; empty uses the digits.")));
    type.validate = validateValues;
    type.preflight = preflightConvert;
    type.run = runConvert;
    return type;
}

} // namespace tw::components

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/address.h"
#include "core/component/portobjects.h"
#include "core/data/download.h"
#include "core/data/idxfile.h"
#include "core/data/scancache.h"

namespace tw::components {

namespace {

/// Edits elsewhere in the pipeline come quickly; a run is seldom started as soon after one.
constexpr std::chrono::seconds listingAge(5);

QByteArray addressOf(const ParameterValues &values)
{
    const QByteArray bytes = bytesFromPath(values.path("path"));
    return isAddress(bytes) ? bytes : QByteArray();
}

QString hashOf(const ParameterValues &values)
{
    return values.isSet("sha256") ? values.text("sha256").trimmed() : QString();
}

/// `place`: the file or folder on this machine.
DatasetReference chosenData(const ParameterValues &values, const fs::path &place)
{
    std::error_code failed;
    const fs::path path = fs::absolute(place, failed).lexically_normal();
    DatasetReference data{path};
    data.labelColumn = values.isSet("label_column") ? values.text("label_column").toStdString() : std::string();
    const std::string subfolder = values.isSet("subfolder") ? values.text("subfolder").toStdString() : std::string();
    const fs::path inside = path / subfolder;
    if (!subfolder.empty() && fs::is_directory(path, failed) && fs::is_directory(inside, failed))
        data.path = inside.lexically_normal();
    else
        data.subfolder = subfolder; // of an archive, or one that the listing refuses by its name
    return data;
}

ScanOptions optionsFor(const DatasetReference &data)
{
    // Empty classes are Convert's business; here they are only counted.
    return {true, {}, data.subfolder, data.labelColumn};
}

/// A list or half an IDX pair needs files beside it.
Result<void> checkIsAlone(const QByteArray &address)
{
    const fs::path name(addressFileName(address));
    const QString suffix = displayPath(name.extension()).toLower();
    if (suffix != QLatin1String(".csv") && !isIdxImagesName(name.native()))
        return {};
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "The address '%1' is that of %2, which needs other files beside it."),
                     {QString::fromUtf8(address),
                      suffix == QLatin1String(".csv") ? QStringLiteral("a csv list") : QStringLiteral("an IDX file")},
                     QT_TRANSLATE_NOOP("Error", "Give the address of an archive that holds all of them, or download "
                                                "them and give the path."));
}

QList<Error> validateHash(const ParameterValues &values, const QByteArray &address)
{
    const QString hash = hashOf(values);
    if (hash.isEmpty() && !address.isEmpty())
        return {makeError(errors::NullOrEmpty,
                          QT_TRANSLATE_NOOP("Error", "The address '%1' is given without the sha256 of its file."),
                          {QString::fromUtf8(address)},
                          QT_TRANSLATE_NOOP("Error", "Copy the sha256 that the publisher states, or download the file "
                                                     "once and run: sha256sum FILE."))
                    .atParameter(QStringLiteral("sha256"))};
    if (hash.isEmpty() || isSha256(hash))
        return {};
    return {makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "'%1' is no sha256."), {hash},
                      QT_TRANSLATE_NOOP("Error", "A sha256 has 64 digits of 0-9 and a-f."))
                .atParameter(QStringLiteral("sha256"))};
}

QList<Error> validateAddress(const ParameterValues &values)
{
    const QByteArray address = addressOf(values);
    QList<Error> faults = validateHash(values, address);
    if (address.isEmpty())
        return faults;
    const auto url = parseAddress(address);
    if (const auto alone = url.ok() ? checkIsAlone(address) : Result<void>(url.error()); !alone.ok())
        faults.prepend(Error(alone.error()).atParameter(QStringLiteral("path")));
    return faults;
}

QList<Error> validateSubfolder(const ParameterValues &values)
{
    const fs::path subfolder =
        values.isSet("subfolder") ? pathFromBytes(values.text("subfolder").toUtf8()) : fs::path();
    for (const fs::path &part : subfolder.lexically_normal())
        if (part == ".." || subfolder.is_absolute())
            return {makeError(errors::InvalidDataset,
                              QT_TRANSLATE_NOOP("Error", "The subfolder '%1' leads out of the data set."),
                              {displayPath(subfolder)},
                              QT_TRANSLATE_NOOP("Error", "Give a path inside the data set, such as train."))
                        .atParameter(QStringLiteral("subfolder"))};
    return {};
}

QList<Error> validateValues(const ParameterValues &values)
{
    return validateAddress(values) + validateSubfolder(values);
}

/// At `path`, where the listing names no parameter itself.
Error placed(const Error &error)
{
    return error.parameter.isEmpty() ? Error(error).atParameter(QStringLiteral("path")) : error;
}

Result<void> checkCanHaveHash(const ParameterValues &values)
{
    std::error_code unknown;
    if (hashOf(values).isEmpty() || !fs::is_directory(values.path("path"), unknown))
        return {};
    return Error(makeError(errors::InvalidDataset,
                           QT_TRANSLATE_NOOP("Error", "A sha256 is given, but \"%1\" is a folder."),
                           {displayPath(values.path("path"))},
                           QT_TRANSLATE_NOOP("Error", "Clear the sha256: it is that of one file.")))
        .atParameter(QStringLiteral("sha256"));
}

PreflightReply preflightDataset(const PreflightRequest &request)
{
    PreflightReply reply;
    if (const QByteArray address = addressOf(request.values); !address.isEmpty()) {
        reply.summary = QStringLiteral("%1 · fetched by the run").arg(displayPath(addressFileName(address)));
        return reply;
    }
    const DatasetReference data = chosenData(request.values, request.values.path("path"));
    if (const auto fit = checkCanHaveHash(request.values); !fit.ok()) {
        reply.errors.append(fit.error());
        return reply;
    }
    auto scan = scanRecent(data.path, optionsFor(data), request.mayBeRecent ? listingAge : std::chrono::seconds(0),
                           request.stop);
    if (!scan.ok()) {
        reply.errors.append(placed(scan.error()));
        return reply;
    }
    const ImageManifest &manifest = (*scan)->manifest;
    PortFacts facts = factsOf(manifest);
    setDatasetFacts(facts, data);
    facts.extra.insert(QStringLiteral("fingerprint"), QString::fromStdString(manifest.fingerprint));
    reply.summary = datasetSummary(facts);
    reply.outputs.insert(QStringLiteral("dataset"), facts);
    return reply;
}

Result<fs::path> fetched(const RunRequest &request, const QByteArray &address)
{
    RunContext &context = request.context;
    TW_ASSIGN(url, parseAddress(address));
    DownloadRequest wanted;
    wanted.url = url;
    wanted.sha256 = hashOf(request.values).toLatin1();
    wanted.fileName = addressFileName(address);
    wanted.cacheFolder = context.cacheFolder();
    wanted.stop = &context.stopToken();
    wanted.progress = [&](const DownloadProgress &progress) {
        context.progress(progress.total > 0 ? double(progress.done) / double(progress.total) : -1,
                         downloadText(progress));
    };
    TW_ASSIGN(file, download(wanted));
    context.log(LogLevel::Info, (file.wasThere ? QStringLiteral("In the cache already: %1 (from %2)")
                                               : QStringLiteral("Downloaded to %1 from %2"))
                                    .arg(displayPath(file.path), displayAddress(url)));
    return file.path;
}

/// The path on this machine, of a file with the right hash where one is given.
Result<fs::path> localPlace(const RunRequest &request)
{
    if (const QByteArray address = addressOf(request.values); !address.isEmpty())
        return fetched(request, address);
    const fs::path path = request.values.path("path");
    const QByteArray wanted = hashOf(request.values).toLatin1().toLower();
    if (wanted.isEmpty())
        return path;
    TW_TRY(checkCanHaveHash(request.values));
    TW_ASSIGN(found, fileSha256(path, errors::InvalidDataset, &request.context.stopToken()));
    return found == wanted ? Result<fs::path>(path)
                           : wrongHash(displayPath(path), wanted, found, errors::InvalidDataset);
}

Result<RunReply> runDataset(const RunRequest &request)
{
    const auto place = localPlace(request);
    if (!place.ok())
        return placed(place.error());
    const DatasetReference data = chosenData(request.values, *place);
    const auto scan =
        scanRemembered(data.path, optionsFor(data), &request.context.stopToken(), [&](std::int64_t found) {
            request.context.progress(-1, QStringLiteral("found %1").arg(found));
        });
    if (!scan.ok())
        return placed(scan.error());
    request.context.log(LogLevel::Info, QStringLiteral("Data set: %1").arg(displayPath(data.path / data.subfolder)));
    TW_TRY(writeDatasetReference(request.outputFolders.value(QStringLiteral("dataset")), data));
    return RunReply{{{QStringLiteral("dataset"), data}}};
}

} // namespace

ComponentType image_dataset()
{
    ComponentType type;
    type.id = QStringLiteral("image-dataset");
    type.named(QT_TRANSLATE_NOOP("Component", "Image Dataset"), QT_TRANSLATE_NOOP("Component", "Data Input"),
               QT_TRANSLATE_NOOP("Component", "Names the pictures to work with: a folder or archive with one "
                                              "folder per class, a csv list, or an IDX pair."));
    type.output("dataset", QT_TRANSLATE_NOOP("Component", "Dataset"), DataType::AnyDirectory);
    type.parameter(
        ParameterSpec::path("path", QT_TRANSLATE_NOOP("Parameter", "Path"))
            .isRequired()
            .withHelp(QT_TRANSLATE_NOOP(
                "Parameter", "A folder with one folder of pictures per class, the same as an archive (.zip, .tar, "
                             ".tar.gz, .tar.bz2, .tar.xz, .tar.zst) or the http(s) address of one, a folder of "
                             "unlabelled pictures, a .csv of path and label, or the images file of an IDX pair "
                             "(also .gz).")));
    type.parameter(
        ParameterSpec::text("sha256", QT_TRANSLATE_NOOP("Parameter", "SHA-256"), "")
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Of the file at an address, where it is required, or of one "
                                                     "file here: another file is refused. The publisher states it, "
                                                     "or run: sha256sum FILE."))
            .isAdvanced());
    type.parameter(
        ParameterSpec::text("label_column", QT_TRANSLATE_NOOP("Parameter", "Label column"), "label")
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Of a .csv: the column that holds the labels. Paths are those of "
                                                     "the column path, else of the first one. Empty: no labels.")));
    type.parameter(
        ParameterSpec::text("subfolder", QT_TRANSLATE_NOOP("Parameter", "Subfolder"), "")
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "A path inside the folder or archive, so that one with train "
                                                     "and val can feed two nodes; empty uses the whole.")));
    type.validate = validateValues;
    type.preflight = preflightDataset;
    type.run = runDataset;
    return type;
}

} // namespace tw::components

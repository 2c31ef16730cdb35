// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/portobjects.h"
#include "core/data/scancache.h"

namespace tw::components {

namespace {

/// Edits elsewhere in the pipeline come quickly; a run is seldom started as soon after one.
constexpr std::chrono::seconds listingAge(5);

DatasetReference chosenData(const ParameterValues &values)
{
    std::error_code failed;
    const fs::path path = fs::absolute(values.path("path"), failed).lexically_normal();
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

QList<Error> validateValues(const ParameterValues &values)
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

/// At `path`, where the listing names no parameter itself.
Error placed(const Error &error)
{
    return error.parameter.isEmpty() ? Error(error).atParameter(QStringLiteral("path")) : error;
}

PreflightReply preflightDataset(const PreflightRequest &request)
{
    PreflightReply reply;
    const DatasetReference data = chosenData(request.values);
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

Result<RunReply> runDataset(const RunRequest &request)
{
    const DatasetReference data = chosenData(request.values);
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
                "Parameter", "A folder with one folder of pictures per class, the same as an archive (.zip, "
                             ".tar, .tar.gz, .tgz, .tar.bz2), a folder of unlabelled pictures, a .csv of path "
                             "and label, or the images file of an IDX pair (also .gz).")));
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

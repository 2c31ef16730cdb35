// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/portobjects.h"
#include "core/data/scancache.h"

namespace tw::components {

namespace {

/// Edits elsewhere in the pipeline come quickly; a run is seldom started as soon after one.
constexpr std::chrono::seconds listingAge(5);

/// Archives and lists that this version does not read, by the end of the name.
bool isUnreadSource(const fs::path &path)
{
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown))
        return false;
    const QString name = QString::fromUtf8(bytesFromPath(path.filename())).toLower();
    for (const char *suffix : {".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".csv"})
        if (name.endsWith(QLatin1String(suffix)))
            return true;
    return false;
}

fs::path chosenPath(const ParameterValues &values)
{
    std::error_code failed;
    fs::path path = fs::absolute(values.path("path"), failed);
    const QString subfolder = values.isSet("subfolder") ? values.text("subfolder") : QString();
    return (subfolder.isEmpty() ? path : path / pathFromBytes(subfolder.toUtf8())).lexically_normal();
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

Error unreadSourceError(const fs::path &path)
{
    return makeError(
               errors::InvalidDataset,
               QT_TRANSLATE_NOOP("Error", "'%1' is an archive or a list; this version reads folders and IDX pairs."),
               {displayPath(path)}, QT_TRANSLATE_NOOP("Error", "Unpack it and choose the folder."))
        .atParameter(QStringLiteral("path"));
}

PreflightReply preflightDataset(const PreflightRequest &request)
{
    PreflightReply reply;
    const fs::path path = chosenPath(request.values);
    if (isUnreadSource(path)) {
        reply.errors.append(unreadSourceError(path));
        return reply;
    }
    // Empty classes are Convert's business; here they are only counted.
    auto scan = scanRecent(path, ScanOptions{true, {}}, request.mayBeRecent ? listingAge : std::chrono::seconds(0),
                           request.stop);
    if (!scan.ok()) {
        reply.errors.append(Error(scan.error()).atParameter(QStringLiteral("path")));
        return reply;
    }
    const ImageManifest &manifest = (*scan)->manifest;
    PortFacts facts = factsOf(manifest);
    facts.path = path;
    facts.extra.insert(QStringLiteral("fingerprint"), QString::fromStdString(manifest.fingerprint));
    reply.summary = datasetSummary(facts);
    reply.outputs.insert(QStringLiteral("dataset"), facts);
    return reply;
}

Result<RunReply> runDataset(const RunRequest &request)
{
    const fs::path path = chosenPath(request.values);
    if (isUnreadSource(path))
        return unreadSourceError(path);
    std::error_code unknown;
    if (!fs::exists(path, unknown))
        return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "The data set '%1' does not exist."),
                         {displayPath(path)}, QT_TRANSLATE_NOOP("Error", "Choose an existing folder or file."));
    request.context.log(LogLevel::Info, QStringLiteral("Data set: %1").arg(displayPath(path)));
    TW_TRY(writeDatasetReference(request.outputFolders.value(QStringLiteral("dataset")), path));
    return RunReply{{{QStringLiteral("dataset"), path}}};
}

} // namespace

ComponentType image_dataset()
{
    ComponentType type;
    type.id = QStringLiteral("image-dataset");
    type.named(QT_TRANSLATE_NOOP("Component", "Image Dataset"), QT_TRANSLATE_NOOP("Component", "Data Input"),
               QT_TRANSLATE_NOOP("Component", "Names the pictures to work with: a folder with one "
                                              "folder per class, or an IDX pair."));
    type.output("dataset", QT_TRANSLATE_NOOP("Component", "Dataset"), DataType::AnyDirectory);
    type.parameter(ParameterSpec::path("path", QT_TRANSLATE_NOOP("Parameter", "Path"))
                       .isRequired()
                       .isDirectory()
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "A folder with one folder of pictures per class, a folder of unlabelled "
                                        "pictures, or the images file of an IDX pair (also .gz).")));
    type.parameter(
        ParameterSpec::text("subfolder", QT_TRANSLATE_NOOP("Parameter", "Subfolder"), "")
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "A path inside the folder, so that one folder with train "
                                                     "and val can feed two nodes; empty uses the whole.")));
    type.validate = validateValues;
    type.preflight = preflightDataset;
    type.run = runDataset;
    return type;
}

} // namespace tw::components

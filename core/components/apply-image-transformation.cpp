// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/component/portobjects.h"
#include "core/data/datasetreport.h"
#include "core/data/imagesizes.h"
#include "core/data/materialize.h"

#include <QJsonArray>

#include <thread>

namespace tw::components {

namespace {

bool isForTraining(const ParameterValues &values)
{
    return values.text("mode") == QLatin1String("for_training");
}

bool writesImages(const ParameterValues &values)
{
    return values.boolean("materialize");
}

TransformList keptOperations(const TransformList &transforms, const ParameterValues &values)
{
    return isForTraining(values) ? transforms : forInference(transforms);
}

bool hasErasing(const TransformList &list)
{
    return !list.empty() && list.back().kind == TransformOp::Kind::RandomErasing;
}

QString erasingIsLeftOut()
{
    return QStringLiteral("Random erasing acts after normalisation and cannot be written into pictures: it is left "
                          "out.");
}

PreflightReply preflightApply(const PreflightRequest &request)
{
    PreflightReply reply;
    PortFacts facts = request.inputs.value(QStringLiteral("image_directory"));
    const PortFacts list = request.inputs.value(QStringLiteral("transformation"));
    const QString key = QStringLiteral("transforms");
    facts.extra.remove(QStringLiteral("fingerprint"));
    if (list.extra.contains(key)) {
        auto transforms = transformsFromJson(QJsonArray::fromVariantList(list.extra.value(key).toList()));
        if (!transforms.ok()) {
            reply.errors.append(transforms.error());
            return reply;
        }
        const TransformList kept = keptOperations(*transforms, request.values);
        facts.extra.insert(key, transformsToJson(kept).toVariantList());
        if (writesImages(request.values) && hasErasing(kept))
            reply.warnings.append(erasingIsLeftOut());
    }
    if (writesImages(request.values)) {
        facts.extra.remove(key); // nothing is left to do with the pictures
        setManifestFact(facts, nullptr);
    }
    reply.summary = datasetSummary(facts);
    reply.outputs.insert(QStringLiteral("image_directory"), facts);
    return reply;
}

/// data_report.json beside the manifest; of written pictures it has the counts alone.
Result<void> writeReport(const RunRequest &request, const ManifestPtr &manifest, const fs::path &folder)
{
    TW_ASSIGN(report, DatasetReport::of(manifest, &request.context.stopToken()));
    return writeFileAtomically(folder / "data_report.json", report.toJson({}));
}

Result<RunReply> attachOperations(const RunRequest &request, const ImageManifest &manifest, TransformList kept)
{
    const bool training = isForTraining(request.values);
    ImageManifest attached = manifest;
    attached.transforms = std::move(kept);
    attached.transformsForTraining = training;
    const QString port = QStringLiteral("image_directory");
    const fs::path folder = request.outputFolders.value(port);
    TW_TRY(attached.write(folder));
    request.context.log(LogLevel::Info,
                        QStringLiteral("Attached %1 operations (%2).")
                            .arg(attached.transforms->size())
                            .arg(training ? QStringLiteral("for training") : QStringLiteral("for inference")));
    request.context.result(QStringLiteral("images"), qint64(attached.size()));
    request.context.result(QStringLiteral("operations"), qint64(attached.transforms->size()));
    const ManifestPtr result = std::make_shared<const ImageManifest>(std::move(attached));
    // The pictures are the input's, and so is the report of them.
    const auto known = readFile(request.inputs.value(port).folder / "data_report.json", errors::InvalidDataset);
    TW_TRY(known.ok() ? writeFileAtomically(folder / "data_report.json", *known)
                      : writeReport(request, result, folder));
    return RunReply{{{port, result}}};
}

/// Progress of one of two passes over the images.
std::function<void(std::int64_t, std::int64_t)> progressOf(RunContext &context, const QString &verb)
{
    return [&context, verb](std::int64_t done, std::int64_t total) {
        context.progress(total > 0 ? double(done) / double(total) : -1,
                         QStringLiteral("%1 %2 of %3").arg(verb).arg(done).arg(total));
    };
}

void logSkipped(const MaterializedImages &images, RunContext &context, const ImageManifest &manifest)
{
    for (const auto &[index, reason] : images.skipped)
        context.log(
            LogLevel::Warning,
            QStringLiteral("Left out '%1': %2").arg(QString::fromStdString(manifest.displayName(index)), reason));
}

Result<RunReply> writeImages(const RunRequest &request, const ManifestPtr &manifest, TransformList kept)
{
    RunContext &context = request.context;
    const int workers = std::max(1, int(std::thread::hardware_concurrency()));
    if (hasErasing(kept)) {
        context.log(LogLevel::Warning, erasingIsLeftOut());
        kept.pop_back();
    }
    // A crop that does not fit shall not show after half of the pictures.
    SizeCheck check;
    check.oneSize = false;
    check.workers = workers;
    check.stop = &context.stopToken();
    check.progress = progressOf(context, QStringLiteral("measured"));
    TW_TRY(checkImageSizes(*manifest, kept, check));
    MaterializeOptions options;
    options.transforms = std::move(kept);
    options.workers = workers;
    options.stop = &context.stopToken();
    options.progress = progressOf(context, QStringLiteral("wrote"));
    const QString port = QStringLiteral("image_directory");
    const fs::path folder = request.outputFolders.value(port);
    TW_ASSIGN(images, materializeImages(manifest, folder, options));
    images.manifest.transformsForTraining = isForTraining(request.values);
    TW_TRY(images.manifest.write(folder));
    TW_TRY(writeReport(request, std::make_shared<const ImageManifest>(images.manifest), folder));
    logSkipped(images, context, *manifest);
    context.log(LogLevel::Info,
                QStringLiteral("Wrote %1 pictures. They carry no list of operations: a model trained on them does not "
                               "know these %2, and pictures to be scored must be prepared the same way.")
                    .arg(images.manifest.size())
                    .arg(options.transforms.size()));
    context.result(QStringLiteral("images"), qint64(images.manifest.size()));
    context.result(QStringLiteral("operations"), qint64(options.transforms.size()));
    context.result(QStringLiteral("unreadable"), qint64(images.skipped.size()));
    return RunReply{}; // the folder moves into its place after this: whoever comes next reads it there
}

Result<RunReply> runApply(const RunRequest &request)
{
    TW_ASSIGN(manifest, manifestInput(request, "image_directory"));
    TW_ASSIGN(transforms, transformsInput(request, "transformation"));
    TransformList kept = keptOperations(transforms, request.values);
    return writesImages(request.values) ? writeImages(request, manifest, std::move(kept))
                                        : attachOperations(request, *manifest, std::move(kept));
}

} // namespace

ComponentType apply_image_transformation()
{
    ComponentType type;
    type.id = QStringLiteral("apply-image-transformation");
    type.named(QT_TRANSLATE_NOOP("Component", "Apply Image Transformation"),
               QT_TRANSLATE_NOOP("Component", "Computer Vision"),
               QT_TRANSLATE_NOOP("Component", "Attaches the operations to the pictures; they run while "
                                              "pictures are loaded, so every epoch sees fresh variants."));
    type.input("transformation", QT_TRANSLATE_NOOP("Component", "Transformation"), DataType::TransformationDirectory);
    type.input("image_directory", QT_TRANSLATE_NOOP("Component", "Image directory"), DataType::ImageDirectory);
    type.output("image_directory", QT_TRANSLATE_NOOP("Component", "Image directory"), DataType::ImageDirectory);
    type.parameter(
        ParameterSpec::choice("mode", QT_TRANSLATE_NOOP("Parameter", "Mode"), "",
                              {{QStringLiteral("for_training"), QT_TRANSLATE_NOOP("Parameter", "For training")},
                               {QStringLiteral("for_inference"), QT_TRANSLATE_NOOP("Parameter", "For inference")}})
            .isRequired()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "For inference leaves out every random operation; "
                                                     "use it for validation and test pictures.")));
    type.parameter(
        ParameterSpec::boolean("materialize", QT_TRANSLATE_NOOP("Parameter", "Write pictures"), false)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Writes the transformed pictures as PNG files in class folders, "
                                                     "one variant each, instead of transforming them whenever they "
                                                     "are loaded.")));
    type.preflight = preflightApply;
    type.run = runApply;
    return type;
}

} // namespace tw::components

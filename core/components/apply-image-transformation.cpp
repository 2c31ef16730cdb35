// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/portobjects.h"

#include <QJsonArray>

namespace tw::components {

namespace {

bool isForTraining(const ParameterValues &values)
{
    return values.text("mode") == QLatin1String("for_training");
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
        const TransformList kept = isForTraining(request.values) ? *transforms : forInference(*transforms);
        facts.extra.insert(key, transformsToJson(kept).toVariantList());
    }
    reply.summary = datasetSummary(facts);
    reply.outputs.insert(QStringLiteral("image_directory"), facts);
    return reply;
}

Result<RunReply> runApply(const RunRequest &request)
{
    TW_ASSIGN(manifest, manifestInput(request, "image_directory"));
    TW_ASSIGN(transforms, transformsInput(request, "transformation"));
    const bool training = isForTraining(request.values);
    ImageManifest attached = *manifest;
    attached.transforms = training ? transforms : forInference(transforms);
    attached.transformsForTraining = training;
    const QString port = QStringLiteral("image_directory");
    TW_TRY(attached.write(request.outputFolders.value(port)));
    request.context.log(LogLevel::Info,
                        QStringLiteral("Attached %1 operations (%2).")
                            .arg(attached.transforms->size())
                            .arg(training ? QStringLiteral("for training") : QStringLiteral("for inference")));
    request.context.result(QStringLiteral("images"), qint64(attached.size()));
    request.context.result(QStringLiteral("operations"), qint64(attached.transforms->size()));
    return RunReply{{{port, ManifestPtr(std::make_shared<const ImageManifest>(std::move(attached)))}}};
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
    type.preflight = preflightApply;
    type.run = runApply;
    return type;
}

} // namespace tw::components

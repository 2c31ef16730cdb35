// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/component/portobjects.h"
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"

#include <QJsonValue>

#include <algorithm>

namespace tw::components {

namespace {

constexpr int imagenetClasses = 1000;
constexpr int usualSize = 224;

QList<ParameterChoice> modelChoices()
{
    QList<ParameterChoice> choices;
    for (const char *name : {"resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d",
                             "resnext101_32x8d", "resnext101_64x4d", "wide_resnet50_2", "wide_resnet101_2"})
        choices.append({QString::fromLatin1(name), QString::fromLatin1(name)});
    return choices;
}

bool wantsFile(const ParameterValues &values)
{
    return values.text("weights") == QLatin1String("file");
}

ModelConfig configOf(const ParameterValues &values)
{
    ModelConfig config{values.text("model_name"), {}};
    if (values.boolean("zero_init_residual"))
        config.arguments.insert(QStringLiteral("zero_init_residual"), true);
    return config;
}

QList<Error> validateValues(const ParameterValues &values)
{
    if (!wantsFile(values) || !values.path("weights_file").empty())
        return {};
    return {makeError(errors::NullOrEmpty,
                      QT_TRANSLATE_NOOP("Error", "Weights is 'file', but no weights file is chosen."), {},
                      QT_TRANSLATE_NOOP("Error", "Choose a .pth or .safetensors file, or set Weights to none."))
                .atParameter(QStringLiteral("weights_file"))};
}

/// Everything but the head must be the architecture's own: the head's classes are the file's.
Result<void> checkFile(ModelConfig config, const fs::path &file)
{
    TW_ASSIGN(weights, readWeights(file));
    stripNamePrefix(weights); // as training does, which says so
    const auto head =
        std::find_if(weights.begin(), weights.end(), [](const TensorBlob &blob) { return blob.name == "fc.weight"; });
    const bool named = head != weights.end() && !head->shape.empty();
    config.arguments.insert(QStringLiteral("num_classes"),
                            named ? qint64(head->shape.front()) : qint64(imagenetClasses));
    return checkWeights(config, weights);
}

PreflightReply preflightResnet(const PreflightRequest &request)
{
    PreflightReply reply;
    ModelConfig config = configOf(request.values);
    PortFacts facts;
    facts.extra.insert(QStringLiteral("architecture"), config.architecture);
    facts.extra.insert(QStringLiteral("arguments"), config.arguments.toVariantMap());
    if (wantsFile(request.values)) {
        const auto checked = checkFile(config, request.values.path("weights_file"));
        if (!checked.ok())
            reply.errors.append(Error(checked.error()).atParameter(QStringLiteral("weights_file")));
    }
    config.arguments.insert(QStringLiteral("num_classes"), imagenetClasses);
    const auto summary = summarizeModel(config, 3, usualSize, usualSize);
    if (summary.ok()) {
        reply.summary = modelFigures(summary->parameters, summary->multiplyAdds, summary->width, summary->height);
        facts.extra.insert(QStringLiteral("parameters"), qint64(summary->parameters));
        facts.extra.insert(QStringLiteral("multiply_adds"), qint64(summary->multiplyAdds));
    } else {
        reply.errors.append(Error(summary.error()).atParameter(QStringLiteral("model_name")));
    }
    reply.outputs.insert(QStringLiteral("untrained_model"), facts);
    return reply;
}

Result<RunReply> runResnet(const RunRequest &request)
{
    UntrainedModel model;
    model.config = configOf(request.values);
    if (wantsFile(request.values)) {
        std::error_code failed;
        model.weightsFile = fs::absolute(request.values.path("weights_file"), failed);
        TW_ASSIGN(sum, sha256OfFile(model.weightsFile, errors::InvalidModelDirectory));
        model.weightsSha256 = sum;
        request.context.log(LogLevel::Info, QStringLiteral("Initial weights: %1").arg(displayPath(model.weightsFile)));
    }
    const QString port = QStringLiteral("untrained_model");
    TW_TRY(model.write(request.outputFolders.value(port)));
    request.context.result(QStringLiteral("architecture"), model.config.architecture);
    return RunReply{{{port, model}}};
}

} // namespace

ComponentType resnet()
{
    ComponentType type;
    type.id = QStringLiteral("resnet");
    type.named(QT_TRANSLATE_NOOP("Component", "ResNet"), QT_TRANSLATE_NOOP("Component", "Models"),
               QT_TRANSLATE_NOOP(
                   "Component", "A residual network, with torchvision's names, so that its weights can be exchanged."));
    type.output("untrained_model", QT_TRANSLATE_NOOP("Component", "Untrained model"),
                DataType::UntrainedModelDirectory);
    type.parameter(
        ParameterSpec::choice("model_name", QT_TRANSLATE_NOOP("Parameter", "Model name"), "resnet18", modelChoices())
            .withHelp(
                QT_TRANSLATE_NOOP("Parameter", "The network: deeper and wider ones learn more and take longer.")));
    type.parameter(
        ParameterSpec::choice("weights", QT_TRANSLATE_NOOP("Parameter", "Weights"), "none",
                              {{QStringLiteral("none"), QT_TRANSLATE_NOOP("Parameter", "None")},
                               {QStringLiteral("file"), QT_TRANSLATE_NOOP("Parameter", "File")}})
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Whether training starts from random weights or from those "
                                                     "of a file; a head for other classes is replaced.")));
    type.parameter(ParameterSpec::path("weights_file", QT_TRANSLATE_NOOP("Parameter", "Weights file"))
                       .isAutomatic(QT_TRANSLATE_NOOP("Parameter", "none"))
                       .visibleWhen("weights", {QStringLiteral("file")})
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "A state_dict as .pth or .safetensors, for example one of torchvision's.")));
    type.parameter(
        ParameterSpec::boolean("zero_init_residual", QT_TRANSLATE_NOOP("Parameter", "Zero init residual"), false)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Starts the last normalisation of each block at "
                                                     "zero, so that a block begins as the identity.")));
    type.validate = validateValues;
    type.preflight = preflightResnet;
    type.run = runResnet;
    return type;
}

} // namespace tw::components

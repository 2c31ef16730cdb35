// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/modelcomponent.h"

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/component/portobjects.h"
#include "core/component/pretrainedmodel.h"

namespace tw {

namespace {

constexpr int imagenetClasses = 1000;
constexpr int usualSize = 224, usualChannels = 3;
const QString outputPort = QStringLiteral("untrained_model");

bool wantsFile(const ParameterValues &values)
{
    return values.text("weights") == QLatin1String("file");
}

bool wantsPretrained(const ParameterValues &values)
{
    return values.text("weights") == QLatin1String("pretrained");
}

QList<Error> validateWeights(const ParameterValues &values)
{
    if (!wantsFile(values) || !values.path("weights_file").empty())
        return {};
    return {makeError(errors::NullOrEmpty,
                      QT_TRANSLATE_NOOP("Error", "Weights is 'file', but no weights file is chosen."), {},
                      QT_TRANSLATE_NOOP("Error", "Choose a .pth or .safetensors file, or set Weights to none."))
                .atParameter(QStringLiteral("weights_file"))};
}

PreflightReply preflightModel(const PreflightRequest &request, ModelConfig config, const NetworkFunctions &networks)
{
    PreflightReply reply;
    PortFacts facts = modelFacts(config);
    facts.extra.insert(QStringLiteral("fresh_weights"), request.values.text("weights") == QLatin1String("none"));
    const ModelConfig given = config;
    if (wantsFile(request.values)) {
        const auto checked = networks.checkInitialWeights(config, request.values.path("weights_file"));
        if (!checked.ok())
            reply.errors.append(Error(checked.error()).atParameter(QStringLiteral("weights_file")));
        setPreprocessingFact(facts, preprocessingBeside(request.values.path("weights_file")));
    }
    config.arguments.insert(QStringLiteral("num_classes"), imagenetClasses);
    const auto summary = networks.summarizeModel(config, usualChannels, usualSize, usualSize);
    if (summary.ok())
        reply.summary = addFigures(*summary, facts);
    else
        reply.errors.append(Error(summary.error()).atParameter(QStringLiteral("model_name")));
    if (wantsPretrained(request.values))
        preflightPretrained(given, networks, request.stop, reply, facts);
    reply.outputs.insert(outputPort, facts);
    return reply;
}

Result<RunReply> runModel(const RunRequest &request, const ModelConfig &config)
{
    request.context.result(QStringLiteral("architecture"), config.architecture);
    const fs::path folder = request.outputFolders.value(outputPort);
    if (wantsPretrained(request.values)) {
        TW_TRY(runPretrained(config, folder, request.context));
        return RunReply{};
    }
    const fs::path file = wantsFile(request.values) ? request.values.path("weights_file") : fs::path();
    if (!file.empty())
        request.context.log(LogLevel::Info, QStringLiteral("Initial weights: %1").arg(displayPath(file)));
    TW_TRY(writeUntrainedModel(folder, config, file));
    return RunReply{};
}

void addInputChannels(ComponentType &type)
{
    type.parameter(
        ParameterSpec::choice("input_channels", QT_TRANSLATE_NOOP("Parameter", "Input channels"), "3",
                              {{QStringLiteral("3"), QT_TRANSLATE_NOOP("Parameter", "3 (colour)")},
                               {QStringLiteral("1"), QT_TRANSLATE_NOOP("Parameter", "1 (gray)")}})
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Whether the network sees colour or one channel of brightness; "
                                                     "initial weights for colour are then summed over the channels "
                                                     "of the first convolution.")));
}

} // namespace

void addModelName(ComponentType &type, std::initializer_list<const char *> names)
{
    QList<ParameterChoice> choices;
    for (const char *name : names)
        choices.append({QString::fromLatin1(name), QString::fromLatin1(name)});
    type.parameter(
        ParameterSpec::choice("model_name", QT_TRANSLATE_NOOP("Parameter", "Model name"), *names.begin(), choices)
            .withHelp(
                QT_TRANSLATE_NOOP("Parameter", "The network: deeper and wider ones learn more and take longer.")));
}

void addWeightsParameters(ComponentType &type)
{
    type.parameter(
        ParameterSpec::choice("weights", QT_TRANSLATE_NOOP("Parameter", "Weights"), "none",
                              {{QStringLiteral("none"), QT_TRANSLATE_NOOP("Parameter", "None")},
                               {QStringLiteral("pretrained"), QT_TRANSLATE_NOOP("Parameter", "Pretrained")},
                               {QStringLiteral("file"), QT_TRANSLATE_NOOP("Parameter", "File")}})
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Whether training starts from random weights, from those that "
                                                     "were trained on ImageNet (looked for on this machine, else "
                                                     "downloaded by the run) or from those of a file; a head for "
                                                     "other classes is replaced.")));
    type.parameter(ParameterSpec::path("weights_file", QT_TRANSLATE_NOOP("Parameter", "Weights file"))
                       .isAutomatic(QT_TRANSLATE_NOOP("Parameter", "none"))
                       .visibleWhen("weights", {QStringLiteral("file")})
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "A state_dict as .pth or .safetensors, for example one of torchvision's.")));
}

void finishModelComponent(ComponentType &type, std::function<ModelConfig(const ParameterValues &)> ofFamily,
                          const NetworkFunctions &networks)
{
    addInputChannels(type);
    const auto configOf = [ofFamily = std::move(ofFamily)](const ParameterValues &values) {
        ModelConfig config = ofFamily(values);
        if (const int channels = values.text("input_channels").toInt(); channels != usualChannels)
            config.arguments.insert(QStringLiteral("in_channels"), channels);
        return config;
    };
    type.output("untrained_model", QT_TRANSLATE_NOOP("Component", "Untrained model"),
                DataType::UntrainedModelDirectory);
    type.validate = validateWeights;
    type.preflight = [configOf, networks](const PreflightRequest &request) {
        return preflightModel(request, configOf(request.values), networks);
    };
    type.run = [configOf](const RunRequest &request) { return runModel(request, configOf(request.values)); };
}

PortFacts modelFacts(const ModelConfig &config)
{
    PortFacts facts;
    facts.extra.insert(QStringLiteral("architecture"), config.architecture);
    facts.extra.insert(QStringLiteral("arguments"), config.arguments.toVariantMap());
    return facts;
}

QString addFigures(const ModelSummary &summary, PortFacts &facts)
{
    facts.extra.insert(QStringLiteral("parameters"), qint64(summary.parameters));
    facts.extra.insert(QStringLiteral("multiply_adds"), qint64(summary.multiplyAdds));
    return modelFigures(summary.parameters, summary.multiplyAdds, summary.width, summary.height);
}

std::optional<WeightsPreprocessing> preprocessingBeside(const fs::path &weightsFile)
{
    if (!isModelDirectory(weightsFile.parent_path()))
        return std::nullopt;
    const Result<ModelInfo> info = readModelInfo(weightsFile.parent_path());
    return info.ok() ? WeightsPreprocessing::of(info->transforms, info->normalization) : std::nullopt;
}

Result<void> writeUntrainedModel(const fs::path &folder, const ModelConfig &config, const fs::path &weightsFile)
{
    UntrainedModel model;
    model.config = config;
    return writeUntrainedModel(folder, std::move(model), weightsFile);
}

Result<void> writeUntrainedModel(const fs::path &folder, UntrainedModel model, const fs::path &weightsFile)
{
    if (weightsFile.empty())
        return model.write(folder);
    model.weightsFile = fs::path("weights") += weightsFile.extension();
    const fs::path copy = folder / model.weightsFile;
    std::error_code failure;
    fs::copy_file(weightsFile, copy, failure);
    if (failure)
        return writeError(copy, failure.value());
    TW_ASSIGN(sum, sha256OfFile(copy, errors::InvalidModelDirectory));
    model.weightsSha256 = sum;
    if (isModelDirectory(weightsFile.parent_path())) {
        TW_ASSIGN(info, readModelInfo(weightsFile.parent_path()));
        model.normalization = info.normalization;
        model.preprocessing = WeightsPreprocessing::of(info.transforms, info.normalization);
    }
    return model.write(folder);
}

} // namespace tw

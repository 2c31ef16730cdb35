// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/portobjects.h"
#include "core/train/architectures.h"

#include <QJsonArray>

namespace tw::components {

namespace {

/// The data decide about the size; without them the figures are those of MNIST's pictures.
constexpr int usualSize = 28;

bool isMlp(const ParameterValues &values)
{
    return values.text("network") == QLatin1String("mlp");
}

ModelConfig configOf(const ParameterValues &values)
{
    ModelConfig config{values.text("network"), {}};
    config.arguments.insert(QStringLiteral("in_channels"), values.text("input_channels").toInt());
    if (!isMlp(values))
        return config;
    QJsonArray sizes;
    for (const qlonglong size : values.integers("hidden_sizes"))
        sizes.append(qint64(size));
    config.arguments.insert(QStringLiteral("hidden_sizes"), sizes);
    config.arguments.insert(QStringLiteral("activation"), values.text("activation"));
    config.arguments.insert(QStringLiteral("dropout"), values.real("dropout"));
    return config;
}

PreflightReply preflightBasicNetwork(const PreflightRequest &request)
{
    const ModelConfig config = configOf(request.values);
    PortFacts facts;
    facts.extra.insert(QStringLiteral("architecture"), config.architecture);
    facts.extra.insert(QStringLiteral("arguments"), config.arguments.toVariantMap());
    facts.extra.insert(QStringLiteral("fresh_weights"), true);
    PreflightReply reply;
    const int channels = request.values.text("input_channels").toInt();
    const auto summary = summarizeModel(config, channels, usualSize, usualSize);
    if (summary.ok()) {
        reply.summary = modelFigures(summary->parameters, summary->multiplyAdds, summary->width, summary->height);
        facts.extra.insert(QStringLiteral("parameters"), qint64(summary->parameters));
        facts.extra.insert(QStringLiteral("multiply_adds"), qint64(summary->multiplyAdds));
    } else {
        reply.errors.append(Error(summary.error()).atParameter(QStringLiteral("network")));
    }
    reply.outputs.insert(QStringLiteral("untrained_model"), facts);
    return reply;
}

Result<RunReply> runBasicNetwork(const RunRequest &request)
{
    UntrainedModel model;
    model.config = configOf(request.values);
    const QString port = QStringLiteral("untrained_model");
    TW_TRY(model.write(request.outputFolders.value(port)));
    request.context.result(QStringLiteral("architecture"), model.config.architecture);
    return RunReply{{{port, model}}};
}

void addMlpParameters(ComponentType &type)
{
    const QStringList mlp{QStringLiteral("mlp")};
    type.parameter(
        ParameterSpec::integers("hidden_sizes", QT_TRANSLATE_NOOP("Parameter", "Hidden sizes"), {10})
            .atLeast(1)
            .atMost(1 << 20)
            .visibleWhen("network", mlp)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Number of units of each hidden layer, from the input on.")));
    type.parameter(ParameterSpec::choice("activation", QT_TRANSLATE_NOOP("Parameter", "Activation"), "relu",
                                         {{QStringLiteral("relu"), QT_TRANSLATE_NOOP("Parameter", "ReLU")},
                                          {QStringLiteral("tanh"), QT_TRANSLATE_NOOP("Parameter", "Tanh")}})
                       .visibleWhen("network", mlp)
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "The function after each hidden layer.")));
    type.parameter(ParameterSpec::real("dropout", QT_TRANSLATE_NOOP("Parameter", "Dropout"), 0.0)
                       .atLeast(0)
                       .below(1)
                       .visibleWhen("network", mlp)
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Share of the hidden units that are switched off at random while training.")));
}

} // namespace

ComponentType basic_network()
{
    ComponentType type;
    type.id = QStringLiteral("basic-network");
    type.named(
        QT_TRANSLATE_NOOP("Component", "Basic Network"), QT_TRANSLATE_NOOP("Component", "Models"),
        QT_TRANSLATE_NOOP("Component", "A small network to learn and try with; its input size comes from the data."));
    type.output("untrained_model", QT_TRANSLATE_NOOP("Component", "Untrained model"),
                DataType::UntrainedModelDirectory);
    type.parameter(
        ParameterSpec::choice("network", QT_TRANSLATE_NOOP("Parameter", "Network"), "small_cnn",
                              {{QStringLiteral("small_cnn"), QT_TRANSLATE_NOOP("Parameter", "Small CNN")},
                               {QStringLiteral("mlp"), QT_TRANSLATE_NOOP("Parameter", "Multilayer perceptron")}})
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Two convolutions and two dense layers, or dense layers only.")));
    addMlpParameters(type);
    type.parameter(
        ParameterSpec::choice("input_channels", QT_TRANSLATE_NOOP("Parameter", "Input channels"), "3",
                              {{QStringLiteral("3"), QT_TRANSLATE_NOOP("Parameter", "3 (colour)")},
                               {QStringLiteral("1"), QT_TRANSLATE_NOOP("Parameter", "1 (gray)")}})
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Whether the network sees colour or one channel of brightness.")));
    type.preflight = preflightBasicNetwork;
    type.run = runBasicNetwork;
    return type;
}

} // namespace tw::components

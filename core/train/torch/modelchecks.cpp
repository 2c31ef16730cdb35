// SPDX-License-Identifier: GPL-3.0-or-later
// A model.json against its network.
#include "core/model/modeljson.h"
#include "core/train/architectures.h"
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/torcherror.h"

namespace tw {

namespace modelchecks {

constexpr int usualSize = 224;
constexpr int usualSmallSize = 28; ///< MNIST's, the default of networks that read one size only

int argument(const ModelConfig &config, const char *key, int fallback)
{
    return config.arguments.value(QLatin1String(key)).toInt(fallback);
}

Result<void> checkFixedInput(const ModelInfo &info, const fs::path &file)
{
    struct Edge
    {
        const char *field, *argument;
        int value, fallback;
    };
    for (const Edge &edge :
         {Edge{"channels", "in_channels", info.channels, 3}, Edge{"height", "height", info.height, usualSmallSize},
          Edge{"width", "width", info.width, usualSmallSize}}) {
        const int needed = argument(info.config, edge.argument, edge.fallback);
        if (edge.value != needed)
            return badField(file, QStringLiteral("input.") + QLatin1String(edge.field), edge.value,
                            QStringLiteral("%1, as arguments.%2 of %3 is")
                                .arg(needed)
                                .arg(QLatin1String(edge.argument), info.config.architecture));
    }
    return {};
}

/// That of the architecture's published weights: shorter edge 256, crop of 224 and ImageNet's figures where nothing
/// else is known of them.
WeightsPreprocessing usualPreprocessing(const QString &)
{
    return {};
}

} // namespace modelchecks

Result<ModelInput> modelInput(const ModelConfig &config)
{
    using namespace modelchecks;
    TW_ASSIGN(architecture, findArchitecture(config.architecture));
    const auto sound = guarded([&] { return makeNetwork(config, TensorPlace::ShapesOnly); });
    if (!sound.ok()) // an argument that is no number, for example
        return sound.error();
    ModelInput input{config, 3, usualSize, usualSize, architecture->fixedInput};
    if (input.fixed) {
        input.channels = argument(config, "in_channels", 3);
        input.height = argument(config, "height", usualSmallSize);
        input.width = argument(config, "width", usualSmallSize);
        input.config = completedConfig(config, *architecture, argument(config, "num_classes", 10), input.channels,
                                       input.height, input.width);
    }
    return input;
}

Result<ModelInfo> usualModelInfo(const ModelConfig &config, std::vector<std::string> classes)
{
    TW_ASSIGN(input, modelInput(config));
    ModelInfo info;
    info.config = input.config;
    info.classes = std::move(classes);
    info.channels = input.channels;
    info.height = input.height;
    info.width = input.width;
    if (input.height != input.width) // no list of operations gives any picture that size
        return info;
    WeightsPreprocessing usual = modelchecks::usualPreprocessing(config.architecture);
    if (input.fixed)
        usual.resize = usual.crop = input.height;
    info.height = info.width = usual.crop;
    info.transforms = usual.transforms();
    info.normalization = usual.normalization();
    return info;
}

Result<void> checkInput(const ModelInfo &info, const Architecture &architecture, const fs::path &file)
{
    if (architecture.fixedInput)
        return modelchecks::checkFixedInput(info, file);
    if (info.channels != 3)
        return badField(file, QStringLiteral("input.channels"), info.channels,
                        QStringLiteral("3, which %1 reads").arg(architecture.name));
    for (const auto &[key, edge] : {std::pair("height", info.height), std::pair("width", info.width)}) {
        if (edge < architecture.minimumSize)
            return badField(file, QStringLiteral("input.") + QLatin1String(key), edge,
                            QStringLiteral("at least %1, the least that %2 reads")
                                .arg(architecture.minimumSize)
                                .arg(architecture.name));
    }
    return {};
}

Result<void> checkModel(const ModelInfo &info, const fs::path &folder)
{
    const fs::path file = folder / "model.json";
    const QStringList known = architectureNames();
    if (!known.contains(info.config.architecture))
        return badField(file, QStringLiteral("architecture"), info.config.architecture,
                        QStringLiteral("one of: ") + known.join(QStringLiteral(", ")));
    return guarded([&]() -> Result<void> {
        TW_ASSIGN(architecture, findArchitecture(info.config.architecture));
        TW_TRY(makeNetwork(info.config, TensorPlace::ShapesOnly));
        return checkInput(info, *architecture, file);
    });
}

} // namespace tw

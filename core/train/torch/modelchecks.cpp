// SPDX-License-Identifier: GPL-3.0-or-later
// A model.json against its network.
#include "core/model/modeljson.h"
#include "core/model/pretrainedweights.h"
#include "core/train/architectures.h"
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/torcherror.h"

namespace tw {

namespace modelchecks {

/// Shorter edge before the crop of `size`, in the usual proportion of 256 to 224.
int resizeFor(int size)
{
    constexpr int usualResize = 256, usualCrop = 224;
    return (size * usualResize + usualCrop / 2) / usualCrop;
}

int argument(const ModelConfig &config, const char *key, int fallback)
{
    return config.arguments.value(QLatin1String(key)).toInt(fallback);
}

/// A figure of `input` that an argument of the network fixes.
struct Figure
{
    const char *field, *argument;
    int value, needed;
};

Result<void> checkFigure(const ModelInfo &info, const Figure &figure, const fs::path &file)
{
    if (figure.value == figure.needed)
        return {};
    return badField(file, QStringLiteral("input.") + QLatin1String(figure.field), figure.value,
                    QStringLiteral("%1, as arguments.%2 of %3 is")
                        .arg(figure.needed)
                        .arg(QLatin1String(figure.argument), info.config.architecture));
}

} // namespace modelchecks

Result<ModelInput> modelInput(const ModelConfig &config)
{
    using namespace modelchecks;
    TW_ASSIGN(architecture, findArchitecture(config.architecture));
    const auto sound = guarded([&] { return makeNetwork(config, TensorPlace::ShapesOnly); });
    if (!sound.ok()) // an argument that is no number, for example
        return sound.error();
    TW_ASSIGN(channels, inputChannels(config));
    ModelInput input{config, channels, architecture->usualSize, architecture->usualSize, architecture->readsOneSize()};
    if (const auto only = onlySize(*architecture, config)) {
        input.height = only->height;
        input.width = only->width;
        input.config = completedConfig(config, *architecture, argument(config, "num_classes", 10), input.channels,
                                       input.height, input.width);
    }
    return input;
}

Result<ModelInfo> usualModelInfo(const ModelConfig &config, std::vector<std::string> classes)
{
    TW_ASSIGN(architecture, findArchitecture(config.architecture));
    TW_ASSIGN(input, modelInput(config));
    ModelInfo info;
    info.config = input.config;
    info.classes = std::move(classes);
    info.channels = input.channels;
    info.height = input.height;
    info.width = input.width;
    if (input.height != input.width) // no list of operations gives any picture that size
        return info;
    const PretrainedWeights *weights =
        architecture->readsOneSize() ? nullptr : pretrainedWeightsOf(input.config.architecture);
    WeightsPreprocessing usual = weights ? weights->preprocessing : WeightsPreprocessing{};
    if (!weights) {
        usual.crop = input.height;
        usual.resize = architecture->fixedInput ? input.height : modelchecks::resizeFor(input.height);
    }
    info.height = info.width = usual.crop;
    info.transforms = usual.transforms();
    info.normalization = usual.normalization();
    return info;
}

Result<void> checkInput(const ModelInfo &info, const Architecture &architecture, const fs::path &file)
{
    using namespace modelchecks;
    TW_ASSIGN(channels, inputChannels(info.config));
    TW_TRY(checkFigure(info, {"channels", "in_channels", info.channels, channels}, file));
    if (const auto only = onlySize(architecture, info.config)) {
        const bool square = architecture.squareInput;
        TW_TRY(checkFigure(info, {"height", square ? "image_size" : "height", info.height, only->height}, file));
        return checkFigure(info, {"width", square ? "image_size" : "width", info.width, only->width}, file);
    }
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

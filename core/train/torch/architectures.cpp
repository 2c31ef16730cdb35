// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/architectures.h"

#include "core/train/torch/architecturelist.h"
#include "core/train/torch/layers.h"
#include "core/train/torch/torcherror.h"
#include "core/train/torch/weights.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>

namespace tw {

namespace architecturesdetail {

Error tooSmall(const ModelConfig &config, int height, int width)
{
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "%1 cannot read images of %2×%3 pixels."),
                     {config.architecture, QString::number(width), QString::number(height)},
                     QT_TRANSLATE_NOOP("Error", "Use larger images or another network."));
}

Error anotherSize(const ModelConfig &config, const OnlySize &only, int height, int width)
{
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "%1 reads images of %2×%3 pixels only, not of %4×%5."),
                     {config.architecture, QString::number(only.width), QString::number(only.height),
                      QString::number(width), QString::number(height)},
                     QT_TRANSLATE_NOOP("Error", "Resize and crop the images to %2×%3 pixels, or use another network."));
}

/// What is not given counts as torchvision's defaults, so that a network without data has figures.
ModelConfig withInput(ModelConfig config, const Architecture &architecture, int channels, int height, int width)
{
    const auto classes = config.arguments.value(QLatin1String("num_classes"));
    if (!architecture.fixedInput)
        return config;
    return completedConfig(std::move(config), architecture, classes.toInt(10), channels, height, width);
}

} // namespace architecturesdetail

QStringList architectureNames()
{
    QStringList names;
    for (const Architecture &architecture : allArchitectures().items())
        names.append(architecture.name);
    return names;
}

Result<ModelSummary> summarizeModel(const ModelConfig &config, int channels, int height, int width)
{
    return guarded([&]() -> Result<ModelSummary> {
        TW_ASSIGN(architecture, findArchitecture(config.architecture));
        const ModelConfig full = architecturesdetail::withInput(config, *architecture, channels, height, width);
        TW_ASSIGN(network, makeNetwork(full, TensorPlace::ShapesOnly));
        TW_ASSIGN(read, inputChannels(full));
        if (const auto only = onlySize(*architecture, full); only && (only->height != height || only->width != width))
            return architecturesdetail::anotherSize(config, *only, height, width);
        if (std::min(height, width) < architecture->minimumSize)
            return architecturesdetail::tooSmall(config, height, width);
        c10::NoGradGuard noGrad;
        network->setTraining(false);
        takeMultiplyAdds();
        network->forward(at::empty({1, read, height, width}, at::TensorOptions().device(at::kMeta)));
        return ModelSummary{network->parameterCount(), takeMultiplyAdds(), height, width, read};
    });
}

Result<StateDict> freshWeights(const ModelConfig &config, std::uint64_t seed)
{
    return guarded([&]() -> Result<StateDict> {
        TW_ASSIGN(network, makeNetwork(config, TensorPlace::Memory));
        at::Generator generator = at::detail::createCPUGenerator(seed);
        network->initialise(generator);
        return exportWeights(*network);
    });
}

Result<StateDict> weightsLayout(const ModelConfig &config)
{
    return guarded([&]() -> Result<StateDict> {
        TW_ASSIGN(network, makeNetwork(config, TensorPlace::ShapesOnly));
        return layoutOf(*network);
    });
}

Result<void> checkWeights(const ModelConfig &config, const StateDict &weights)
{
    return guarded([&]() -> Result<void> {
        TW_ASSIGN(network, makeNetwork(config, TensorPlace::ShapesOnly));
        if (const QString mismatch = weightsMismatch(*network, weights); !mismatch.isEmpty())
            return weightsMismatchError(config.architecture, mismatch);
        return {};
    });
}

} // namespace tw

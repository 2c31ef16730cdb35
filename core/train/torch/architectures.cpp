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
        if (std::min(height, width) < architecture->minimumSize)
            return architecturesdetail::tooSmall(config, height, width);
        c10::NoGradGuard noGrad;
        network->setTraining(false);
        takeMultiplyAdds();
        network->forward(at::empty({1, channels, height, width}, at::TensorOptions().device(at::kMeta)));
        return ModelSummary{network->parameterCount(), takeMultiplyAdds(), height, width, channels};
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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/modelcomponent.h"

namespace tw::components {

static ModelConfig configOf(const ParameterValues &values)
{
    ModelConfig config{values.text("model_name"), {}};
    if (values.boolean("zero_init_residual"))
        config.arguments.insert(QStringLiteral("zero_init_residual"), true);
    return config;
}

ComponentType resnet()
{
    ComponentType type;
    type.id = QStringLiteral("resnet");
    type.named(QT_TRANSLATE_NOOP("Component", "ResNet"), QT_TRANSLATE_NOOP("Component", "Models"),
               QT_TRANSLATE_NOOP(
                   "Component", "A residual network, with torchvision's names, so that its weights can be exchanged."));
    addModelName(type, {"resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d",
                        "resnext101_32x8d", "resnext101_64x4d", "wide_resnet50_2", "wide_resnet101_2"});
    addWeightsParameters(type);
    type.parameter(
        ParameterSpec::boolean("zero_init_residual", QT_TRANSLATE_NOOP("Parameter", "Zero init residual"), false)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Starts the last normalisation of each block at "
                                                     "zero, so that a block begins as the identity.")));
    finishModelComponent(type, configOf, {summarizeModel, checkInitialWeights});
    return type;
}

} // namespace tw::components

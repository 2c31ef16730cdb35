// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/modelcomponent.h"

namespace tw::components {

static ModelConfig configOf(const ParameterValues &values)
{
    ModelConfig config{values.text("model_name"), {}};
    if (values.boolean("memory_efficient"))
        config.arguments.insert(QStringLiteral("memory_efficient"), true);
    return config;
}

ComponentType densenet()
{
    ComponentType type;
    type.id = QStringLiteral("densenet");
    type.named(QT_TRANSLATE_NOOP("Component", "DenseNet"), QT_TRANSLATE_NOOP("Component", "Models"),
               QT_TRANSLATE_NOOP("Component", "A densely connected network, with torchvision's names, so that its "
                                              "weights can be exchanged."));
    addModelName(type, {"densenet121", "densenet161", "densenet169", "densenet201"});
    addWeightsParameters(type);
    type.parameter(
        ParameterSpec::boolean("memory_efficient", QT_TRANSLATE_NOOP("Parameter", "Memory efficient"), false)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Computes parts of each layer a second time in the backward pass "
                                                     "instead of storing them: less memory, longer steps, the same "
                                                     "result.")));
    finishModelComponent(type, configOf, {summarizeModel, checkInitialWeights});
    return type;
}

} // namespace tw::components

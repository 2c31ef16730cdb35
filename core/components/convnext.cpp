// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/modelcomponent.h"

namespace tw::components {

static ModelConfig configOf(const ParameterValues &values)
{
    return {values.text("model_name"), {}};
}

ComponentType convnext()
{
    ComponentType type;
    type.id = QStringLiteral("convnext");
    type.named(QT_TRANSLATE_NOOP("Component", "ConvNeXt"), QT_TRANSLATE_NOOP("Component", "Models"),
               QT_TRANSLATE_NOOP("Component", "A convolutional network built like a transformer, with torchvision's "
                                              "names, so that its weights can be exchanged."));
    addModelName(type, {"convnext_tiny", "convnext_small"});
    addWeightsParameters(type);
    finishModelComponent(type, configOf, {summarizeModel, checkInitialWeights});
    return type;
}

} // namespace tw::components

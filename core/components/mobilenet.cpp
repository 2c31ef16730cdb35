// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/modelcomponent.h"

namespace tw::components {

static ModelConfig configOf(const ParameterValues &values)
{
    return {values.text("model_name"), {}};
}

ComponentType mobilenet()
{
    ComponentType type;
    type.id = QStringLiteral("mobilenet");
    type.named(QT_TRANSLATE_NOOP("Component", "MobileNet"), QT_TRANSLATE_NOOP("Component", "Models"),
               QT_TRANSLATE_NOOP("Component", "A small and fast network for phones and other small devices, with "
                                              "torchvision's names, so that its weights can be exchanged."));
    addModelName(type, {"mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large"});
    addWeightsParameters(type);
    finishModelComponent(type, configOf, {summarizeModel, checkInitialWeights});
    return type;
}

} // namespace tw::components

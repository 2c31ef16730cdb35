// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/modelcomponent.h"

namespace tw::components {

static ModelConfig configOf(const ParameterValues &values)
{
    return {values.text("model_name"), {}};
}

ComponentType vision_transformer()
{
    ComponentType type;
    type.id = QStringLiteral("vision-transformer");
    type.named(QT_TRANSLATE_NOOP("Component", "Vision Transformer"), QT_TRANSLATE_NOOP("Component", "Models"),
               QT_TRANSLATE_NOOP("Component", "Attention between the patches of a picture of 224 × 224 pixels, with "
                                              "torchvision's names, so that its weights can be exchanged."));
    addModelName(type, {"vit_b_16", "vit_b_32"});
    addWeightsParameters(type);
    finishModelComponent(type, configOf, {summarizeModel, checkInitialWeights});
    return type;
}

} // namespace tw::components

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/modelcomponent.h"

namespace tw::components {

static ModelConfig configOf(const ParameterValues &values)
{
    return {values.text("model_name"), {}};
}

/// The larger ones are made for larger pictures than other families.
static Result<ModelSummary> summaryAtUsualSize(const ModelConfig &config, int channels, int, int)
{
    TW_ASSIGN(input, modelInput(config));
    return summarizeModel(config, channels, input.height, input.width);
}

ComponentType efficientnet()
{
    ComponentType type;
    type.id = QStringLiteral("efficientnet");
    type.named(QT_TRANSLATE_NOOP("Component", "EfficientNet"), QT_TRANSLATE_NOOP("Component", "Models"),
               QT_TRANSLATE_NOOP("Component",
                                 "A network scaled in depth, width and picture size together, with torchvision's "
                                 "names; the lite ones, for small devices, have those of their Python package."));
    addModelName(type, {"efficientnet_b0", "efficientnet_b1", "efficientnet_b2", "efficientnet_b3", "efficientnet_b4",
                        "efficientnet_lite0", "efficientnet_lite1", "efficientnet_lite2"});
    addWeightsParameters(type);
    finishModelComponent(type, configOf, {summaryAtUsualSize, checkInitialWeights});
    return type;
}

} // namespace tw::components

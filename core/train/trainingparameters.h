// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace tw {

class ComponentType;

/// The parameters of Train PyTorch Model, in the order of its panel.
void addTrainingParameters(ComponentType &type);

} // namespace tw

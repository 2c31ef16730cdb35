// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/torch/module.h"

namespace tw {

/// Over the last dimension of `features` values; weight, bias; eps 1e-6, torchvision's for ConvNeXt and
/// the vision transformer.
class LayerNorm : public Module
{
public:
    explicit LayerNorm(std::int64_t features);
    /// …×features → the same shape.
    at::Tensor forward(const at::Tensor &input) override;
    void initialise(at::Generator &generator) override;

private:
    at::Tensor m_weight, m_bias;
};

/// The same over the channels of N×C×H×W.
class LayerNorm2d : public LayerNorm
{
public:
    using LayerNorm::LayerNorm;
    at::Tensor forward(const at::Tensor &input) override;
};

/// PyTorch's trunc_normal_ with its bounds ±2, mean 0: the same operations in the same order, so that a
/// seed gives the bits Python gives.
void drawTruncatedNormal(at::Tensor tensor, double deviation, at::Generator &generator);
/// PyTorch's xavier_uniform_ of an O×I matrix.
void drawXavierUniform(at::Tensor tensor, at::Generator &generator);

} // namespace tw

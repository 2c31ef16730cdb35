// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/layernorm.h"

#include <cmath>

namespace tw {

LayerNorm::LayerNorm(std::int64_t features)
    : m_weight(addParameter("weight", {features})), m_bias(addParameter("bias", {features}))
{
}

at::Tensor LayerNorm::forward(const at::Tensor &input)
{
    if (input.is_meta())
        return input;
    return at::layer_norm(input, m_weight.sizes(), m_weight, m_bias, 1e-6);
}

void LayerNorm::initialise(at::Generator &)
{
    c10::NoGradGuard noGrad;
    m_weight.fill_(1);
    m_bias.zero_();
}

at::Tensor LayerNorm2d::forward(const at::Tensor &input)
{
    return LayerNorm::forward(input.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
}

void drawTruncatedNormal(at::Tensor tensor, double deviation, at::Generator &generator)
{
    c10::NoGradGuard noGrad;
    constexpr double bound = 2;
    const auto distribution = [](double x) { return (1 + std::erf(x / std::sqrt(2.0))) / 2; };
    const double low = distribution(-bound / deviation), high = distribution(bound / deviation);
    tensor.uniform_(2 * low - 1, 2 * high - 1, generator);
    tensor.erfinv_().mul_(deviation * std::sqrt(2.0)).clamp_(-bound, bound);
}

void drawXavierUniform(at::Tensor tensor, at::Generator &generator)
{
    c10::NoGradGuard noGrad;
    const double bound = std::sqrt(3.0) * std::sqrt(2.0 / double(tensor.size(0) + tensor.size(1)));
    tensor.uniform_(-bound, bound, generator);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/layers.h"

#include <algorithm>
#include <cmath>

namespace tw {

namespace layersdetail {

thread_local std::int64_t multiplyAdds = 0;

/// torch.nn's default for convolutions and dense layers: kaiming_uniform_(a = √5) for the weight,
/// U(−1/√fan_in, 1/√fan_in) for the bias. The same operations in the same order, so that a seed
/// gives the bits Python gives.
void drawDefault(at::Tensor &weight, at::Tensor &bias, at::Generator &generator)
{
    c10::NoGradGuard noGrad;
    const double fanIn = double(weight.numel() / weight.size(0));
    const double gain = std::sqrt(2.0 / (1.0 + 5.0));
    const double bound = std::sqrt(3.0) * (gain / std::sqrt(fanIn));
    weight.uniform_(-bound, bound, generator);
    if (bias.defined()) {
        const double biasBound = 1.0 / std::sqrt(fanIn);
        bias.uniform_(-biasBound, biasBound, generator);
    }
}

} // namespace layersdetail

std::int64_t takeMultiplyAdds()
{
    return std::exchange(layersdetail::multiplyAdds, 0);
}

void addMultiplyAdds(std::int64_t count)
{
    layersdetail::multiplyAdds += count;
}

Conv2d::Conv2d(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, Options options)
    : m_options(options), m_weight(addParameter("weight", {outputs, inputs / options.groups, kernel, kernel}))
{
    if (options.bias)
        m_bias = addParameter("bias", {outputs});
}

at::Tensor Conv2d::forward(const at::Tensor &input)
{
    if (input.is_meta())
        return shapeOnlyForward(input);
    const auto &o = m_options;
    Padding rows = paddingOf(input.size(2)), columns = paddingOf(input.size(3));
    at::Tensor x = input;
    if (rows.before != rows.after || columns.before != columns.after) {
        x = at::constant_pad_nd(input, {columns.before, columns.after, rows.before, rows.after});
        rows = columns = {0, 0};
    }
    return at::conv2d(x, m_weight, m_bias, {o.stride, o.stride}, {rows.before, columns.before},
                      {o.dilation, o.dilation}, o.groups);
}

Conv2d::Padding Conv2d::paddingOf(std::int64_t size) const
{
    const auto &o = m_options;
    if (!o.same)
        return {o.padding, o.padding};
    const std::int64_t outputs = (size + o.stride - 1) / o.stride;
    const std::int64_t reach = o.dilation * (m_weight.size(2) - 1) + 1;
    const std::int64_t total = std::max<std::int64_t>(0, (outputs - 1) * o.stride + reach - size);
    return {total / 2, total - total / 2};
}

at::Tensor Conv2d::shapeOnlyForward(const at::Tensor &input) const
{
    const auto &o = m_options;
    const std::int64_t reach = o.dilation * (m_weight.size(2) - 1) + 1;
    const auto extent = [&](std::int64_t size) {
        const Padding padding = paddingOf(size);
        const std::int64_t steps = size + padding.before + padding.after - reach;
        TORCH_CHECK(steps >= 0, "the input is too small");
        return steps / o.stride + 1;
    };
    at::Tensor out =
        at::empty({input.size(0), m_weight.size(0), extent(input.size(2)), extent(input.size(3))}, input.options());
    layersdetail::multiplyAdds += out.numel() * (m_weight.numel() / m_weight.size(0));
    return out;
}

void Conv2d::initialise(at::Generator &generator)
{
    layersdetail::drawDefault(m_weight, m_bias, generator);
}

void Conv2d::initialiseKaimingNormal(at::Generator &generator, Fan fan)
{
    c10::NoGradGuard noGrad;
    const std::int64_t connections = m_weight.size(fan == Fan::In ? 1 : 0) * m_weight.size(2) * m_weight.size(3);
    m_weight.normal_(0, std::sqrt(2.0) / std::sqrt(double(connections)), generator);
    if (m_bias.defined())
        m_bias.zero_();
}

Linear::Linear(std::int64_t inputs, std::int64_t outputs)
    : m_weight(addParameter("weight", {outputs, inputs})), m_bias(addParameter("bias", {outputs}))
{
}

at::Tensor Linear::forward(const at::Tensor &input)
{
    if (input.is_meta()) {
        layersdetail::multiplyAdds += input.numel() * m_weight.size(0);
        std::vector<std::int64_t> sizes = input.sizes().vec();
        sizes.back() = m_weight.size(0);
        return at::empty(sizes, input.options());
    }
    return at::linear(input, m_weight, m_bias);
}

void Linear::initialise(at::Generator &generator)
{
    layersdetail::drawDefault(m_weight, m_bias, generator);
}

void Linear::zeroBias()
{
    c10::NoGradGuard noGrad;
    m_bias.zero_();
}

void Linear::initialiseUniform(at::Generator &generator, double bound)
{
    c10::NoGradGuard noGrad;
    m_weight.uniform_(-bound, bound, generator);
    m_bias.zero_();
}

void Linear::initialiseNormal(at::Generator &generator, double deviation)
{
    c10::NoGradGuard noGrad;
    m_weight.normal_(0, deviation, generator);
    m_bias.zero_();
}

BatchNorm2d::BatchNorm2d(std::int64_t features, BatchNormOptions options)
    : m_options(options), m_weight(addParameter("weight", {features})), m_bias(addParameter("bias", {features})),
      m_mean(addBuffer("running_mean", at::zeros({features}, placeOptions()))),
      m_variance(addBuffer("running_var", at::ones({features}, placeOptions()))),
      m_batches(addBuffer("num_batches_tracked", at::zeros({}, placeOptions(at::kLong))))
{
}

at::Tensor BatchNorm2d::forward(const at::Tensor &input)
{
    if (input.is_meta())
        return input;
    if (isTraining())
        m_batches.add_(1);
    return normalised(input, m_mean, m_variance);
}

at::Tensor BatchNorm2d::forwardAgain(const at::Tensor &input)
{
    return isTraining() ? normalised(input, {}, {}) : normalised(input, m_mean, m_variance);
}

at::Tensor BatchNorm2d::normalised(const at::Tensor &input, const at::Tensor &mean, const at::Tensor &variance) const
{
    return at::batch_norm(input, m_weight, m_bias, mean, variance, isTraining(), m_options.momentum, m_options.eps,
                          true);
}

void BatchNorm2d::initialise(at::Generator &)
{
    c10::NoGradGuard noGrad;
    setWeight(1);
    m_bias.zero_();
    m_mean.zero_();
    m_variance.fill_(1);
    m_batches.zero_();
}

void BatchNorm2d::setWeight(double value)
{
    c10::NoGradGuard noGrad;
    m_weight.fill_(value);
}

at::Tensor Sequential::forward(const at::Tensor &input)
{
    at::Tensor x = input;
    for (const auto &child : children())
        x = child.second->forward(x);
    return x;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/blocks.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace tw {

namespace blocks {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// min(max(x, 0), 6) in place. ATen's keeps a copy of the input for the gradient; the result says as much.
class Relu6InPlace : public torch::autograd::Function<Relu6InPlace>
{
public:
    static at::Tensor forward(AutogradContext *context, at::Tensor input)
    {
        input.clamp_(0, 6);
        context->mark_dirty({input});
        context->save_for_backward({input});
        return input;
    }
    static variable_list backward(AutogradContext *context, const variable_list &gradients)
    {
        return {at::hardtanh_backward(gradients[0], context->get_saved_variables()[0], 0, 6)};
    }
};

bool needsGradient(const at::Tensor &input)
{
    return c10::GradMode::is_enabled() && input.requires_grad();
}

at::Tensor relu6(const at::Tensor &input)
{
    at::Tensor x = input;
    return needsGradient(x) ? Relu6InPlace::apply(x) : x.clamp_(0, 6);
}

} // namespace blocks

at::Tensor activated(const at::Tensor &input, Activation activation)
{
    at::Tensor x = input;
    if (x.is_meta())
        return x;
    // Where the gradient needs the input, in place would copy it first.
    const bool keep = blocks::needsGradient(x);
    switch (activation) {
    case Activation::None:
        break;
    case Activation::Relu:
        return x.relu_();
    case Activation::Relu6:
        return blocks::relu6(x);
    case Activation::Silu:
        return keep ? at::silu(x) : at::silu_(x);
    case Activation::Hardswish:
        return keep ? at::hardswish(x) : at::hardswish_(x);
    }
    return x;
}

at::Tensor Dropout::forward(const at::Tensor &input)
{
    return m_rate > 0 && isTraining() ? at::dropout(input, m_rate, true) : input;
}

at::Tensor StochasticDepth::forward(const at::Tensor &input)
{
    if (m_rate <= 0 || !isTraining())
        return input;
    std::vector<std::int64_t> rows(std::size_t(input.dim()), 1);
    rows[0] = input.size(0);
    at::Tensor noise = at::empty(rows, input.options()).bernoulli_(1 - m_rate);
    return input * noise.div_(1 - m_rate);
}

ConvNormActivation::ConvNormActivation(std::int64_t inputs, std::int64_t outputs, const Options &options)
    : m_activation(options.activation),
      m_conv(addChild<Conv2d>(
          "0", inputs, outputs, options.kernel,
          Conv2d::Options{
              .stride = options.stride, .padding = (options.kernel - 1) / 2, .groups = options.groups, .bias = false})),
      m_norm(addChild<BatchNorm2d>("1", outputs, options.norm))
{
}

at::Tensor ConvNormActivation::forward(const at::Tensor &input)
{
    return activated(m_norm.forward(m_conv.forward(input)), m_activation);
}

SqueezeExcitation::SqueezeExcitation(std::int64_t channels, std::int64_t squeezed, Activation activation, Gate gate)
    : m_activation(activation), m_gate(gate), m_fc1(addChild<Conv2d>("fc1", channels, squeezed, 1, Conv2d::Options{})),
      m_fc2(addChild<Conv2d>("fc2", squeezed, channels, 1, Conv2d::Options{}))
{
}

at::Tensor SqueezeExcitation::forward(const at::Tensor &input)
{
    at::Tensor scale = at::adaptive_avg_pool2d(input, {1, 1});
    scale = m_fc2.forward(activated(m_fc1.forward(scale), m_activation));
    if (input.is_meta())
        return input;
    scale = m_gate == Gate::Sigmoid ? scale.sigmoid() : at::hardsigmoid(scale);
    return input * scale;
}

at::Tensor pooled(const at::Tensor &input)
{
    return at::adaptive_avg_pool2d(input, {1, 1}).flatten(1);
}

int roundedChannels(double channels)
{
    constexpr int step = 8;
    const int nearest = std::max(step, int(channels + step / 2.0) / step * step);
    return double(nearest) < 0.9 * channels ? nearest + step : nearest;
}

} // namespace tw

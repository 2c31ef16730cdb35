// SPDX-License-Identifier: GPL-3.0-or-later
// What several families of networks are built of.
#pragma once

#include "core/train/torch/layers.h"

namespace tw {

enum class Activation { None, Relu, Relu6, Silu, Hardswish };

/// The activation of `input`, which the caller gives up: it is overwritten where that saves memory.
at::Tensor activated(const at::Tensor &input, Activation activation);

/// In training each value is 0 with probability `rate`, else divided by 1 − rate; in evaluation the
/// input itself. Draws from torch's generator of the input's device. rate: [0, 1).
class Dropout : public Module
{
public:
    explicit Dropout(double rate) : m_rate(rate) {}
    at::Tensor forward(const at::Tensor &input) override;

private:
    double m_rate;
};

/// Dropout of whole pictures in a residual branch (Huang et al., arXiv:1603.09382), as torchvision's in
/// mode "row": the rows of N×… are dropped each for itself.
class StochasticDepth : public Module
{
public:
    explicit StochasticDepth(double rate) : m_rate(rate) {}
    at::Tensor forward(const at::Tensor &input) override;

private:
    double m_rate;
};

/// Convolution "0", batch norm "1" and activation, as torchvision's Conv2dNormActivation: the padding
/// keeps the size at stride 1, there is no bias.
class ConvNormActivation : public Module
{
public:
    struct Options
    {
        std::int64_t kernel = 1, stride = 1, groups = 1;
        Activation activation = Activation::None;
        BatchNormOptions norm = {};
    };
    ConvNormActivation(std::int64_t inputs, std::int64_t outputs, const Options &options);
    /// N×I×H×W → N×O×⌈H/stride⌉×⌈W/stride⌉.
    at::Tensor forward(const at::Tensor &input) override;

private:
    Activation m_activation;
    Conv2d &m_conv;
    BatchNorm2d &m_norm;
};

/// Channels weighted by what the whole picture shows (Hu et al., arXiv:1709.01507): mean over the
/// picture, "fc1", activation, "fc2", gate.
class SqueezeExcitation : public Module
{
public:
    enum class Gate { Sigmoid, Hardsigmoid };
    SqueezeExcitation(std::int64_t channels, std::int64_t squeezed, Activation activation, Gate gate);
    /// N×C×H×W → the same.
    at::Tensor forward(const at::Tensor &input) override;

private:
    Activation m_activation;
    Gate m_gate;
    Conv2d &m_fc1, &m_fc2;
};

/// Mean over the picture: N×C×H×W → N×C.
at::Tensor pooled(const at::Tensor &input);

/// The multiple of 8 that is nearest to `channels`, at most 10 % less: the widths of a scaled network.
int roundedChannels(double channels);

} // namespace tw

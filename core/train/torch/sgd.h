// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <vector>

namespace tw {

/// Stochastic gradient descent with PyTorch's semantics (torch.optim.SGD, dampening 0): weight decay
/// is added to the gradient, the first momentum buffer is the gradient itself, Nesterov looks ahead.
class Sgd
{
public:
    struct Options
    {
        double momentum = 0.9; ///< 0: plain SGD, nesterov has no effect
        bool nesterov = true;
        double weightDecay = 0;
    };
    Sgd(std::vector<at::Tensor> parameters, Options options);
    /// Drops the gradients; backward() then writes instead of adding.
    void clearGradients();
    void step(double learningRate);

private:
    std::vector<at::Tensor> m_parameters;
    std::vector<at::Tensor> m_momentum;
    Options m_options;
    bool m_first = true;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/sgd.h"

#include <utility>

namespace tw {

Sgd::Sgd(std::vector<at::Tensor> parameters, Options options) : m_parameters(std::move(parameters)), m_options(options)
{
    c10::NoGradGuard noGrad;
    if (m_options.momentum == 0)
        return;
    for (const at::Tensor &parameter : m_parameters)
        m_momentum.push_back(at::empty_like(parameter, parameter.options().requires_grad(false)));
}

void Sgd::clearGradients()
{
    for (at::Tensor &parameter : m_parameters)
        parameter.mutable_grad().reset();
}

void Sgd::step(double learningRate)
{
    c10::NoGradGuard noGrad;
    std::vector<at::Tensor> gradients;
    gradients.reserve(m_parameters.size());
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        // The fused kernel walks plain memory, so the layouts must be equal.
        const at::Tensor &gradient = m_parameters[i].grad();
        gradients.push_back(gradient.strides() == m_parameters[i].strides()
                                ? gradient
                                : at::empty_like(m_parameters[i]).copy_(gradient));
    }
    const bool nesterov = m_options.nesterov && m_options.momentum > 0;
    at::_fused_sgd_(m_parameters, gradients, m_momentum, m_options.weightDecay, m_options.momentum, learningRate, 0.0,
                    nesterov, false, std::exchange(m_first, false));
}

} // namespace tw

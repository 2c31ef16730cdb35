// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/optimizer.h"

#include <algorithm>

namespace tw {

namespace optimizers {

using Tensors = std::vector<at::Tensor>;

Tensors chosen(const Tensors &all, const std::vector<std::size_t> &indices)
{
    Tensors out;
    out.reserve(indices.size());
    for (const std::size_t index : indices)
        out.push_back(all[index]);
    return out;
}

class Sgd final : public Optimizer
{
public:
    Sgd(Tensors parameters, const SgdOptions &options) : Optimizer(std::move(parameters)), m_options(options)
    {
        const c10::NoGradGuard noGrad;
        if (options.momentum > 0)
            m_momentum = zerosLikeParameters();
        m_started.resize(this->parameters().size());
    }
    int statesPerParameter() const override { return m_options.momentum > 0 ? 1 : 0; }

protected:
    void apply(const std::vector<std::size_t> &indices, const Tensors &parameters, const Tensors &gradients,
               double learningRate) override
    {
        const bool nesterov = m_options.nesterov && m_options.momentum > 0;
        // All parameters get their first gradient in the same step in the networks there are; a buffer
        // of zeros gives the same sum as a first one that is the gradient.
        const bool first = std::none_of(indices.begin(), indices.end(), [&](std::size_t i) { return m_started[i]; });
        const Tensors momentum = m_momentum.empty() ? Tensors() : chosen(m_momentum, indices);
        at::_fused_sgd_(parameters, gradients, momentum, m_options.weightDecay, m_options.momentum, learningRate, 0.0,
                        nesterov, false, first);
        for (const std::size_t index : indices)
            m_started[index] = true;
    }

private:
    SgdOptions m_options;
    Tensors m_momentum;
    std::vector<bool> m_started;
};

class Adam final : public Optimizer
{
public:
    Adam(Tensors parameters, const AdamOptions &options) : Optimizer(std::move(parameters)), m_options(options)
    {
        const c10::NoGradGuard noGrad;
        m_first = zerosLikeParameters();
        m_second = zerosLikeParameters();
        for (const at::Tensor &parameter : this->parameters())
            m_steps.push_back(at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false)));
    }
    int statesPerParameter() const override { return 2; }

protected:
    void apply(const std::vector<std::size_t> &indices, const Tensors &parameters, const Tensors &gradients,
               double learningRate) override
    {
        const Tensors first = chosen(m_first, indices), second = chosen(m_second, indices);
        const Tensors steps = chosen(m_steps, indices);
        at::_foreach_add_(steps, 1);
        const auto run = m_options.decoupled ? fusedAdamW : fusedAdam;
        run(parameters, gradients, first, second, steps, learningRate, m_options);
    }

private:
    static void fusedAdam(const Tensors &parameters, const Tensors &gradients, const Tensors &first,
                          const Tensors &second, const Tensors &steps, double rate, const AdamOptions &options)
    {
        at::_fused_adam_(parameters, gradients, first, second, {}, steps, rate, options.beta1, options.beta2,
                         options.weightDecay, options.epsilon, false, false);
    }
    static void fusedAdamW(const Tensors &parameters, const Tensors &gradients, const Tensors &first,
                           const Tensors &second, const Tensors &steps, double rate, const AdamOptions &options)
    {
        at::_fused_adamw_(parameters, gradients, first, second, {}, steps, rate, options.beta1, options.beta2,
                          options.weightDecay, options.epsilon, false, false);
    }

    AdamOptions m_options;
    Tensors m_first, m_second, m_steps;
};

} // namespace optimizers

void Optimizer::clearGradients()
{
    for (at::Tensor &parameter : m_parameters)
        parameter.mutable_grad().reset();
}

std::vector<at::Tensor> Optimizer::gradients() const
{
    std::vector<at::Tensor> found;
    for (const at::Tensor &parameter : m_parameters) {
        if (parameter.grad().defined())
            found.push_back(parameter.grad());
    }
    return found;
}

double Optimizer::clipGradientNorm(double largest)
{
    const c10::NoGradGuard noGrad;
    const std::vector<at::Tensor> all = gradients();
    if (all.empty())
        return 0;
    const double norm = at::stack(at::_foreach_norm(all)).norm().item<double>();
    // The constant is that of torch.nn.utils.clip_grad_norm_.
    if (const double factor = largest / (norm + 1e-6); factor < 1)
        at::_foreach_mul_(all, factor);
    return norm;
}

void Optimizer::scaleGradients(double factor)
{
    const c10::NoGradGuard noGrad;
    if (const std::vector<at::Tensor> all = gradients(); !all.empty())
        at::_foreach_mul_(all, factor);
}

std::vector<at::Tensor> Optimizer::zerosLikeParameters() const
{
    std::vector<at::Tensor> out;
    out.reserve(m_parameters.size());
    for (const at::Tensor &parameter : m_parameters)
        out.push_back(at::zeros_like(parameter, parameter.options().requires_grad(false)));
    return out;
}

void Optimizer::step(double learningRate)
{
    const c10::NoGradGuard noGrad;
    std::vector<std::size_t> indices;
    std::vector<at::Tensor> parameters, gradients;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        const at::Tensor &parameter = m_parameters[i], &gradient = parameter.grad();
        if (!gradient.defined())
            continue;
        indices.push_back(i);
        parameters.push_back(parameter);
        // The fused kernels walk plain memory, so the layouts must be equal.
        gradients.push_back(gradient.strides() == parameter.strides() ? gradient
                                                                      : at::empty_like(parameter).copy_(gradient));
    }
    if (!indices.empty())
        apply(indices, parameters, gradients, learningRate);
}

std::unique_ptr<Optimizer> makeSgd(std::vector<at::Tensor> parameters, const SgdOptions &options)
{
    return std::make_unique<optimizers::Sgd>(std::move(parameters), options);
}

std::unique_ptr<Optimizer> makeAdam(std::vector<at::Tensor> parameters, const AdamOptions &options)
{
    return std::make_unique<optimizers::Adam>(std::move(parameters), options);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <memory>
#include <vector>

namespace tw {

/// Turns gradients into steps, with the semantics of torch.optim. One thread at a time.
class Optimizer
{
public:
    explicit Optimizer(std::vector<at::Tensor> parameters) : m_parameters(std::move(parameters)) {}
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer &) = delete;
    Optimizer &operator=(const Optimizer &) = delete;

    /// Drops the gradients; backward() then writes instead of adding.
    void clearGradients();
    /// torch.nn.utils.clip_grad_norm_ (2-norm over all parameters); the norm before. `largest` > 0.
    double clipGradientNorm(double largest);
    void scaleGradients(double factor);
    /// Parameters without a gradient stay as they are.
    void step(double learningRate);
    /// Tensors that the optimizer keeps for each parameter: 0 to 2 times its size.
    virtual int statesPerParameter() const = 0;

protected:
    /// `indices` are those of the parameters with gradients; both lists run alike.
    virtual void apply(const std::vector<std::size_t> &indices, const std::vector<at::Tensor> &parameters,
                       const std::vector<at::Tensor> &gradients, double learningRate) = 0;
    const std::vector<at::Tensor> &parameters() const { return m_parameters; }
    /// One zero tensor for each parameter, in its layout.
    std::vector<at::Tensor> zerosLikeParameters() const;

private:
    std::vector<at::Tensor> gradients() const;
    std::vector<at::Tensor> m_parameters;
};

struct SgdOptions
{
    double momentum = 0.9; ///< 0: plain SGD, nesterov has no effect
    bool nesterov = true;
    double weightDecay = 0; ///< added to the gradient
};
/// torch.optim.SGD, dampening 0: the first momentum buffer is the gradient itself.
std::unique_ptr<Optimizer> makeSgd(std::vector<at::Tensor> parameters, const SgdOptions &options);

struct AdamOptions
{
    double beta1 = 0.9, beta2 = 0.999;
    double epsilon = 1e-8;
    double weightDecay = 0;
    bool decoupled = false; ///< AdamW: the decay acts on the weights; else it is added to the gradient
};
/// torch.optim.Adam and AdamW, without amsgrad.
std::unique_ptr<Optimizer> makeAdam(std::vector<at::Tensor> parameters, const AdamOptions &options);

} // namespace tw

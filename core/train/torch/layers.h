// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/torch/module.h"

namespace tw {

/// Square kernel; PyTorch's names (weight O×I/groups×K×K, bias O) and default initialisation.
class Conv2d : public Module
{
public:
    struct Options
    {
        std::int64_t stride = 1, padding = 0, groups = 1, dilation = 1;
        bool bias = true;
        /// TensorFlow's padding in place of `padding`: ⌈size / stride⌉ outputs, an odd row or column after.
        bool same = false;
    };
    Conv2d(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, Options options);
    /// N×I×H×W → N×O×H'×W'.
    at::Tensor forward(const at::Tensor &input) override;
    void initialise(at::Generator &generator) override;
    enum class Fan { In, Out };
    /// PyTorch's kaiming_normal_ with the gain of ReLU, √2, over the given fan; a bias is set to 0.
    void initialiseKaimingNormal(at::Generator &generator, Fan fan = Fan::Out);

private:
    struct Padding
    {
        std::int64_t before, after;
    };
    Padding paddingOf(std::int64_t size) const;
    at::Tensor shapeOnlyForward(const at::Tensor &input) const;

    Options m_options;
    at::Tensor m_weight, m_bias;
};

/// weight O×I, bias O; PyTorch's default initialisation.
class Linear : public Module
{
public:
    Linear(std::int64_t inputs, std::int64_t outputs);
    /// …×I → …×O.
    at::Tensor forward(const at::Tensor &input) override;
    void initialise(at::Generator &generator) override;
    void zeroBias();
    /// The weight is drawn from U(−bound, bound); the bias is 0.
    void initialiseUniform(at::Generator &generator, double bound);
    /// The weight is drawn from N(0, deviation²); the bias is 0.
    void initialiseNormal(at::Generator &generator, double deviation);

private:
    at::Tensor m_weight, m_bias;
};

struct BatchNormOptions
{
    double eps = 1e-5, momentum = 0.1; ///< momentum: the share of the new batch in the running statistics
};

/// weight, bias, running_mean, running_var, num_batches_tracked.
class BatchNorm2d : public Module
{
public:
    explicit BatchNorm2d(std::int64_t features, BatchNormOptions options = {});
    at::Tensor forward(const at::Tensor &input) override;
    /// The same values as forward() for a batch that it has seen: the running statistics, which have
    /// taken that batch in, stay as they are.
    at::Tensor forwardAgain(const at::Tensor &input);
    void initialise(at::Generator &generator) override;
    void setWeight(double value);

private:
    at::Tensor normalised(const at::Tensor &input, const at::Tensor &mean, const at::Tensor &variance) const;

    BatchNormOptions m_options;
    at::Tensor m_weight, m_bias, m_mean, m_variance, m_batches;
};

/// Children "0", "1", … one after the other.
class Sequential : public Module
{
public:
    template <typename M, typename... Args> M &append(Args &&...args)
    {
        return addChild<M>(std::to_string(children().size()), std::forward<Args>(args)...);
    }
    bool isEmpty() const { return children().empty(); }
    at::Tensor forward(const at::Tensor &input) override;
};

/// Multiply-adds of the convolutions, dense layers and attentions that ran on shape-only tensors on this
/// thread since the last call.
std::int64_t takeMultiplyAdds();
void addMultiplyAdds(std::int64_t count);

} // namespace tw

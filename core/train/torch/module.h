// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tw {

struct NamedTensor
{
    std::string name; ///< "layer1.0.conv1.weight"
    at::Tensor tensor;
    bool isBuffer = false;
    bool isFrozen = false; ///< a tensor of a part that training leaves alone
};

/// Where constructors put their tensors. Shapes only: tensors without memory, for counting and
/// checking names; a forward pass then computes sizes and counts multiply-adds.
enum class TensorPlace { Memory, ShapesOnly };

/// Sets the place for every layer built on this thread while the object lives.
class TensorPlaceScope
{
public:
    explicit TensorPlaceScope(TensorPlace place);
    ~TensorPlaceScope();
    TensorPlaceScope(const TensorPlaceScope &) = delete;
    TensorPlaceScope &operator=(const TensorPlaceScope &) = delete;

private:
    TensorPlace m_before;
};

/// A named tree of parameters and buffers in PyTorch's state_dict order: a module's own parameters,
/// its own buffers, then its children in the order they were made. (torch::nn::Module would double
/// the compile time of each file, initialise weights twice and cannot be built without memory.)
/// One thread at a time.
class Module
{
public:
    Module() = default;
    virtual ~Module();
    Module(const Module &) = delete;
    Module &operator=(const Module &) = delete;

    virtual at::Tensor forward(const at::Tensor &input) = 0;
    /// Draws fresh weights: own ones, then the children's, in order.
    virtual void initialise(at::Generator &generator);

    std::vector<NamedTensor> stateDict() const;
    std::vector<at::Tensor> parameters() const;
    std::int64_t parameterCount() const;
    /// Those that training moves: all but the frozen ones.
    std::vector<at::Tensor> trainableParameters() const;
    std::int64_t trainableParameterCount() const;
    /// Whether this module behaves as in training: a frozen one never does.
    bool isTraining() const { return m_training && !m_frozen; }
    /// What setTraining() said last, of frozen modules too.
    bool isSetToTraining() const { return m_training; }
    void setTraining(bool training);
    void moveTo(const at::Device &device);
    /// Four-dimensional parameters become channels_last in memory; values and shapes stay.
    void useChannelsLast();
    /// Calls `visit` for this module and all below it, parents first.
    template <typename Visit> void visitAll(const Visit &visit)
    {
        visit(*this);
        for (auto &child : m_children)
            child.second->visitAll(visit);
    }

protected:
    /// Freezes this module and all below it but those whose names begin with `prefix`: from then on they
    /// behave as in evaluation and their parameters get no gradient, so that a pass keeps nothing of them
    /// for the backward pass. `path` is the name of this module with a dot, empty for the whole.
    void freezeAllBut(const std::string &prefix, const std::string &path);
    /// The returned handle shares its data with the registered one for the module's life.
    at::Tensor addParameter(std::string name, at::IntArrayRef shape);
    at::Tensor addBuffer(std::string name, const at::Tensor &value);
    template <typename M, typename... Args> M &addChild(std::string name, Args &&...args)
    {
        auto child = std::make_unique<M>(std::forward<Args>(args)...);
        M &reference = *child;
        m_children.emplace_back(std::move(name), std::move(child));
        return reference;
    }
    const auto &children() const { return m_children; }

private:
    void collect(const std::string &prefix, std::vector<NamedTensor> &out) const;

    std::vector<NamedTensor> m_tensors;
    std::vector<std::pair<std::string, std::unique_ptr<Module>>> m_children;
    bool m_training = true;
    bool m_frozen = false;
};

/// A whole classifier.
class Network : public Module
{
public:
    /// Name prefix of the last layer ("fc."), which is replaced when the number of classes differs.
    virtual std::string headPrefix() const = 0;
    /// Freezes all but the last layer.
    void trainHeadOnly() { freezeAllBut(headPrefix(), {}); }
};

/// Options of a new tensor in the current TensorPlaceScope.
at::TensorOptions placeOptions(at::ScalarType type = at::kFloat);

} // namespace tw

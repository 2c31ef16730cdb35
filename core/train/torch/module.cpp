// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/module.h"

namespace tw {

namespace moduledetail {
thread_local TensorPlace currentPlace = TensorPlace::Memory;

std::int64_t elements(const std::vector<at::Tensor> &tensors)
{
    std::int64_t count = 0;
    for (const at::Tensor &tensor : tensors)
        count += tensor.numel();
    return count;
}
} // namespace moduledetail

TensorPlaceScope::TensorPlaceScope(TensorPlace place) : m_before(std::exchange(moduledetail::currentPlace, place)) {}

TensorPlaceScope::~TensorPlaceScope()
{
    moduledetail::currentPlace = m_before;
}

at::TensorOptions placeOptions(at::ScalarType type)
{
    const bool shapesOnly = moduledetail::currentPlace == TensorPlace::ShapesOnly;
    return at::TensorOptions().dtype(type).device(shapesOnly ? at::kMeta : at::kCPU);
}

Module::~Module() = default;

void Module::initialise(at::Generator &generator)
{
    for (auto &child : m_children)
        child.second->initialise(generator);
}

at::Tensor Module::addParameter(std::string name, at::IntArrayRef shape)
{
    at::Tensor tensor = at::empty(shape, placeOptions());
    tensor.requires_grad_(!tensor.is_meta());
    m_tensors.push_back({std::move(name), tensor, false});
    return tensor;
}

at::Tensor Module::addBuffer(std::string name, const at::Tensor &value)
{
    m_tensors.push_back({std::move(name), value, true});
    return value;
}

void Module::collect(const std::string &prefix, std::vector<NamedTensor> &out) const
{
    for (const bool buffers : {false, true}) {
        for (const NamedTensor &entry : m_tensors) {
            if (entry.isBuffer == buffers)
                out.push_back({prefix + entry.name, entry.tensor, buffers, m_frozen});
        }
    }
    for (const auto &[name, child] : m_children)
        child->collect(prefix + name + '.', out);
}

std::vector<NamedTensor> Module::stateDict() const
{
    std::vector<NamedTensor> out;
    collect({}, out);
    return out;
}

std::vector<at::Tensor> Module::parameters() const
{
    std::vector<at::Tensor> out;
    for (const NamedTensor &entry : stateDict()) {
        if (!entry.isBuffer)
            out.push_back(entry.tensor);
    }
    return out;
}

std::vector<at::Tensor> Module::trainableParameters() const
{
    std::vector<at::Tensor> out;
    for (const NamedTensor &entry : stateDict()) {
        if (!entry.isBuffer && !entry.isFrozen)
            out.push_back(entry.tensor);
    }
    return out;
}

std::int64_t Module::parameterCount() const
{
    return moduledetail::elements(parameters());
}

std::int64_t Module::trainableParameterCount() const
{
    return moduledetail::elements(trainableParameters());
}

void Module::freezeAllBut(const std::string &prefix, const std::string &path)
{
    if (path.compare(0, prefix.size(), prefix) == 0)
        return;
    m_frozen = true;
    for (NamedTensor &entry : m_tensors)
        entry.tensor.requires_grad_(false);
    for (auto &[name, child] : m_children)
        child->freezeAllBut(prefix, path + name + '.');
}

void Module::setTraining(bool training)
{
    visitAll([training](Module &module) { module.m_training = training; });
}

void Module::moveTo(const at::Device &device)
{
    c10::NoGradGuard noGrad;
    for (NamedTensor &entry : stateDict())
        entry.tensor.set_data(entry.tensor.to(device));
}

void Module::useChannelsLast()
{
    c10::NoGradGuard noGrad;
    for (at::Tensor &tensor : parameters()) {
        if (tensor.dim() == 4)
            tensor.set_data(tensor.contiguous(at::MemoryFormat::ChannelsLast));
    }
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/recompute.h"

#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

namespace tw {

namespace recompute {

/// Autocast of one kind of device while the object lives, without the cache of converted weights: what is
/// converted without gradients must not serve the pass with them.
class AutocastScope
{
public:
    AutocastScope(at::DeviceType device, bool enabled, at::ScalarType type)
        : m_device(device), m_enabled(at::autocast::is_autocast_enabled(device)),
          m_type(at::autocast::get_autocast_dtype(device)), m_cache(at::autocast::is_autocast_cache_enabled())
    {
        set(enabled, type, false);
    }
    ~AutocastScope() { set(m_enabled, m_type, m_cache); }
    AutocastScope(const AutocastScope &) = delete;
    AutocastScope &operator=(const AutocastScope &) = delete;

private:
    void set(bool enabled, at::ScalarType type, bool cache) const
    {
        at::autocast::set_autocast_enabled(m_device, enabled);
        at::autocast::set_autocast_dtype(m_device, type);
        at::autocast::set_autocast_cache_enabled(cache);
    }

    at::DeviceType m_device;
    bool m_enabled;
    at::ScalarType m_type;
    bool m_cache;
};

/// What the backward pass needs of the forward pass.
struct Piece : torch::CustomClassHolder
{
    Computation compute;
    std::vector<at::Tensor> parameters;
    std::size_t inputs = 0;
    at::DeviceType device = at::kCPU;
    bool autocast = false;
    at::ScalarType autocastType = at::kFloat;
};

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Recomputation : public torch::autograd::Function<Recomputation>
{
public:
    /// `tensors`: the inputs, then the parameters. Runs without gradients.
    static at::Tensor forward(AutogradContext *context, const c10::intrusive_ptr<Piece> &piece, at::TensorList tensors)
    {
        variable_list inputs(tensors.begin(), tensors.begin() + std::ptrdiff_t(piece->inputs));
        context->saved_data["piece"] = c10::IValue::make_capsule(piece);
        const AutocastScope autocast(piece->device, piece->autocast, piece->autocastType);
        at::Tensor result = piece->compute(inputs, false);
        context->save_for_backward(std::move(inputs));
        return result;
    }

    static variable_list backward(AutogradContext *context, const variable_list &gradients)
    {
        const auto piece = c10::static_intrusive_pointer_cast<Piece>(context->saved_data["piece"].toCapsule());
        variable_list leaves = context->get_saved_variables();
        for (std::size_t i = 0; i < leaves.size(); ++i)
            leaves[i] = leaves[i].detach().requires_grad_(context->needs_input_grad(i));
        const at::Tensor result = computeAgain(*piece, leaves);
        leaves.insert(leaves.end(), piece->parameters.begin(), piece->parameters.end());
        variable_list wanted;
        for (const at::Tensor &leaf : leaves) {
            if (leaf.requires_grad())
                wanted.push_back(leaf);
        }
        return spread(torch::autograd::grad({result}, wanted, gradients, std::nullopt, false, true), leaves);
    }

private:
    static at::Tensor computeAgain(const Piece &piece, const variable_list &leaves)
    {
        const AutocastScope autocast(piece.device, piece.autocast, piece.autocastType);
        const at::AutoGradMode withGradients(true);
        return piece.compute(leaves, true);
    }
    /// One entry for each argument of forward(): the piece has none, as have leaves without gradient.
    static variable_list spread(const variable_list &found, const variable_list &leaves)
    {
        variable_list out(1);
        std::size_t next = 0;
        for (const at::Tensor &leaf : leaves)
            out.push_back(leaf.requires_grad() ? found[next++] : at::Tensor());
        return out;
    }
};

bool anyNeedsGradient(const std::vector<at::Tensor> &tensors)
{
    return std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor &tensor) { return tensor.requires_grad(); });
}

} // namespace recompute

at::Tensor recomputed(Computation compute, const std::vector<at::Tensor> &inputs,
                      const std::vector<at::Tensor> &parameters)
{
    using namespace recompute;
    if (!c10::GradMode::is_enabled() || (!anyNeedsGradient(inputs) && !anyNeedsGradient(parameters)))
        return compute(inputs, false);
    auto piece = c10::make_intrusive<Piece>();
    piece->compute = std::move(compute);
    piece->parameters = parameters;
    piece->inputs = inputs.size();
    piece->device = inputs.front().device().type();
    piece->autocast = at::autocast::is_autocast_enabled(piece->device);
    piece->autocastType = at::autocast::get_autocast_dtype(piece->device);
    std::vector<at::Tensor> tensors = inputs;
    tensors.insert(tensors.end(), parameters.begin(), parameters.end());
    return Recomputation::apply(piece, at::TensorList(tensors));
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/evaluation.h"

namespace tw {

namespace evaluationdetail {

class EvaluationMode
{
public:
    explicit EvaluationMode(Module &network) : m_network(network), m_before(network.isSetToTraining())
    {
        network.setTraining(false);
    }
    ~EvaluationMode() { m_network.setTraining(m_before); }
    EvaluationMode(const EvaluationMode &) = delete;
    EvaluationMode &operator=(const EvaluationMode &) = delete;

private:
    Module &m_network;
    bool m_before;
};

Score evaluateBatch(Module &network, const BatchPtr &batch, const at::Device &device)
{
    const at::Tensor logits = network.forward(inputTensor(batch, device));
    const double loss = at::cross_entropy_loss(logits, labelTensor(batch, device)).item<double>();
    return scoreLogits(logits, *batch, loss);
}

} // namespace evaluationdetail

at::Tensor inputTensor(const BatchPtr &batch, const at::Device &device)
{
    const std::int64_t n = batch->count, c = batch->channels, h = batch->height, w = batch->width;
    const std::vector<std::int64_t> strides = batch->order == MemoryOrder::ChannelsLast
                                                  ? std::vector<std::int64_t>{h * w * c, 1, w * c, c}
                                                  : std::vector<std::int64_t>{c * h * w, h * w, w, 1};
    const at::Tensor host = at::from_blob(
        batch->data, {n, c, h, w}, strides, [batch](void *) {}, at::TensorOptions().dtype(at::kFloat));
    return device.is_cpu() ? host : host.to(device);
}

at::Tensor labelTensor(const BatchPtr &batch, const at::Device &device)
{
    auto *labels = const_cast<std::int64_t *>(batch->labels.data()); // only read
    const at::Tensor host = at::from_blob(
        labels, {std::int64_t(batch->labels.size())}, [batch](void *) {}, at::TensorOptions().dtype(at::kLong));
    return device.is_cpu() ? host : host.to(device);
}

Score scoreLogits(const at::Tensor &logits, const Batch &batch, double meanLoss)
{
    const at::Tensor host = logits.detach().to(at::kCPU, at::kFloat).contiguous();
    const std::span<const float> values(host.const_data_ptr<float>(), std::size_t(host.numel()));
    return scoreBatch(values, batch.labels, meanLoss);
}

Result<std::optional<Score>> evaluate(Module &network, BatchLoader &loader, const at::Device &device,
                                      const StopToken *stop, const std::function<bool(const Score &)> &poll)
{
    const evaluationdetail::EvaluationMode mode(network);
    const c10::InferenceMode inference;
    Score total;
    while (poll(total)) {
        TW_ASSIGN(batch, loader.next(stop));
        if (!batch)
            return std::optional<Score>(total);
        if ((*batch)->count > 0)
            total.add(evaluationdetail::evaluateBatch(network, *batch, device));
    }
    return std::optional<Score>();
}

} // namespace tw

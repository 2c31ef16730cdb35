// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/memorycheck.h"

#include "core/train/memorylimit.h"
#include "core/train/torch/trainingrun.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <atomic>

namespace tw {

namespace memorycheck {

/// Hears of every allocation of tensors on this thread (autograd's on a CPU included).
class Meter final : public c10::MemoryReportingInfoBase
{
public:
    void reportMemoryUsage(void *, std::int64_t bytes, std::size_t, std::size_t, c10::Device) override
    {
        const std::int64_t now = m_now.fetch_add(bytes) + bytes;
        std::int64_t peak = m_peak.load();
        while (now > peak && !m_peak.compare_exchange_weak(peak, now)) {
        }
    }
    bool memoryProfilingEnabled() const override { return true; }
    std::int64_t peak() const { return m_peak.load(); }

private:
    std::atomic<std::int64_t> m_now{0}, m_peak{0};
};

/// Keeps what a pass in training mode changes.
class Unchanged
{
public:
    explicit Unchanged(Network &network) : m_network(network), m_generator(at::detail::getDefaultCPUGenerator())
    {
        const std::lock_guard lock(m_generator.mutex());
        m_state = m_generator.get_state();
        for (const NamedTensor &entry : network.stateDict()) {
            if (entry.isBuffer)
                m_buffers.emplace_back(entry.tensor, entry.tensor.clone());
        }
    }
    ~Unchanged()
    {
        const c10::NoGradGuard noGrad;
        for (auto &[buffer, before] : m_buffers)
            buffer.copy_(before);
        for (at::Tensor &parameter : m_network.parameters())
            parameter.mutable_grad().reset();
        const std::lock_guard lock(m_generator.mutex());
        m_generator.set_state(m_state);
    }
    Unchanged(const Unchanged &) = delete;
    Unchanged &operator=(const Unchanged &) = delete;

private:
    Network &m_network;
    at::Generator m_generator;
    at::Tensor m_state;
    std::vector<std::pair<at::Tensor, at::Tensor>> m_buffers;
};

std::int64_t bytesOf(const std::vector<at::Tensor> &tensors)
{
    std::int64_t bytes = 0;
    for (const at::Tensor &tensor : tensors)
        bytes += std::int64_t(tensor.nbytes());
    return bytes;
}

double megabytes(std::int64_t bytes)
{
    return double(bytes) * 1e-6;
}

Error tooLittle(int batchSize, std::int64_t needed, std::int64_t available, std::int64_t largest)
{
    const char *hint = largest > 0
                           ? QT_TRANSLATE_NOOP("Error", "The largest batch_size that fits is %4; smaller images "
                                                        "or a smaller network need less, too.")
                           : QT_TRANSLATE_NOOP("Error", "Not even one image fits: use smaller images or a "
                                                        "smaller network, or close other programs.");
    return makeError(errors::ModuleOutOfMemory,
                     QT_TRANSLATE_NOOP("Error", "Training with batch_size %1 needs about %2 MB more memory; of the "
                                                "%3 MB that are free at most 90 % are taken."),
                     {QString::number(batchSize), QString::number(megabytes(needed), 'f', 0),
                      QString::number(megabytes(available), 'f', 0), QString::number(largest)},
                     hint)
        .atParameter(QStringLiteral("batch_size"));
}

} // namespace memorycheck

std::int64_t measureActivations(Network &network, std::int64_t images, std::int64_t channels, std::int64_t height,
                                std::int64_t width, bool channelsLast)
{
    const memorycheck::Unchanged unchanged(network);
    const auto meter = std::make_shared<memorycheck::Meter>();
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, meter);
    network.setTraining(true);
    at::Tensor input = at::zeros({images, channels, height, width});
    if (channelsLast)
        input = input.contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor labels = at::zeros({images}, at::TensorOptions().dtype(at::kLong));
    at::cross_entropy_loss(network.forward(input), labels).backward();
    return meter->peak();
}

Result<void> TrainingRun::checkWeightsMemory()
{
    if (!m_device->is_cpu())
        return {};
    TW_ASSIGN(shapes, makeNetwork(m_info.config, TensorPlace::ShapesOnly));
    if (m_spec.trainableLayers == QLatin1String("head"))
        shapes->trainHeadOnly();
    const double weights = double(shapes->parameterCount()) * double(sizeof(float));
    const double trained = double(shapes->trainableParameterCount()) * double(sizeof(float));
    // Weights, the kept copy while another takes its place; of what is trained gradients and optimizer states.
    const int states = m_spec.optimizer != QLatin1String("sgd") ? 2 : m_spec.momentum > 0 ? 1 : 0;
    const double needed = weights * 3 + trained * (1 + states), available = double(availableMemoryBytes());
    if (needed <= 0.9 * available)
        return {};
    return makeError(errors::ModuleOutOfMemory,
                     QT_TRANSLATE_NOOP("Error",
                                       "%1 has %2 parameters: weights, gradients and optimizer need about %3 MB "
                                       "of memory; of the %4 MB that are free at most 90 % are taken."),
                     {m_architecture->name, QString::number(shapes->parameterCount()),
                      QString::number(needed * 1e-6, 'f', 0), QString::number(available * 1e-6, 'f', 0)},
                     QT_TRANSLATE_NOOP("Error", "Use a smaller network, or close other programs."));
}

Result<void> TrainingRun::checkMemory()
{
    if (!m_device->is_cpu())
        return {}; // the card's allocator says by itself when it is full
    const std::int64_t available = availableMemoryBytes();
    const auto measure = [&](std::int64_t images) {
        return measureActivations(*m_network, images, m_info.channels, m_info.height, m_info.width,
                                  m_architecture->channelsLast);
    };
    const std::int64_t one = measure(1), two = measure(2);
    const std::int64_t weights = memorycheck::bytesOf(m_network->parameters());
    const std::int64_t trained = memorycheck::bytesOf(m_network->trainableParameters());
    const std::int64_t image =
        std::int64_t(m_info.channels) * m_info.height * m_info.width * std::int64_t(sizeof(float));
    StepMemory memory;
    // Optimizer states, and the kept weights twice while one copy takes the place of another.
    memory.fixed = std::max<std::int64_t>(0, 2 * one - two) + trained * m_optimizer->statesPerParameter() + weights * 2;
    memory.perImage =
        std::max<std::int64_t>(image, two - one) + image * (1 + std::max(1, m_spec.numWorkers) * m_spec.prefetch);
    m_stepBytes = memory.needed(m_spec.batchSize);
    if (double(memory.needed(m_spec.batchSize)) <= 0.9 * double(available))
        return {};
    return memorycheck::tooLittle(m_spec.batchSize, memory.needed(m_spec.batchSize), available,
                                  memory.largestBatch(available));
}

} // namespace tw

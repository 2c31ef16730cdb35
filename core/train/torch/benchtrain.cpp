// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/bench.h"

#include "core/train/devices.h"
#include "core/train/processusage.h"
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/optimizer.h"
#include "core/train/torch/torcherror.h"
#include "core/train/torch/torchthreads.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <chrono>

namespace tw {

namespace benchtrain {

/// Lower precision for the operations that bear it, on the CPU.
class Autocast
{
public:
    explicit Autocast(bool enabled) : m_before(at::autocast::is_autocast_enabled(at::kCPU))
    {
        at::autocast::set_autocast_enabled(at::kCPU, enabled);
        at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
        at::autocast::increment_nesting();
    }
    ~Autocast()
    {
        if (at::autocast::decrement_nesting() == 0)
            at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(at::kCPU, m_before);
    }
    Autocast(const Autocast &) = delete;
    Autocast &operator=(const Autocast &) = delete;

private:
    bool m_before;
};

struct Setting
{
    std::unique_ptr<Network> network;
    std::unique_ptr<Optimizer> optimizer;
    at::Tensor input, labels;
    bool lowPrecision = false;
};

Result<Setting> prepare(const BenchTrainOptions &options)
{
    TW_ASSIGN(architecture, findArchitecture(options.model));
    const int channels = architecture->fixedInput ? 1 : 3;
    ModelConfig config{options.model, {}};
    if (architecture->squareInput)
        config.arguments.insert(QStringLiteral("image_size"), options.imageSize);
    config = completedConfig(config, *architecture, options.classes, channels, options.imageSize, options.imageSize);
    TW_ASSIGN(network, makeNetwork(config, TensorPlace::Memory));
    at::Generator generator = at::detail::createCPUGenerator(0);
    network->initialise(generator);
    Setting setting;
    setting.input = at::randn({options.batch, channels, options.imageSize, options.imageSize}, generator);
    setting.labels = at::randint(0, options.classes, {options.batch}, generator, at::TensorOptions().dtype(at::kLong));
    if (architecture->channelsLast) {
        network->useChannelsLast();
        setting.input = setting.input.contiguous(at::MemoryFormat::ChannelsLast);
    }
    setting.optimizer = makeSgd(network->parameters(), {0.9, false, 1e-4});
    setting.network = std::move(network);
    setting.lowPrecision = options.precision == QLatin1String("bf16");
    return setting;
}

double step(Setting &setting)
{
    setting.optimizer->clearGradients();
    at::Tensor logits;
    {
        const Autocast autocast(setting.lowPrecision);
        logits = setting.network->forward(setting.input);
    }
    const at::Tensor loss = at::cross_entropy_loss(logits.to(at::kFloat), setting.labels);
    loss.backward();
    setting.optimizer->step(0.01);
    return loss.item<double>();
}

double median(std::vector<double> values)
{
    const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Result<void> checkOptions(const BenchTrainOptions &options)
{
    if (options.precision != QLatin1String("fp32") && options.precision != QLatin1String("bf16"))
        return makeError(errors::NotInRangeValue, QT_TRANSLATE_NOOP("Error", "precision is “%1”."), {options.precision},
                         QT_TRANSLATE_NOOP("Error", "Use fp32 or bf16."));
    const std::initializer_list<std::pair<const char *, int>> counts{{"batch", options.batch},
                                                                     {"steps", options.steps},
                                                                     {"classes", options.classes},
                                                                     {"image-size", options.imageSize}};
    for (const auto &[name, value] : counts) {
        if (value < 1)
            return makeError(errors::GreaterThan, QT_TRANSLATE_NOOP("Error", "%1 is %2; it must be greater than 0."),
                             {QLatin1String(name), QString::number(value)});
    }
    return {};
}

Result<BenchTrainReport> measure(const BenchTrainOptions &options, const StopToken *stop)
{
    using Clock = std::chrono::steady_clock;
    constexpr int warmupSteps = 3;
    TW_ASSIGN(setting, prepare(options));
    BenchTrainReport report;
    std::vector<double> seconds;
    for (int i = 0; i < warmupSteps + options.steps; ++i) {
        if (stop && stop->cancel.load(std::memory_order_relaxed))
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The measurement was canceled."));
        const auto start = Clock::now();
        step(setting);
        if (i == 0)
            report.firstStepSeconds = secondsSinceProcessStart();
        if (i >= warmupSteps)
            seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    const double typical = median(seconds);
    report.stepMs = typical * 1e3;
    report.imagesPerSecond = options.batch / typical;
    report.peakRssMb = peakResidentMegabytes();
    return report;
}

} // namespace benchtrain

Result<BenchTrainReport> benchTrain(const BenchTrainOptions &options, const StopToken *stop)
{
    openCudaLibrary();
    TW_TRY(benchtrain::checkOptions(options));
    return guarded([&]() -> Result<BenchTrainReport> {
        useTorchThreads(options.threads);
        return benchtrain::measure(options, stop);
    });
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/predictor.h"

#include "core/base/paths.h"
#include "core/train/devices.h"
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/evaluation.h"
#include "core/train/torch/torcherror.h"
#include "core/train/torch/torchthreads.h"
#include "core/train/torch/weights.h"

#include <algorithm>

namespace tw {

struct Predictor::Private
{
    Result<void> checkSize(const Batch &batch) const;

    ModelInfo info;
    const Architecture *architecture = nullptr;
    std::unique_ptr<Network> network;
    at::Device device{at::kCPU};
    int threads = 0;
};

Predictor::Predictor() : d(std::make_unique<Private>()) {}

Predictor::~Predictor() = default;

Result<std::unique_ptr<Predictor>> Predictor::load(const fs::path &modelFolder, const QString &device, int threads)
{
    openCudaLibrary();
    TW_TRY(resolveDevice(device)); // before large files are read
    return guarded([&]() -> Result<std::unique_ptr<Predictor>> {
        TW_ASSIGN(info, readModelInfo(modelFolder));
        TW_ASSIGN(architecture, findArchitecture(info.config.architecture));
        TW_TRY(checkInput(info, *architecture, modelFolder / "model.json"));
        TW_TRY(checkPictureChannels(info.config));
        TW_ASSIGN(weights, readModelWeights(modelFolder));
        return create(info, weights, displayPath(modelFolder), device, threads);
    });
}

Result<std::unique_ptr<Predictor>> Predictor::create(const ModelInfo &info, const StateDict &weights,
                                                     const QString &what, const QString &device, int threads)
{
    openCudaLibrary();
    return guarded([&]() -> Result<std::unique_ptr<Predictor>> {
        TW_ASSIGN(deviceId, resolveDevice(device));
        TW_ASSIGN(architecture, findArchitecture(info.config.architecture));
        TW_ASSIGN(network, makeNetwork(info.config, TensorPlace::Memory));
        TW_TRY(importWeights(*network, weights, what));
        network->setTraining(false);
        if (architecture->channelsLast)
            network->useChannelsLast();
        std::unique_ptr<Predictor> predictor(new Predictor);
        predictor->d->device = at::Device(deviceId.toStdString());
        network->moveTo(predictor->d->device);
        predictor->d->info = info;
        predictor->d->architecture = architecture;
        predictor->d->network = std::move(network);
        predictor->d->threads = threads;
        return predictor;
    });
}

/// Without operations that fix it, the size is the picture's own.
Result<void> Predictor::Private::checkSize(const Batch &batch) const
{
    const bool oneSize = architecture->readsOneSize();
    const bool fits = oneSize ? batch.height == info.height && batch.width == info.width
                              : std::min(batch.height, batch.width) >= architecture->minimumSize;
    if (fits)
        return {};
    const int width = oneSize ? info.width : architecture->minimumSize;
    const int height = oneSize ? info.height : architecture->minimumSize;
    return makeError(errors::InvalidImage,
                     oneSize ? QT_TRANSLATE_NOOP("Error", "A picture comes to the network with %1×%2 pixels, but %3 "
                                                          "reads %4×%5 only.")
                             : QT_TRANSLATE_NOOP("Error", "A picture comes to the network with %1×%2 pixels, but %3 "
                                                          "reads %4×%5 or more."),
                     {QString::number(batch.width), QString::number(batch.height), architecture->name,
                      QString::number(width), QString::number(height)},
                     QT_TRANSLATE_NOOP("Error", "The model resizes nothing: give it pictures of that size."));
}

const ModelInfo &Predictor::info() const
{
    return d->info;
}

Result<std::vector<float>> Predictor::logits(const Batch &batch)
{
    return guarded([&]() -> Result<std::vector<float>> {
        TW_TRY(d->checkSize(batch));
        const c10::InferenceMode inference;
        useTorchThreads(d->threads);
        const BatchPtr view(&batch, [](const Batch *) {}); // the caller's batch outlives this call
        const at::Tensor logits =
            d->network->forward(inputTensor(view, d->device)).to(at::kCPU, at::kFloat).contiguous();
        const float *values = logits.const_data_ptr<float>();
        return std::vector<float>(values, values + logits.numel());
    });
}

} // namespace tw

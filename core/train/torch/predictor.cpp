// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/predictor.h"

#include "core/base/paths.h"
#include "core/train/devices.h"
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/evaluation.h"
#include "core/train/torch/torcherror.h"
#include "core/train/torch/torchthreads.h"
#include "core/train/torch/weights.h"

namespace tw {

struct Predictor::Private
{
    ModelInfo info;
    std::unique_ptr<Network> network;
    at::Device device{at::kCPU};
    int threads = 0;
};

Predictor::Predictor() : d(std::make_unique<Private>()) {}

Predictor::~Predictor() = default;

Result<std::unique_ptr<Predictor>> Predictor::load(const fs::path &modelFolder, const QString &device, int threads)
{
    openCudaLibrary();
    return guarded([&]() -> Result<std::unique_ptr<Predictor>> {
        TW_ASSIGN(deviceId, resolveDevice(device));
        TW_ASSIGN(info, readModelInfo(modelFolder));
        TW_ASSIGN(weights, readModelWeights(modelFolder));
        TW_ASSIGN(architecture, findArchitecture(info.config.architecture));
        TW_ASSIGN(network, makeNetwork(info.config, TensorPlace::Memory));
        TW_TRY(importWeights(*network, weights, displayPath(modelFolder)));
        network->setTraining(false);
        if (architecture->channelsLast)
            network->useChannelsLast();
        std::unique_ptr<Predictor> predictor(new Predictor);
        predictor->d->device = at::Device(deviceId.toStdString());
        network->moveTo(predictor->d->device);
        predictor->d->info = std::move(info);
        predictor->d->network = std::move(network);
        predictor->d->threads = threads;
        return predictor;
    });
}

const ModelInfo &Predictor::info() const
{
    return d->info;
}

Result<std::vector<float>> Predictor::logits(const Batch &batch)
{
    return guarded([&]() -> Result<std::vector<float>> {
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

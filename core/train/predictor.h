// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/batchloader.h"
#include "core/model/modeldirectory.h"

#include <memory>

namespace tw {

/// A model in evaluation mode. One thread at a time.
class Predictor
{
public:
    /// `device`: auto | cpu | cuda:N. InvalidModelDirectoryError, CheckpointMismatchError, DeviceUnavailableError.
    static Result<std::unique_ptr<Predictor>> load(const fs::path &modelFolder, const QString &device, int threads = 0);
    /// The network of `info` with these weights; `what` names them in messages. The errors of load().
    static Result<std::unique_ptr<Predictor>> create(const ModelInfo &info, const StateDict &weights,
                                                     const QString &what, const QString &device, int threads = 0);
    ~Predictor();
    const ModelInfo &info() const;
    /// Logits N×classes, row-major float32.
    Result<std::vector<float>> logits(const Batch &batch);

private:
    Predictor();
    struct Private;
    std::unique_ptr<Private> d;
};

/// Stable softmax of one row, in double.
std::vector<double> softmax(std::span<const float> logits);

} // namespace tw

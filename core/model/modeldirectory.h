// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/data/batchloader.h"
#include "core/data/transforms.h"
#include "core/model/statedict.h"

#include <QJsonObject>

#include <string>
#include <vector>

namespace tw {

/// Architecture and constructor arguments: "resnet18", {"num_classes": 7}; small_cnn and mlp also
/// have "in_channels", "height", "width", …
struct ModelConfig
{
    QString architecture;
    QJsonObject arguments;
};

/// untrained_model.json: architecture without the number of classes, and optional initial weights.
struct UntrainedModel
{
    ModelConfig config;
    fs::path weightsFile; ///< empty: none
    QByteArray weightsSha256;
    Result<void> write(const fs::path &folder) const;
    static Result<UntrainedModel> read(const fs::path &folder);
};

/// Everything of a trained model but the weights' bytes (model.json, contracts.md).
struct ModelInfo
{
    ModelConfig config;
    std::vector<std::string> classes;
    int channels = 3, height = 224, width = 224;
    TransformList transforms; ///< the inference list that Score runs
    Normalization normalization;
    QJsonObject training; ///< figures of the run: epochs, best_val_top1, …
    QJsonObject provenance;
};

/// Files copied or written beside the weights.
struct ModelDirectoryExtras
{
    fs::path metricsFile; ///< metrics.jsonl of the node
    QByteArray pipeline;  ///< pipeline.json
};

/// Writes model.json, weights.pth, weights.safetensors, labels.txt, score.py, metrics.jsonl and
/// pipeline.json into `folder` (an existing, private folder that the caller renames when whole).
Result<void> writeModelDirectory(const fs::path &folder, const ModelInfo &info, const StateDict &weights,
                                 const ModelDirectoryExtras &extras);
/// model.json only. InvalidModelDirectoryError naming the key and its value.
Result<ModelInfo> readModelInfo(const fs::path &folder);
/// weights.safetensors or weights.pth, hash checked against model.json.
Result<StateDict> readModelWeights(const fs::path &folder);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/data/batchloader.h"
#include "core/data/transforms.h"
#include "core/model/statedict.h"
#include "core/model/weightspreprocessing.h"

#include <QJsonObject>
#include <QStringList>

#include <optional>
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
    fs::path weightsFile; ///< empty: none; relative: beside untrained_model.json
    QByteArray weightsSha256;
    std::optional<Normalization> normalization; ///< what the weights were trained with, where it is known
    /// How pictures were prepared for the weights, where it is known; `normalization` wins over its
    /// mean and deviation.
    std::optional<WeightsPreprocessing> preprocessing;
    Result<void> write(const fs::path &folder) const;
    /// A relative weightsFile comes out below `folder`. InvalidModelDirectoryError naming key and value.
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
/// Whether `folder` is a folder with a model.json.
bool isModelDirectory(const fs::path &folder);
/// model.json only, every field checked by itself and against the others (checkModel() in
/// core/train/architectures.h checks it against the network). InvalidModelDirectoryError naming file,
/// key, value and what it must be.
Result<ModelInfo> readModelInfo(const fs::path &folder);
/// The weights file that readModelWeights() reads: weights.safetensors, else weights.pth.
Result<fs::path> modelWeightsFile(const fs::path &folder);
/// Its tensors, the hash checked against model.json. InvalidModelDirectoryError. With `others`, what
/// checkModelHashes() says of the other weights file.
Result<StateDict> readModelWeights(const fs::path &folder, QStringList *others = nullptr);
/// A sentence for each weights file whose SHA-256 is another than model.json states, or that it states
/// and the folder lacks while the other one is there.
Result<QStringList> checkModelHashes(const fs::path &folder);
/// Copies the files of a model directory (those that are there) into the folder `to`, which exists.
/// Copies, not links: a later change of the source in place must not reach them.
/// FailedToWriteOutputsError.
Result<void> copyModelDirectory(const fs::path &from, const fs::path &to);

} // namespace tw

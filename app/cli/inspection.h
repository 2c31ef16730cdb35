// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/modeldirectory.h"
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

/// What `inspect` found at a path.
struct Inspection
{
    StateDict weights;
    WeightsReport report;
    std::optional<ModelInfo> info; ///< of a model directory
    QJsonObject description;       ///< its model.json
    ModelGuess guess;              ///< of a weights file: the network that it fits, or the nearest
    /// Of a model directory or of a recognised file; else empty.
    QString architecture() const;
};
/// A model directory or a weights file. The errors of their readers.
Result<Inspection> inspectPath(const fs::path &path);

struct Layer
{
    std::string name; ///< of the module; empty: tensors without one
    std::int64_t parameters = 0;
};
/// Modules in the order of their first parameter; running statistics are no parameters.
std::vector<Layer> layersOf(const StateDict &weights);
std::int64_t parametersOf(const std::vector<Layer> &layers);

/// One object and a line end. `values`: sum, first and last element of each tensor too; `path`: the member
/// of that name, where it is not empty.
QByteArray inspectionJson(const Inspection &found, bool values, const QString &path);
/// For people; control characters of names are shown as \xNN.
QByteArray inspectionText(const Inspection &found);

} // namespace tw::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/inspection.h"

#include "core/base/json.h"

namespace tw::cli {

namespace {

Result<Inspection> inspectDirectory(const fs::path &folder)
{
    Inspection result;
    TW_ASSIGN(info, readModelInfo(folder));
    TW_TRY(checkModel(info, folder));
    TW_ASSIGN(hashWarnings, checkModelHashes(folder));
    TW_ASSIGN(file, modelWeightsFile(folder));
    TW_ASSIGN(weights, readWeights(file, &result.report));
    TW_ASSIGN(description, readJsonObject(folder / "model.json", errors::InvalidModelDirectory));
    if (const auto fits = checkWeights(info.config, weights); !fits.ok())
        result.report.warnings += fits.error().sentence();
    result.report.warnings += hashWarnings;
    result.report.extras.clear();
    result.report.format = QStringLiteral("trainwright-model");
    result.weights = std::move(weights);
    result.info = std::move(info);
    result.description = description;
    return result;
}

bool isBuffer(const std::string &name)
{
    for (const char *buffer : {"running_mean", "running_var", "num_batches_tracked"}) {
        if (name == buffer || name.ends_with('.' + std::string(buffer)))
            return true;
    }
    return false;
}

} // namespace

QString Inspection::architecture() const
{
    if (info)
        return info->config.architecture;
    return guess.model ? guess.model->config.architecture : QString();
}

Result<Inspection> inspectPath(const fs::path &path)
{
    std::error_code unknown;
    if (fs::is_directory(path, unknown))
        return inspectDirectory(path);
    Inspection result;
    TW_ASSIGN(weights, readWeights(path, &result.report));
    TW_ASSIGN(guess, guessModel(weights, displayPath(path)));
    result.weights = std::move(weights);
    result.guess = std::move(guess);
    return result;
}

std::vector<Layer> layersOf(const StateDict &weights)
{
    std::vector<Layer> layers;
    for (const TensorBlob &tensor : weights) {
        if (isBuffer(tensor.name))
            continue;
        const std::size_t dot = tensor.name.rfind('.');
        const std::string name = dot == std::string::npos ? std::string() : tensor.name.substr(0, dot);
        if (layers.empty() || layers.back().name != name)
            layers.push_back({name, 0});
        layers.back().parameters += tensor.elements();
    }
    return layers;
}

std::int64_t parametersOf(const std::vector<Layer> &layers)
{
    std::int64_t total = 0;
    for (const Layer &layer : layers)
        total += layer.parameters;
    return total;
}

} // namespace tw::cli

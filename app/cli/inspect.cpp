// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/model/modeldirectory.h"
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace tw::cli {

namespace {

template <typename T> T load(const std::byte *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// IEEE 754 binary16.
double fromHalf(std::uint16_t bits)
{
    const int exponent = (bits >> 10) & 31;
    const double fraction = double(bits & 1023) / 1024;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    return exponent == 0 ? sign * std::ldexp(fraction, -14) : sign * std::ldexp(1 + fraction, exponent - 15);
}

double valueAt(const TensorBlob &tensor, std::int64_t index)
{
    const std::byte *at = tensor.data + std::size_t(index) * elementBytes(tensor.type);
    switch (tensor.type) {
    case ElementType::F32:
        return double(load<float>(at));
    case ElementType::F64:
        return load<double>(at);
    case ElementType::F16:
        return fromHalf(load<std::uint16_t>(at));
    case ElementType::BF16:
        return double(std::bit_cast<float>(std::uint32_t(load<std::uint16_t>(at)) << 16));
    case ElementType::I64:
        return double(load<std::int64_t>(at));
    case ElementType::I32:
        return load<std::int32_t>(at);
    case ElementType::I16:
        return load<std::int16_t>(at);
    case ElementType::I8:
        return load<std::int8_t>(at);
    case ElementType::U8:
    case ElementType::Bool:
        return load<std::uint8_t>(at);
    }
    return 0;
}

QByteArray shapeJson(const TensorBlob &tensor)
{
    QByteArray text;
    for (const std::int64_t size : tensor.shape)
        text += (text.isEmpty() ? "" : ",") + QByteArray::number(qint64(size));
    return '[' + text + ']';
}

QByteArray tensorJson(const TensorBlob &tensor, bool values)
{
    QByteArray line = jsonObjectLine({{"name", jsonString(QString::fromStdString(tensor.name))},
                                      {"shape", shapeJson(tensor)},
                                      {"dtype", '"' + QByteArray(elementTypeName(tensor.type)) + '"'}});
    const std::int64_t count = tensor.elements();
    if (!values)
        return line;
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i)
        sum += valueAt(tensor, i);
    const auto number = [&](std::int64_t index) {
        return count > 0 ? jsonNumber(valueAt(tensor, index)) : QByteArray("null");
    };
    return line.chopped(1) + ",\"sum\":" + jsonNumber(sum) + ",\"first\":" + number(0)
           + ",\"last\":" + number(count - 1) + '}';
}

QByteArray stringsJson(const QStringList &texts)
{
    QByteArray list;
    for (const QString &text : texts)
        list += (list.isEmpty() ? "" : ",") + jsonString(text);
    return '[' + list + ']';
}

struct Inspected
{
    StateDict weights;
    WeightsReport report;
    std::optional<ModelInfo> info; ///< of a model directory
    QJsonObject description;       ///< its model.json
};

Result<Inspected> lookIntoDirectory(const fs::path &folder)
{
    Inspected result;
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

Result<Inspected> look(const fs::path &path)
{
    std::error_code unknown;
    if (fs::is_directory(path, unknown))
        return lookIntoDirectory(path);
    Inspected result;
    TW_ASSIGN(weights, readWeights(path, &result.report));
    result.weights = std::move(weights);
    return result;
}

struct Layer
{
    std::string name; ///< of the module; empty: tensors without one
    std::int64_t parameters = 0;
};

bool isBuffer(const std::string &name)
{
    for (const char *buffer : {"running_mean", "running_var", "num_batches_tracked"}) {
        if (name == buffer || name.ends_with('.' + std::string(buffer)))
            return true;
    }
    return false;
}

/// Modules in the order of their first parameter; running statistics are no parameters.
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

std::int64_t totalOf(const std::vector<Layer> &layers)
{
    std::int64_t total = 0;
    for (const Layer &layer : layers)
        total += layer.parameters;
    return total;
}

QByteArray layersJson(const std::vector<Layer> &layers)
{
    QByteArray list;
    for (const Layer &layer : layers)
        list += (list.isEmpty() ? "" : ",")
                + jsonObjectLine({{"name", jsonString(QString::fromStdString(layer.name))},
                                  {"parameters", QByteArray::number(qint64(layer.parameters))}})
                      .trimmed();
    return '[' + list + ']';
}

/// The members that only a model directory has, with a comma before each.
QByteArray modelMembers(const Inspected &found)
{
    QByteArray members;
    for (const char *key : {"arguments", "classes", "input", "weights", "training", "provenance"})
        members += QByteArray(",\"") + key + "\":" + jsonCompact(found.description.value(QLatin1String(key)));
    return members;
}

QByteArray asJson(const Inspected &found, bool values)
{
    QByteArray tensors;
    for (const TensorBlob &tensor : found.weights)
        tensors += (tensors.isEmpty() ? "" : ",") + tensorJson(tensor, values);
    const std::vector<Layer> layers = layersOf(found.weights);
    const QByteArray line =
        jsonObjectLine({{"format", jsonString(found.report.format)},
                        {"architecture", found.info ? jsonString(found.info->config.architecture) : QByteArray("null")},
                        {"tensors", '[' + tensors + ']'},
                        {"extras", stringsJson(found.report.extras)},
                        {"warnings", stringsJson(found.report.warnings)},
                        {"parameters", QByteArray::number(qint64(totalOf(layers)))},
                        {"layers", layersJson(layers)}})
            .trimmed();
    return line.chopped(1) + (found.info ? modelMembers(found) : QByteArray()) + "}\n";
}

QByteArray figuresText(const char *label, const QJsonObject &figures)
{
    QByteArray text;
    for (auto it = figures.begin(); it != figures.end(); ++it)
        text += (text.isEmpty() ? QByteArray() : QByteArray(", ")) + it.key().toUtf8() + ' ' + jsonCompact(it.value());
    return text.isEmpty() ? QByteArray() : QByteArray(label) + text + '\n';
}

QByteArray modelText(const Inspected &found)
{
    const ModelInfo &info = *found.info;
    QByteArray text = "classes (" + QByteArray::number(qint64(info.classes.size())) + "): ";
    for (std::size_t i = 0; i < info.classes.size(); ++i)
        text += (i ? ", " : "") + QByteArray::fromStdString(info.classes[i]);
    const QJsonObject input = found.description.value(QLatin1String("input")).toObject();
    text += "\ninput: " + QByteArray::number(info.channels) + " x " + QByteArray::number(info.height) + " x "
            + QByteArray::number(info.width) + ", mean " + jsonCompact(input.value(QLatin1String("mean"))) + ", std "
            + jsonCompact(input.value(QLatin1String("std")))
            + "\ntransforms: " + jsonCompact(input.value(QLatin1String("transforms"))) + '\n';
    return text + figuresText("arguments: ", info.config.arguments) + figuresText("training: ", info.training);
}

QByteArray tensorsText(const StateDict &weights)
{
    QByteArray text;
    std::int64_t total = 0;
    for (const TensorBlob &tensor : weights) {
        total += tensor.elements();
        text += QByteArray::number(qint64(tensor.elements())).rightJustified(12) + "  "
                + QByteArray(elementTypeName(tensor.type)).leftJustified(5) + QByteArray::fromStdString(tensor.name)
                + ' ' + shapeJson(tensor) + '\n';
    }
    return text + QByteArray::number(qint64(total)).rightJustified(12) + "  values in "
           + QByteArray::number(qint64(weights.size())) + " tensors\n";
}

QByteArray layersText(const std::vector<Layer> &layers)
{
    QByteArray text = "parameters by layer:\n";
    for (const Layer &layer : layers)
        text += QByteArray::number(qint64(layer.parameters)).rightJustified(12) + "  "
                + (layer.name.empty() ? QByteArray("(no layer)") : QByteArray::fromStdString(layer.name)) + '\n';
    return text + QByteArray::number(qint64(totalOf(layers))).rightJustified(12) + "  parameters\n";
}

QByteArray asText(const Inspected &found)
{
    QByteArray text = found.report.format.toUtf8()
                      + (found.info ? ", " + found.info->config.architecture.toUtf8() : QByteArray()) + '\n';
    if (found.info)
        text += modelText(found);
    text += tensorsText(found.weights) + layersText(layersOf(found.weights));
    for (const QString &extra : found.report.extras)
        text += "beside the weights: " + extra.toUtf8() + '\n';
    for (const QString &warning : found.report.warnings)
        text += "warning: " + warning.toUtf8() + '\n';
    return text;
}

int run(const Arguments &arguments)
{
    const auto found = look(pathFromBytes(arguments.words().first()));
    if (!found.ok()) {
        printError(found.error());
        return exitFailed;
    }
    writeOut(arguments.has("json") ? asJson(*found, arguments.has("values")) : asText(*found));
    return exitDone;
}

} // namespace

Command inspectCommand()
{
    return {"inspect",
            "MODEL_OR_FILE",
            "Shows a model directory or the tensors of a weights file.",
            {{"values", nullptr, "add sum, first and last value (with --json)"}, {"json", nullptr, "print JSON"}},
            1,
            1,
            run};
}

} // namespace tw::cli

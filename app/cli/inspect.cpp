// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/model/modeldirectory.h"
#include "core/model/weightsfile.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

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
    QString architecture;
};

Result<Inspected> look(const fs::path &path)
{
    Inspected result;
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) {
        TW_ASSIGN(weights, readWeights(path, &result.report));
        result.weights = std::move(weights);
        return result;
    }
    TW_ASSIGN(info, readModelInfo(path));
    TW_ASSIGN(weights, readModelWeights(path));
    result.weights = std::move(weights);
    result.architecture = info.config.architecture;
    result.report.format = QStringLiteral("trainwright-model");
    return result;
}

QByteArray asJson(const Inspected &found, bool values)
{
    QByteArray tensors;
    for (const TensorBlob &tensor : found.weights)
        tensors += (tensors.isEmpty() ? "" : ",") + tensorJson(tensor, values);
    return jsonObjectLine(
               {{"format", jsonString(found.report.format)},
                {"architecture", found.architecture.isEmpty() ? QByteArray("null") : jsonString(found.architecture)},
                {"tensors", '[' + tensors + ']'},
                {"extras", stringsJson(found.report.extras)},
                {"warnings", stringsJson(found.report.warnings)}})
           + '\n';
}

QByteArray asText(const Inspected &found)
{
    QByteArray text = found.report.format.toUtf8()
                      + (found.architecture.isEmpty() ? QByteArray() : ", " + found.architecture.toUtf8()) + '\n';
    std::int64_t total = 0;
    for (const TensorBlob &tensor : found.weights) {
        total += tensor.elements();
        text += QByteArray::number(qint64(tensor.elements())).rightJustified(12) + "  "
                + QByteArray(elementTypeName(tensor.type)).leftJustified(5) + QByteArray::fromStdString(tensor.name)
                + ' ' + shapeJson(tensor) + '\n';
    }
    text += QByteArray::number(qint64(total)).rightJustified(12) + "  values in "
            + QByteArray::number(qint64(found.weights.size())) + " tensors\n";
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
            "Lists the tensors of a model directory or a weights file.",
            {{"values", nullptr, "add sum, first and last value (with --json)"}, {"json", nullptr, "print JSON"}},
            1,
            1,
            run};
}

} // namespace tw::cli

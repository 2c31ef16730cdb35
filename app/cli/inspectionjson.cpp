// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/inspection.h"
#include "core/base/json.h"
#include "core/model/mappedfile.h"

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

double valueAt(const std::byte *at, ElementType type)
{
    switch (type) {
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

/// In the order of the elements, so that the sum is the same on every machine.
double sumOf(const TensorBlob &tensor)
{
    double sum = 0;
    const std::size_t size = elementBytes(tensor.type);
    forEachPiece({tensor.data, tensor.bytes}, tensor.mapped, [&](std::span<const std::byte> piece) {
        for (std::size_t at = 0; at < piece.size(); at += size)
            sum += valueAt(piece.data() + at, tensor.type);
        return true;
    });
    return sum;
}

QByteArray tensorJson(const TensorBlob &tensor, bool values)
{
    const QByteArray line = jsonObjectLine({{"name", jsonString(QString::fromStdString(tensor.name))},
                                            {"shape", shapeJson(tensor)},
                                            {"dtype", '"' + QByteArray(elementTypeName(tensor.type)) + '"'}});
    if (!values)
        return line;
    const auto number = [&](std::size_t at) {
        return tensor.bytes > 0 ? jsonNumber(valueAt(tensor.data + at, tensor.type)) : QByteArray("null");
    };
    return line.chopped(1) + ",\"sum\":" + jsonNumber(sumOf(tensor)) + ",\"first\":" + number(0)
           + ",\"last\":" + number(tensor.bytes - elementBytes(tensor.type)) + '}';
}

QByteArray joined(const QList<QByteArray> &items)
{
    return '[' + items.join(',') + ']';
}

QByteArray stringsJson(const QStringList &texts)
{
    QList<QByteArray> list;
    for (const QString &text : texts)
        list += jsonString(text);
    return joined(list);
}

QByteArray layersJson(const std::vector<Layer> &layers)
{
    QList<QByteArray> list;
    for (const Layer &layer : layers)
        list += jsonObjectLine({{"name", jsonString(QString::fromStdString(layer.name))},
                                {"parameters", QByteArray::number(qint64(layer.parameters))}})
                    .trimmed();
    return joined(list);
}

/// The members that only a model directory has, with a comma before each.
QByteArray modelMembers(const Inspection &found)
{
    QByteArray members;
    for (const char *key : {"arguments", "classes", "input", "weights", "training", "provenance"})
        members += QByteArray(",\"") + key + "\":" + jsonCompact(found.description.value(QLatin1String(key)));
    return members;
}

/// Those of a weights file: where its tensors lie and whose they are.
QByteArray fileMembers(const Inspection &found)
{
    QByteArray members;
    const auto add = [&members](const char *key, const QByteArray &json) {
        members += QByteArray(",\"") + key + "\":" + json;
    };
    if (!found.report.weightsUnder.isEmpty())
        add("weights_under", jsonString(found.report.weightsUnder));
    if (found.guess.model) {
        add("arguments", jsonCompact(found.guess.model->config.arguments));
        add("notes", stringsJson(found.guess.model->initial.notes));
    }
    if (!found.guess.nearest.isEmpty())
        add("nearest", jsonObjectLine({{"architecture", jsonString(found.guess.nearest)},
                                       {"differences", jsonString(found.guess.differences)}})
                           .trimmed());
    if (!found.report.classes.empty()) {
        QStringList classes;
        for (const std::string &name : found.report.classes)
            classes += QString::fromStdString(name);
        add("classes", stringsJson(classes));
    }
    return members;
}

} // namespace

QByteArray inspectionJson(const Inspection &found, bool values, const QString &path)
{
    QList<QByteArray> tensors;
    for (const TensorBlob &tensor : found.weights)
        tensors += tensorJson(tensor, values);
    const std::vector<Layer> layers = layersOf(found.weights);
    const QString architecture = found.architecture();
    const QByteArray line =
        jsonObjectLine({{"format", jsonString(found.report.format)},
                        {"architecture", architecture.isEmpty() ? QByteArray("null") : jsonString(architecture)},
                        {"tensors", joined(tensors)},
                        {"extras", stringsJson(found.report.extras)},
                        {"warnings", stringsJson(found.report.warnings)},
                        {"parameters", QByteArray::number(qint64(parametersOf(layers)))},
                        {"layers", layersJson(layers)}})
            .trimmed();
    const QByteArray begin = path.isEmpty() ? QByteArray("{") : "{\"path\":" + jsonString(path) + ',';
    return begin + line.sliced(1).chopped(1) + (found.info ? modelMembers(found) : fileMembers(found)) + "}\n";
}

} // namespace tw::cli

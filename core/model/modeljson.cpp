// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/modeljson.h"

#include "core/base/json.h"

#include <QJsonArray>

#include <array>
#include <charconv>

namespace tw {

namespace {

/// Shortest text that reads back to the same float: 0.485, not 0.48500001430511475.
QByteArray floatNumber(float value)
{
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return QByteArray(text.data(), end - text.data());
}

QByteArray sizeOfFirst(const TransformList &list, TransformOp::Kind kind)
{
    for (const TransformOp &op : list) {
        if (op.kind == kind)
            return QByteArray::number(op.size);
    }
    return "null";
}

QByteArray inputJson(const ModelInfo &info)
{
    return jsonObjectLine(
        {{"channels", QByteArray::number(info.channels)},
         {"height", QByteArray::number(info.height)},
         {"width", QByteArray::number(info.width)},
         {"resize", sizeOfFirst(info.transforms, TransformOp::Kind::Resize)},
         {"crop", sizeOfFirst(info.transforms, TransformOp::Kind::CenterCrop)},
         {"interpolation", jsonString(QLatin1String(interpolationId(firstInterpolation(info.transforms))))},
         {"mean", floatListJson(info.normalization.mean, info.channels, 0)},
         {"std", floatListJson(info.normalization.std, info.channels, 1)},
         {"transforms", jsonCompact(transformsToJson(info.transforms))}});
}

QByteArray hashOrNull(const QByteArray &hash)
{
    return hash.isEmpty() ? QByteArray("null") : jsonString(QString::fromLatin1(hash));
}

/// A class name's bytes: a text where they are UTF-8, else percent-encoded (as paths are).
QByteArray classesJson(const std::vector<std::string> &classes)
{
    QJsonArray names;
    for (const std::string &name : classes)
        names += pathToJson(fs::path(name));
    return jsonCompact(names);
}

} // namespace

Interpolation firstInterpolation(const TransformList &list)
{
    for (const TransformOp &op : list) {
        if (op.kind == TransformOp::Kind::Resize)
            return op.interpolation;
    }
    return Interpolation::Bilinear;
}

QByteArray floatListJson(const std::array<float, 3> &values, int count, float further)
{
    QByteArray out = "[";
    for (int i = 0; i < count; ++i)
        out += (i == 0 ? QByteArray() : QByteArray(","))
               + floatNumber(i < 3 ? values[static_cast<std::size_t>(i)] : further);
    return out + "]";
}

QByteArray modelJson(const ModelInfo &info, const WeightsHashes &hashes)
{
    const QByteArray weights =
        jsonObjectLine({{"pth", hashOrNull(hashes.pth)}, {"safetensors", hashOrNull(hashes.safetensors)}});
    const std::pair<const char *, QByteArray> members[] = {{"format", "\"trainwright-model\""},
                                                           {"version", QByteArray::number(modelVersion)},
                                                           {"architecture", jsonString(info.config.architecture)},
                                                           {"arguments", jsonCompact(info.config.arguments)},
                                                           {"classes", classesJson(info.classes)},
                                                           {"input", inputJson(info)},
                                                           {"weights", weights},
                                                           {"training", jsonCompact(info.training)},
                                                           {"provenance", jsonCompact(info.provenance)}};
    QByteArray out = "{\n";
    for (const auto &[key, value] : members)
        out += QByteArray("  \"") + key + "\": " + value.trimmed() + ",\n";
    out.chop(2);
    return out + "\n}\n";
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/modeljson.h"

#include "core/base/json.h"

#include <QJsonArray>
#include <QSet>

#include <array>
#include <charconv>
#include <cmath>

namespace tw {

namespace {

constexpr int modelVersion = 1;
constexpr int maxSize = 65535;

/// Shortest text that reads back to the same float: 0.485, not 0.48500001430511475.
QByteArray floatNumber(float value)
{
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return QByteArray(text.data(), end - text.data());
}

QByteArray floatList(const std::array<float, 3> &values, int count)
{
    QByteArray out = "[";
    for (int i = 0; i < count; ++i)
        out += (i == 0 ? QByteArray() : QByteArray(",")) + floatNumber(values[static_cast<std::size_t>(i)]);
    return out + "]";
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
    return jsonObjectLine({{"channels", QByteArray::number(info.channels)},
                           {"height", QByteArray::number(info.height)},
                           {"width", QByteArray::number(info.width)},
                           {"resize", sizeOfFirst(info.transforms, TransformOp::Kind::Resize)},
                           {"crop", sizeOfFirst(info.transforms, TransformOp::Kind::CenterCrop)},
                           {"interpolation", "\"bilinear\""},
                           {"mean", floatList(info.normalization.mean, info.channels)},
                           {"std", floatList(info.normalization.std, info.channels)},
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

Error badKey(const fs::path &folder, const QString &key, const QJsonValue &value, const QString &wanted)
{
    const QString text =
        value.isUndefined() ? QStringLiteral("missing") : QString::fromUtf8(jsonCompact(value)).left(80);
    return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "%1: \"%2\" is %3; it must be %4."),
                     {displayPath(folder / "model.json"), key, text, wanted},
                     QT_TRANSLATE_NOOP("Error", "Export the model again, or correct that line of model.json."));
}

Result<int> wholeNumber(const fs::path &folder, const QJsonObject &object, const QString &key, int low, int high)
{
    const QJsonValue value = object.value(key);
    const double number = value.toDouble(-1);
    if (!(number >= low && number <= high) || number != std::floor(number))
        return badKey(folder, key, value, QStringLiteral("a whole number from %1 to %2").arg(low).arg(high));
    return static_cast<int>(number);
}

Result<void> checkHead(const fs::path &folder, const QJsonObject &json)
{
    if (json.value(u"format").toString() != u"trainwright-model")
        return badKey(folder, QStringLiteral("format"), json.value(u"format"), QStringLiteral("\"trainwright-model\""));
    const QJsonValue version = json.value(u"version");
    if (version.toInt() > modelVersion)
        return makeError(
            errors::InvalidModelDirectory,
            QT_TRANSLATE_NOOP("Error", "%1 has version %2; this program reads version %3."),
            {displayPath(folder / "model.json"), QString::number(version.toInt()), QString::number(modelVersion)},
            QT_TRANSLATE_NOOP("Error", "Use a newer version of the program."));
    if (version.toInt() != modelVersion)
        return badKey(folder, QStringLiteral("version"), version, QString::number(modelVersion));
    return {};
}

Result<std::vector<std::string>> readClasses(const fs::path &folder, const QJsonObject &json)
{
    const QJsonValue value = json.value(u"classes");
    std::vector<std::string> classes;
    QSet<QByteArray> seen;
    for (const QJsonValue &item : value.toArray()) {
        const QByteArray name = bytesFromPath(pathFromJson(item));
        if (name.isEmpty() || seen.contains(name))
            return badKey(folder, QStringLiteral("classes"), item,
                          QStringLiteral("a name that stands in the list once"));
        seen.insert(name);
        classes.push_back(name.toStdString());
    }
    if (classes.empty())
        return badKey(folder, QStringLiteral("classes"), value, QStringLiteral("a list of class names"));
    return classes;
}

Result<std::array<float, 3>> readFloats(const fs::path &folder, const QJsonObject &input, const QString &key,
                                        int channels, bool positive)
{
    const QJsonArray list = input.value(key).toArray();
    std::array<float, 3> values{};
    bool good = list.size() == channels;
    for (int c = 0; good && c < 3; ++c) {
        const QJsonValue item = list.at(channels == 1 ? 0 : c);
        const auto number = static_cast<float>(item.toDouble(NAN));
        good = std::isfinite(number) && (!positive || number > 0);
        values[static_cast<std::size_t>(c)] = number;
    }
    if (!good)
        return badKey(folder, key, input.value(key),
                      QStringLiteral("a list of %1 numbers%2")
                          .arg(channels)
                          .arg(positive ? QStringLiteral(" above 0") : QString()));
    return values;
}

Result<void> readInput(const fs::path &folder, const QJsonObject &json, ModelInfo &info)
{
    if (!json.value(u"input").isObject())
        return badKey(folder, QStringLiteral("input"), json.value(u"input"), QStringLiteral("an object"));
    const QJsonObject input = json.value(u"input").toObject();
    TW_ASSIGN(channels, wholeNumber(folder, input, QStringLiteral("channels"), 1, 3));
    TW_ASSIGN(height, wholeNumber(folder, input, QStringLiteral("height"), 1, maxSize));
    TW_ASSIGN(width, wholeNumber(folder, input, QStringLiteral("width"), 1, maxSize));
    if (channels == 2)
        return badKey(folder, QStringLiteral("channels"), channels, QStringLiteral("1 or 3"));
    info.channels = channels;
    info.height = height;
    info.width = width;
    TW_ASSIGN(mean, readFloats(folder, input, QStringLiteral("mean"), channels, false));
    TW_ASSIGN(deviation, readFloats(folder, input, QStringLiteral("std"), channels, true));
    info.normalization.mean = mean;
    info.normalization.std = deviation;
    if (!input.value(u"transforms").isArray())
        return badKey(folder, QStringLiteral("transforms"), input.value(u"transforms"), QStringLiteral("a list"));
    Result<TransformList> transforms = transformsFromJson(input.value(u"transforms").toArray());
    if (!transforms.ok())
        return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "%1: %2"),
                         {displayPath(folder / "model.json"), transforms.error().sentence()},
                         QT_TRANSLATE_NOOP("Error", "Export the model again, or correct that line of model.json."));
    info.transforms = *transforms;
    return {};
}

} // namespace

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

Result<ModelInfo> readModelInfo(const fs::path &folder)
{
    TW_ASSIGN(json, readJsonObject(folder / "model.json", errors::InvalidModelDirectory));
    TW_TRY(checkHead(folder, json));
    ModelInfo info;
    info.config.architecture = json.value(u"architecture").toString();
    if (info.config.architecture.isEmpty())
        return badKey(folder, QStringLiteral("architecture"), json.value(u"architecture"), QStringLiteral("a name"));
    if (!json.value(u"arguments").isObject())
        return badKey(folder, QStringLiteral("arguments"), json.value(u"arguments"), QStringLiteral("an object"));
    info.config.arguments = json.value(u"arguments").toObject();
    TW_ASSIGN(classes, readClasses(folder, json));
    info.classes = std::move(classes);
    const auto count = static_cast<int>(info.classes.size());
    TW_TRY(wholeNumber(folder, info.config.arguments, QStringLiteral("num_classes"), count, count));
    TW_TRY(readInput(folder, json, info));
    info.training = json.value(u"training").toObject();
    info.provenance = json.value(u"provenance").toObject();
    return info;
}

Result<WeightsHashes> readWeightsHashes(const fs::path &folder)
{
    TW_ASSIGN(json, readJsonObject(folder / "model.json", errors::InvalidModelDirectory));
    const QJsonObject weights = json.value(u"weights").toObject();
    WeightsHashes hashes;
    for (auto [key, hash] : {std::pair("pth", &hashes.pth), std::pair("safetensors", &hashes.safetensors)}) {
        const QJsonValue value = weights.value(QLatin1String(key));
        *hash = value.toString().toLatin1();
        if (!value.isNull() && !value.isUndefined() && hash->size() != 64)
            return badKey(folder, QStringLiteral("weights.") + QLatin1String(key), value,
                          QStringLiteral("a SHA-256 of 64 hex digits, or null"));
    }
    return hashes;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/model/modeljson.h"

#include <QJsonArray>
#include <QSet>

#include <algorithm>
#include <array>
#include <cmath>

namespace tw {

namespace {

constexpr int maxSize = 65535;

Result<int> wholeNumber(const fs::path &file, const QJsonObject &object, const QString &prefix, const char *key,
                        int low, int high)
{
    const QJsonValue value = object.value(QLatin1String(key));
    const double number = value.toDouble(-1);
    if (!(number >= low && number <= high) || number != std::floor(number))
        return badField(file, prefix + QLatin1String(key), value,
                        low == high ? QString::number(low)
                                    : QStringLiteral("a whole number from %1 to %2").arg(low).arg(high));
    return static_cast<int>(number);
}

Result<QJsonObject> objectMember(const fs::path &file, const QJsonObject &json, const char *key, bool required)
{
    const QJsonValue value = json.value(QLatin1String(key));
    if (!value.isObject() && (required || !(value.isUndefined() || value.isNull())))
        return badField(file, QLatin1String(key), value, QStringLiteral("an object"));
    return value.toObject();
}

Result<std::vector<std::string>> readClasses(const fs::path &file, const QJsonObject &json)
{
    const QJsonValue value = json.value(u"classes");
    std::vector<std::string> classes;
    QSet<QByteArray> seen;
    for (const QJsonValue &item : value.toArray()) {
        const QByteArray name = bytesFromPath(pathFromJson(item));
        if (name.isEmpty() || seen.contains(name))
            return badField(file, QStringLiteral("classes"), item,
                            QStringLiteral("a name that stands in the list once"));
        seen.insert(name);
        classes.push_back(name.toStdString());
    }
    if (classes.empty())
        return badField(file, QStringLiteral("classes"), value, QStringLiteral("a list of class names"));
    return classes;
}

Result<std::array<float, 3>> readFloats(const fs::path &file, const QJsonObject &json, const QString &prefix,
                                        const char *key, int channels, bool positive)
{
    const QJsonArray list = json.value(QLatin1String(key)).toArray();
    std::array<float, 3> values{};
    bool good = list.size() == channels;
    for (int c = 0; good && c < std::max(3, channels); ++c) {
        const double number = list.at(channels == 1 ? 0 : c).toDouble(NAN);
        good = std::abs(number) <= double(std::numeric_limits<float>::max()) && (!positive || float(number) > 0);
        if (c < 3)
            values[static_cast<std::size_t>(c)] = good ? static_cast<float>(number) : 0;
    }
    if (!good)
        return badField(file, prefix + QLatin1String(key), json.value(QLatin1String(key)),
                        QStringLiteral("a list of %1 numbers%2")
                            .arg(channels)
                            .arg(positive ? QStringLiteral(" above 0") : QString()));
    return values;
}

Result<TransformList> readTransformList(const fs::path &file, const QJsonObject &input)
{
    const QString key = QStringLiteral("input.transforms");
    const QJsonValue value = input.value(u"transforms");
    if (!value.isArray())
        return badField(file, key, value, QStringLiteral("a list of operations"));
    Result<TransformList> list = transformsFromJson(value.toArray());
    if (!list.ok())
        return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "%1: \"%2\": %3"),
                         {displayPath(file), key, list.error().sentence()},
                         QT_TRANSLATE_NOOP("Error", "Export the model again, or correct that line of %1."));
    if (std::any_of(list->begin(), list->end(), isRandom))
        return badField(file, key, value, QStringLiteral("a list without random operations"));
    return list;
}

/// resize, crop and interpolation repeat what runs; another value there would be believed by other programs.
Result<void> checkRepeated(const fs::path &file, const QJsonObject &input, const TransformList &list)
{
    for (const auto &[key, kind] :
         {std::pair("resize", TransformOp::Kind::Resize), std::pair("crop", TransformOp::Kind::CenterCrop)}) {
        const QJsonValue value = input.value(QLatin1String(key));
        const auto op = std::find_if(list.begin(), list.end(),
                                     [wanted = kind](const TransformOp &one) { return one.kind == wanted; });
        const QJsonValue runs = op == list.end() ? QJsonValue(QJsonValue::Null) : QJsonValue(op->size);
        if (!value.isUndefined() && value != runs)
            return badField(file, QStringLiteral("input.") + QLatin1String(key), value,
                            QStringLiteral("%1, as input.transforms says").arg(QString::fromUtf8(jsonCompact(runs))));
    }
    const QJsonValue stated = input.value(u"interpolation");
    const QLatin1String runs(interpolationId(firstInterpolation(list)));
    if (!stated.isUndefined() && stated.toString() != runs)
        return badField(file, QStringLiteral("input.interpolation"), stated,
                        QStringLiteral("\"%1\", as input.transforms says").arg(runs));
    return {};
}

/// What the operations make must be what the network is said to read.
Result<void> checkSize(const fs::path &file, const QJsonObject &input, const ModelInfo &info)
{
    const auto size = fixedOutputSize(info.transforms);
    for (const auto &[key, stated, made] : {std::tuple("width", info.width, size ? size->first : info.width),
                                            std::tuple("height", info.height, size ? size->second : info.height)}) {
        if (stated != made)
            return badField(file, QStringLiteral("input.") + QLatin1String(key), input.value(QLatin1String(key)),
                            QStringLiteral("%1, which input.transforms gives").arg(made));
    }
    return {};
}

Result<void> readInput(const fs::path &file, const QJsonObject &json, ModelInfo &info)
{
    const QString prefix = QStringLiteral("input.");
    TW_ASSIGN(input, objectMember(file, json, "input", true));
    TW_ASSIGN(channels, wholeNumber(file, input, prefix, "channels", 1, 4));
    if (channels == 2)
        return badField(file, prefix + QStringLiteral("channels"), channels, QStringLiteral("1, 3 or 4"));
    TW_ASSIGN(height, wholeNumber(file, input, prefix, "height", 1, maxSize));
    TW_ASSIGN(width, wholeNumber(file, input, prefix, "width", 1, maxSize));
    info.channels = channels;
    info.height = height;
    info.width = width;
    TW_ASSIGN(normalization, normalizationFromJson(file, input, prefix, channels));
    info.normalization = normalization;
    TW_ASSIGN(transforms, readTransformList(file, input));
    info.transforms = transforms;
    TW_TRY(checkRepeated(file, input, info.transforms));
    return checkSize(file, input, info);
}

Result<void> readNetwork(const fs::path &file, const QJsonObject &json, ModelInfo &info)
{
    const QJsonValue architecture = json.value(u"architecture");
    info.config.architecture = architecture.toString();
    if (info.config.architecture.isEmpty())
        return badField(file, QStringLiteral("architecture"), architecture, QStringLiteral("a name"));
    TW_ASSIGN(arguments, objectMember(file, json, "arguments", true));
    info.config.arguments = arguments;
    TW_ASSIGN(classes, readClasses(file, json));
    info.classes = std::move(classes);
    const auto count = static_cast<int>(info.classes.size());
    TW_TRY(wholeNumber(file, arguments, QStringLiteral("arguments."), "num_classes", count, count));
    return {};
}

Result<QJsonObject> readModelJson(const fs::path &folder)
{
    std::error_code unknown;
    if (fs::exists(folder, unknown) && !isModelDirectory(folder))
        return makeError(
            errors::InvalidModelDirectory,
            QT_TRANSLATE_NOOP("Error", "'%1' is not a model directory: it has no model.json."), {displayPath(folder)},
            QT_TRANSLATE_NOOP("Error", "Choose the folder that Train PyTorch Model wrote or --export made."));
    return readJsonObject(folder / "model.json", errors::InvalidModelDirectory);
}

} // namespace

Error badField(const fs::path &file, const QString &key, const QJsonValue &value, const QString &wanted)
{
    const QString text =
        value.isUndefined() ? QStringLiteral("missing") : QString::fromUtf8(jsonCompact(value)).left(80);
    return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "%1: \"%2\" is %3; it must be %4."),
                     {displayPath(file), key, text, wanted},
                     QT_TRANSLATE_NOOP("Error", "Export the model again, or correct that line of %1."));
}

Result<void> checkFormat(const fs::path &file, const QJsonObject &json, const char *format, int version)
{
    const QJsonValue name = json.value(u"format"), stated = json.value(u"version");
    if (name.toString() != QLatin1String(format))
        return badField(file, QStringLiteral("format"), name, u'"' + QLatin1String(format) + u'"');
    const double number = stated.toDouble(0);
    if (number > version && number == std::floor(number))
        return makeError(errors::InvalidModelDirectory,
                         QT_TRANSLATE_NOOP("Error", "%1 has version %2; this program reads version %3."),
                         {displayPath(file), QString::fromUtf8(jsonCompact(stated)), QString::number(version)},
                         QT_TRANSLATE_NOOP("Error", "Use a newer version of the program."));
    if (number != version)
        return badField(file, QStringLiteral("version"), stated, QString::number(version));
    return {};
}

Result<Normalization> normalizationFromJson(const fs::path &file, const QJsonObject &json, const QString &prefix,
                                            int channels)
{
    TW_ASSIGN(mean, readFloats(file, json, prefix, "mean", channels, false));
    TW_ASSIGN(deviation, readFloats(file, json, prefix, "std", channels, true));
    return Normalization{mean, deviation};
}

Result<ModelInfo> readModelInfo(const fs::path &folder)
{
    const fs::path file = folder / "model.json";
    TW_ASSIGN(json, readModelJson(folder));
    TW_TRY(checkFormat(file, json, "trainwright-model", modelVersion));
    ModelInfo info;
    TW_TRY(readNetwork(file, json, info));
    TW_TRY(readInput(file, json, info));
    TW_ASSIGN(training, objectMember(file, json, "training", false));
    TW_ASSIGN(provenance, objectMember(file, json, "provenance", false));
    info.training = training;
    info.provenance = provenance;
    return info;
}

Result<WeightsHashes> readWeightsHashes(const fs::path &folder)
{
    const fs::path file = folder / "model.json";
    TW_ASSIGN(json, readModelJson(folder));
    TW_ASSIGN(weights, objectMember(file, json, "weights", false));
    WeightsHashes hashes;
    const auto isHex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    for (auto [key, hash] : {std::pair("pth", &hashes.pth), std::pair("safetensors", &hashes.safetensors)}) {
        const QJsonValue value = weights.value(QLatin1String(key));
        *hash = value.toString().toLatin1();
        const bool sound = hash->size() == 64 && std::all_of(hash->begin(), hash->end(), isHex);
        if (!value.isNull() && !value.isUndefined() && !sound)
            return badField(file, QStringLiteral("weights.") + QLatin1String(key), value,
                            QStringLiteral("a SHA-256 of 64 hex digits, or null"));
    }
    return hashes;
}

} // namespace tw

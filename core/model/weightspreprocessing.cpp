// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/weightspreprocessing.h"

#include "core/base/json.h"
#include "core/model/modeljson.h"

#include <algorithm>
#include <cmath>

namespace tw {

namespace {

Result<int> readEdge(const fs::path &file, const QJsonObject &json, const QString &prefix, const char *key, int highest)
{
    const QJsonValue value = json.value(QLatin1String(key));
    const double number = value.toDouble(0);
    if (number >= 1 && number <= highest && number == std::floor(number))
        return int(number);
    return badField(file, prefix + QLatin1String(key), value,
                    QStringLiteral("a whole number from 1 to %1").arg(highest));
}

} // namespace

TransformList WeightsPreprocessing::transforms() const
{
    TransformOp first = defaultOp(TransformOp::Kind::Resize), second = defaultOp(TransformOp::Kind::CenterCrop);
    first.size = resize;
    first.interpolation = interpolation;
    second.size = crop;
    return {first, second};
}

QByteArray WeightsPreprocessing::toJson() const
{
    return jsonObjectLine({{"resize", QByteArray::number(resize)},
                           {"crop", QByteArray::number(crop)},
                           {"interpolation", jsonString(QLatin1String(interpolationId(interpolation)))},
                           {"mean", floatListJson(mean, 3, 0)},
                           {"std", floatListJson(std, 3, 1)}})
        .trimmed();
}

Result<WeightsPreprocessing> WeightsPreprocessing::fromJson(const fs::path &file, const QJsonValue &value,
                                                            const QString &prefix)
{
    if (!value.isObject())
        return badField(file, prefix.chopped(1), value, QStringLiteral("an object"));
    const QJsonObject json = value.toObject();
    TW_ASSIGN(resize, readEdge(file, json, prefix, "resize", LargestTransformEdge));
    TW_ASSIGN(crop, readEdge(file, json, prefix, "crop", resize));
    const QJsonValue named = json.value(u"interpolation");
    const auto interpolation = interpolationOf(named.toString().toStdString());
    if (!interpolation)
        return badField(file, prefix + QStringLiteral("interpolation"), named,
                        QStringLiteral("\"bilinear\" or \"bicubic\""));
    TW_ASSIGN(normalization, normalizationFromJson(file, json, prefix, 3));
    return WeightsPreprocessing{resize, crop, *interpolation, normalization.mean, normalization.std};
}

std::optional<WeightsPreprocessing> WeightsPreprocessing::of(const TransformList &transforms,
                                                             const Normalization &normalization)
{
    const auto first = [&](TransformOp::Kind kind) {
        return std::find_if(transforms.begin(), transforms.end(),
                            [kind](const TransformOp &op) { return op.kind == kind; });
    };
    const auto resized = first(TransformOp::Kind::Resize), cropped = first(TransformOp::Kind::CenterCrop);
    if (resized == transforms.end() || cropped == transforms.end() || cropped->size > resized->size)
        return std::nullopt;
    return WeightsPreprocessing{resized->size, cropped->size, resized->interpolation, normalization.mean,
                                normalization.std};
}

} // namespace tw

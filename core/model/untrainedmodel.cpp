// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/modeljson.h"

namespace tw {

namespace {

constexpr int untrainedVersion = 1;

QByteArray weightsJson(const UntrainedModel &model)
{
    if (model.weightsFile.empty())
        return "null";
    QByteArray line = jsonObjectLine({{"path", jsonCompact(pathToJson(model.weightsFile))},
                                      {"sha256", jsonString(QString::fromLatin1(model.weightsSha256))}})
                          .trimmed();
    if (!model.normalization)
        return line;
    line.chop(1);
    return line + ",\"mean\":" + floatListJson(model.normalization->mean, 3, 0)
           + ",\"std\":" + floatListJson(model.normalization->std, 3, 1) + '}';
}

Result<void> readWeightsMember(const fs::path &file, const QJsonValue &value, UntrainedModel &model)
{
    const QString prefix = QStringLiteral("weights.");
    if (!value.isObject())
        return badField(file, QStringLiteral("weights"), value, QStringLiteral("null or an object"));
    const QJsonObject weights = value.toObject();
    model.weightsFile = pathFromJson(weights.value(u"path"));
    if (model.weightsFile.empty())
        return badField(file, prefix + QStringLiteral("path"), weights.value(u"path"), QStringLiteral("a path"));
    model.weightsFile = file.parent_path() / model.weightsFile;
    const QJsonValue hash = weights.value(u"sha256");
    model.weightsSha256 = hash.toString().toLatin1();
    if (!hash.isString() || (!model.weightsSha256.isEmpty() && model.weightsSha256.size() != 64))
        return badField(file, prefix + QStringLiteral("sha256"), hash, QStringLiteral("a SHA-256 of 64 hex digits"));
    if (!weights.contains(u"mean") && !weights.contains(u"std"))
        return {};
    TW_ASSIGN(normalization, normalizationFromJson(file, weights, prefix, 3));
    model.normalization = normalization;
    return {};
}

} // namespace

Result<void> UntrainedModel::write(const fs::path &folder) const
{
    QByteArray json = jsonObjectLine({{"format", "\"trainwright-untrained-model\""},
                                      {"version", QByteArray::number(untrainedVersion)},
                                      {"architecture", jsonString(config.architecture)},
                                      {"arguments", jsonCompact(config.arguments)},
                                      {"weights", weightsJson(*this)}})
                          .trimmed();
    if (preprocessing)
        json = json.chopped(1) + ",\"preprocessing\":" + preprocessing->toJson() + '}';
    return writeFileAtomically(folder / "untrained_model.json", json + "\n");
}

Result<UntrainedModel> UntrainedModel::read(const fs::path &folder)
{
    const fs::path file = folder / "untrained_model.json";
    TW_ASSIGN(json, readJsonObject(file, errors::InvalidModelDirectory));
    TW_TRY(checkFormat(file, json, "trainwright-untrained-model", untrainedVersion));
    UntrainedModel model;
    const QJsonValue architecture = json.value(u"architecture"), arguments = json.value(u"arguments");
    model.config.architecture = architecture.toString();
    if (model.config.architecture.isEmpty())
        return badField(file, QStringLiteral("architecture"), architecture, QStringLiteral("a name"));
    if (!arguments.isObject())
        return badField(file, QStringLiteral("arguments"), arguments, QStringLiteral("an object"));
    model.config.arguments = arguments.toObject();
    if (const QJsonValue weights = json.value(u"weights"); !weights.isNull())
        TW_TRY(readWeightsMember(file, weights, model));
    if (const QJsonValue preprocessing = json.value(u"preprocessing"); !preprocessing.isUndefined()) {
        TW_ASSIGN(known, WeightsPreprocessing::fromJson(file, preprocessing, QStringLiteral("preprocessing.")));
        model.preprocessing = known;
    }
    return model;
}

} // namespace tw

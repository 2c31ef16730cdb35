// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/modeldirectory.h"

namespace tw {

namespace {

constexpr int untrainedVersion = 1;

Error badFile(const fs::path &folder, const char *what)
{
    return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "%1 is not sound: %2."),
                     {displayPath(folder / "untrained_model.json"), QString::fromLatin1(what)},
                     QT_TRANSLATE_NOOP("Error", "Run the model component again."));
}

} // namespace

Result<void> UntrainedModel::write(const fs::path &folder) const
{
    QByteArray weights = "null";
    if (!weightsFile.empty())
        weights = jsonObjectLine({{"path", jsonCompact(pathToJson(weightsFile))},
                                  {"sha256", jsonString(QString::fromLatin1(weightsSha256))}})
                      .trimmed();
    const QByteArray json = jsonObjectLine({{"format", "\"trainwright-untrained-model\""},
                                            {"version", QByteArray::number(untrainedVersion)},
                                            {"architecture", jsonString(config.architecture)},
                                            {"arguments", jsonCompact(config.arguments)},
                                            {"weights", weights}});
    return writeFileAtomically(folder / "untrained_model.json", json.trimmed() + "\n");
}

Result<UntrainedModel> UntrainedModel::read(const fs::path &folder)
{
    TW_ASSIGN(json, readJsonObject(folder / "untrained_model.json", errors::InvalidModelDirectory));
    if (json.value(u"format").toString() != u"trainwright-untrained-model")
        return badFile(folder, "its format is another");
    if (json.value(u"version").toInt() != untrainedVersion)
        return badFile(folder, "its version is another");
    UntrainedModel model;
    model.config.architecture = json.value(u"architecture").toString();
    if (model.config.architecture.isEmpty() || !json.value(u"arguments").isObject())
        return badFile(folder, "it states no architecture and arguments");
    model.config.arguments = json.value(u"arguments").toObject();
    const QJsonValue weights = json.value(u"weights");
    if (weights.isNull())
        return model;
    model.weightsFile = pathFromJson(weights.toObject().value(u"path"));
    model.weightsSha256 = weights.toObject().value(u"sha256").toString().toLatin1();
    if (model.weightsFile.empty() || (!model.weightsSha256.isEmpty() && model.weightsSha256.size() != 64))
        return badFile(folder, "its weights are neither null nor a path with a SHA-256");
    return model;
}

} // namespace tw

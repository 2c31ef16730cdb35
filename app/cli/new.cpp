// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/files.h"
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"
#include "core/train/devices.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace tw::cli {

namespace {

/// true/false, numbers and lists as JSON; anything else is text.
QJsonValue valueFromText(const QByteArray &text)
{
    const QJsonDocument parsed = QJsonDocument::fromJson('[' + text + ']');
    if (!parsed.isArray() || parsed.array().isEmpty())
        return QString::fromUtf8(text);
    return parsed.array().size() == 1 ? parsed.array().first() : QJsonValue(parsed.array());
}

/// Size of the input: what the arguments say, else the usual size of the family.
ModelInfo infoFor(const ModelConfig &config, qint64 classes)
{
    ModelInfo info;
    info.config = config;
    const QJsonObject &arguments = config.arguments;
    info.channels = arguments.value(QLatin1String("in_channels")).toInt(3);
    info.height = arguments.value(QLatin1String("height")).toInt(info.height);
    info.width = arguments.value(QLatin1String("width")).toInt(info.width);
    for (qint64 i = 0; i < classes; ++i)
        info.classes.push_back("class" + std::to_string(i));
    const bool usual = !arguments.contains(QLatin1String("height"));
    if (usual) {
        TransformOp resize, crop;
        resize.kind = TransformOp::Kind::Resize;
        resize.size = 256;
        crop.kind = TransformOp::Kind::CenterCrop;
        crop.size = 224;
        info.transforms = {resize, crop};
    }
    return info;
}

Result<StateDict> weightsFor(const ModelConfig &config, const Arguments &arguments, qint64 seed)
{
    if (!arguments.has("weights"))
        return freshWeights(config, std::uint64_t(seed));
    TW_ASSIGN(weights, readWeights(arguments.path("weights")));
    stripNamePrefix(weights);
    TW_TRY(checkWeights(config, weights));
    return weights;
}

Result<void> make(const ModelConfig &config, const Arguments &arguments, qint64 classes, qint64 seed)
{
    TW_ASSIGN(weights, weightsFor(config, arguments, seed));
    AtomicFolder folder(arguments.path("out"));
    TW_TRY(folder.open());
    TW_TRY(writeModelDirectory(folder.temporary(), infoFor(config, classes), weights, {}));
    return folder.commit();
}

int run(const Arguments &arguments)
{
    for (const char *needed : {"classes", "out"})
        if (!arguments.has(needed))
            return usageError(QStringLiteral("'new' needs --%1.").arg(QLatin1String(needed)),
                              QStringLiteral("See trainwright-cli new --help."));
    const auto classes = integerOption(arguments, "classes", 0, 1, 1'000'000);
    const auto seed = integerOption(arguments, "seed", 1, 0, std::numeric_limits<qint64>::max());
    if (!classes || !seed)
        return exitUsage;
    ModelConfig config{QString::fromUtf8(arguments.words().first()), {}};
    for (const QByteArray &given : arguments.all("set")) {
        const qsizetype equals = given.indexOf('=');
        if (equals <= 0)
            return usageError(
                QStringLiteral("'--set %1' is not of the form PARAM=VALUE.").arg(QString::fromUtf8(given)), {});
        config.arguments.insert(QString::fromUtf8(given.first(equals)), valueFromText(given.mid(equals + 1)));
    }
    config.arguments.insert(QStringLiteral("num_classes"), *classes);
    openCudaLibrary();
    const auto made = make(config, arguments, *classes, *seed);
    if (made.ok())
        return exitDone;
    printError(made.error());
    return exitFailed;
}

} // namespace

Command newCommand()
{
    return {"new",
            "MODEL",
            "Writes a model directory with fresh weights or those of a file.",
            {{"classes", "N", "number of classes"},
             {"seed", "S", "seed of the fresh weights"},
             {"weights", "FILE", "a .pth or .safetensors file"},
             {"set", "PARAM=VALUE", "argument of the network; may be repeated"},
             {"out", "DIR", "folder to make"}},
            1,
            1,
            run};
}

} // namespace tw::cli

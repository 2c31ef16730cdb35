// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/scoringsupport.h"
#include "app/cli/stoponsignal.h"
#include "core/base/address.h"
#include "core/base/files.h"
#include "core/model/pretrainedfiles.h"
#include "core/train/architectures.h"
#include "core/train/devices.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <utility>

#include <unistd.h>

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

/// The network's weights of ImageNet, downloaded where they are not here; said on stderr.
Result<fs::path> pretrainedFile(const QString &architecture, const StopToken &stop)
{
    const PretrainedWeights *weights = pretrainedWeightsOf(architecture);
    if (!weights)
        return makeError(
            errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "There are no pretrained weights of %1."),
            {architecture},
            QT_TRANSLATE_NOOP("Error", "Give a file, such as --weights FILE.pth, or leave --weights out."));
    const bool isShown = isTerminal(STDERR_FILENO);
    PretrainedRequest request;
    request.stop = &stop;
    request.begins = [&](const QUrl &address) {
        writeError("Downloading " + weights->fileName.toUtf8() + " (" + sizeText(*weights).toUtf8() + ") from "
                   + displayAddress(address).toUtf8() + '\n');
    };
    request.progress = [isShown](const DownloadProgress &progress) {
        if (isShown)
            writeError("\r\033[K" + downloadText(progress).toUtf8());
    };
    const auto file = obtainPretrainedFile(*weights, request);
    if (isShown)
        writeError("\r\033[K");
    if (!file.ok())
        return file.error();
    writeError("Weights: " + displayPath(file->path).toUtf8() + '\n');
    return file->path;
}

Result<StateDict> weightsFor(const ModelConfig &config, const Arguments &arguments, qint64 seed)
{
    if (!arguments.has("weights"))
        return freshWeights(config, std::uint64_t(seed));
    fs::path file = arguments.path("weights");
    if (file == "pretrained") {
        const StopOnSignal signal;
        TW_ASSIGN(found, pretrainedFile(config.architecture, signal.token()));
        file = found;
    }
    TW_ASSIGN(initial, readInitialWeights(config, file));
    for (const QString &note : std::as_const(initial.notes))
        writeError("Note: " + note.toUtf8() + '\n');
    return fittedWeights(config, initial.weights, displayPath(file));
}

Result<void> make(const ModelConfig &config, const Arguments &arguments, qint64 classes, qint64 seed)
{
    std::vector<std::string> names;
    for (qint64 i = 0; i < classes; ++i)
        names.push_back("class" + std::to_string(i));
    TW_ASSIGN(info, usualModelInfo(config, std::move(names)));
    TW_ASSIGN(weights, weightsFor(info.config, arguments, seed));
    AtomicFolder folder(arguments.path("out"));
    TW_TRY(folder.open());
    TW_TRY(checkModel(info, arguments.path("out")));
    TW_TRY(writeModelDirectory(folder.temporary(), info, weights, {}));
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
    return failWith(made.error());
}

} // namespace

Command newCommand()
{
    return {"new",
            "MODEL",
            "Writes a model directory with fresh weights, those of a file or those trained on ImageNet.",
            {{"classes", "N", "number of classes"},
             {"seed", "S", "seed of the fresh weights"},
             {"weights", "FILE",
              "a .pth or .safetensors file, or the word pretrained: those trained on ImageNet, "
              "from this machine or downloaded"},
             {"set", "PARAM=VALUE", "argument of the network; may be repeated"},
             {"out", "DIR", "folder to make"}},
            1,
            1,
            run};
}

} // namespace tw::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/emptyport.h"
#include "core/component/modelcomponent.h"
#include "core/component/portobjects.h"
#include "core/model/weightsfile.h"

#include <QJsonValue>

#include <set>

namespace tw::components {

namespace {

const QString untrainedPort = QStringLiteral("untrained_model");
const QString trainedPort = QStringLiteral("trained_model");

/// What stands at the chosen path.
struct Found
{
    fs::path folder; ///< of a model directory, else empty
    fs::path weightsFile;
    ModelConfig config;               ///< with num_classes
    std::vector<std::string> classes; ///< empty: not known
    std::optional<ModelInfo> info;    ///< where classes are known
    std::optional<StateDict> weights; ///< of a file whose classes are known
    WeightsReport report;             ///< of a file
    std::size_t tensors = 0;          ///< all of which fit the network
    QString recognised;               ///< sentence; empty: the architecture was stated
    QStringList notes, warnings;
};

Error missing(const fs::path &path)
{
    return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "'%1' does not exist."),
                     {displayPath(path)},
                     QT_TRANSLATE_NOOP("Error", "Choose a model directory, a .pth or .pt file or a .safetensors file."))
        .atParameter(QStringLiteral("path"));
}

Error atPath(const Error &error)
{
    return Error(error).atParameter(QStringLiteral("path"));
}

/// A weights file of a model directory stands for the directory.
fs::path modelFolderOf(const fs::path &path)
{
    std::error_code unknown;
    if (fs::is_directory(path, unknown))
        return path;
    const fs::path name = path.filename();
    const bool ofModel =
        (name == "weights.pth" || name == "weights.safetensors") && isModelDirectory(path.parent_path());
    return ofModel ? path.parent_path() : fs::path();
}

Result<Found> lookIntoDirectory(const fs::path &folder, const QString &architecture, bool wholly)
{
    Found found;
    found.folder = folder;
    TW_ASSIGN(info, readModelInfo(folder));
    TW_TRY(checkModel(info, folder));
    if (!architecture.isEmpty() && architecture != info.config.architecture)
        return makeError(errors::InvalidModelDirectory,
                         QT_TRANSLATE_NOOP("Error", "The model in '%1' is of the architecture %2, not %3."),
                         {displayPath(folder), info.config.architecture, architecture},
                         QT_TRANSLATE_NOOP("Error", "Set architecture to auto, or choose another model."))
            .atParameter(QStringLiteral("architecture"));
    TW_ASSIGN(file, modelWeightsFile(folder));
    found.weightsFile = file;
    TW_ASSIGN(weights, wholly ? readModelWeights(folder, &found.warnings) : readWeights(file));
    TW_TRY(checkWeights(info.config, weights));
    found.tensors = weights.size();
    found.report.format = QStringLiteral("model directory");
    found.config = info.config;
    found.classes = info.classes;
    found.info = std::move(info);
    return found;
}

QString numbersText(const std::array<float, 3> &values)
{
    return QStringLiteral("%1 %2 %3").arg(values[0]).arg(values[1]).arg(values[2]);
}

/// A checkpoint or safetensors metadata that names classes; the preprocessing is the usual one.
Result<void> useClasses(Found &found, const RecognisedModel &model, const WeightsReport &report)
{
    if (report.classes.empty())
        return {};
    const int outputs = model.config.arguments.value(QLatin1String("num_classes")).toInt();
    if (report.classes.size() != std::size_t(outputs))
        return makeError(
            errors::InvalidModelDirectory,
            QT_TRANSLATE_NOOP("Error", "%1 names %2 classes, but its network has %3 outputs."),
            {displayPath(found.weightsFile), QString::number(report.classes.size()), QString::number(outputs)},
            QT_TRANSLATE_NOOP("Error", "Save the file again with one class name for each output."));
    const std::set<std::string> different(report.classes.begin(), report.classes.end());
    if (different.size() != report.classes.size())
        return makeError(
            errors::InvalidModelDirectory,
            QT_TRANSLATE_NOOP("Error", "%1 names %2 classes, but only %3 different ones."),
            {displayPath(found.weightsFile), QString::number(report.classes.size()), QString::number(different.size())},
            QT_TRANSLATE_NOOP("Error", "Save the file again with a name of its own for each class."));
    TW_ASSIGN(info, usualModelInfo(model.config, report.classes));
    TW_ASSIGN(weights, fittedWeights(model.config, model.initial.weights, displayPath(found.weightsFile)));
    found.classes = report.classes;
    found.weights = std::move(weights);
    found.warnings +=
        QStringLiteral("%1 does not say how pictures are prepared: what is usual for %2 is taken for "
                       "granted (%3; mean %4, std %5).")
            .arg(displayPath(found.weightsFile), model.config.architecture, operationsText(info.transforms),
                 numbersText(info.normalization.mean), numbersText(info.normalization.std));
    found.info = std::move(info);
    return {};
}

Result<Found> lookIntoFile(const fs::path &file, const QString &architecture)
{
    Found found;
    found.weightsFile = file;
    TW_ASSIGN(weights, readWeights(file, &found.report));
    found.tensors = weights.size();
    const auto model = recogniseModel(std::move(weights), architecture, displayPath(file));
    if (!model.ok())
        return Error(model.error())
            .atParameter(architecture.isEmpty() ? QStringLiteral("path") : QStringLiteral("architecture"));
    found.config = model->config;
    found.notes = model->initial.notes;
    if (architecture.isEmpty())
        found.recognised = found.notes.takeFirst();
    found.warnings = found.report.warnings;
    TW_TRY(useClasses(found, *model, WeightsReport(found.report)));
    return found;
}

/// `wholly`: with the hash of a model directory's weights.
Result<Found> look(const ParameterValues &values, bool wholly)
{
    const fs::path path = values.path("path");
    std::error_code unknown;
    if (!fs::exists(path, unknown))
        return missing(path);
    const QString choice = values.text("architecture");
    const QString architecture = choice == QLatin1String("auto") ? QString() : choice;
    const fs::path folder = modelFolderOf(path);
    auto found = folder.empty() ? lookIntoFile(path, architecture) : lookIntoDirectory(folder, architecture, wholly);
    if (!found.ok() && found.error().parameter.isEmpty())
        return atPath(found.error());
    return found;
}

/// The data decide about the number of classes.
ModelConfig untrainedConfig(ModelConfig config)
{
    config.arguments.remove(QStringLiteral("num_classes"));
    return config;
}

QStringList classNames(const Found &found)
{
    QStringList names;
    for (const std::string &name : found.classes)
        names.append(QString::fromStdString(name));
    return names;
}

PortFacts trainedFacts(const Found &found)
{
    PortFacts facts = modelFacts(found.config);
    if (found.classes.empty()) {
        leaveEmpty(facts, makeError(errors::InvalidModelDirectory,
                                    QT_TRANSLATE_NOOP("Error", "'%1' does not name its classes, so there is no trained "
                                                               "model to give on."),
                                    {displayPath(found.weightsFile)},
                                    QT_TRANSLATE_NOOP("Error", "Choose a model directory, or connect only the "
                                                               "output 'untrained_model'."))
                              .atParameter(QStringLiteral("path")));
        return facts;
    }
    facts.categories = classNames(found);
    return facts;
}

/// "PyTorch, under 'model_ema'"
QString formatText(const WeightsReport &report)
{
    QString format = report.format;
    if (format.startsWith(QLatin1String("pytorch")))
        format.replace(0, 7, QStringLiteral("PyTorch"));
    return report.weightsUnder.isEmpty() ? format : QStringLiteral("%1, under '%2'").arg(format, report.weightsUnder);
}

/// One line for the canvas; `figures` of the network.
QString summaryOf(const Found &found, const QString &figures)
{
    QStringList parts{found.config.architecture};
    if (!found.classes.empty())
        parts.append(groupedNumber(qint64(found.classes.size()))
                     + (found.classes.size() == 1 ? QStringLiteral(" class") : QStringLiteral(" classes")));
    if (!figures.isEmpty())
        parts.append(figures);
    parts.append(QStringLiteral("all %1 tensors fit").arg(found.tensors));
    parts.append(formatText(found.report));
    return parts.join(QStringLiteral(" · "));
}

/// Sentences for the panel and the log; what they say is no fault.
QStringList detailsOf(const Found &found)
{
    QStringList lines;
    if (!found.recognised.isEmpty())
        lines.append(found.recognised);
    if (!found.report.weightsUnder.isEmpty())
        lines.append(QStringLiteral("The weights stand under '%1' in the file.").arg(found.report.weightsUnder));
    if (found.folder.empty() && !found.report.extras.isEmpty())
        lines.append(QStringLiteral("Beside the weights, not used: %1.").arg(quotedList(found.report.extras)));
    if (!found.classes.empty())
        lines.append(QStringLiteral("Classes: %1.").arg(quotedList(classNames(found))));
    return lines;
}

PreflightReply preflightLoad(const PreflightRequest &request)
{
    PreflightReply reply;
    const auto found = look(request.values, !request.mayBeRecent);
    if (!found.ok()) {
        reply.errors.append(found.error());
        return reply;
    }
    reply.warnings = found->notes + found->warnings;
    const QStringList details = detailsOf(*found);
    for (const QString &line : details)
        reply.notes.append(makeError("", "%1", {line}).atParameter(QStringLiteral("path")));
    PortFacts untrained = modelFacts(untrainedConfig(found->config));
    setPreprocessingFact(untrained, preprocessingBeside(found->weightsFile));
    const auto input = modelInput(found->config);
    const int height = found->info ? found->info->height : input.ok() ? input->height : 0;
    const int width = found->info ? found->info->width : input.ok() ? input->width : 0;
    const int channels = found->info ? found->info->channels : input.ok() ? input->channels : 3;
    const auto summary = summarizeModel(found->config, channels, height, width);
    if (!summary.ok())
        reply.errors.append(atPath(summary.error()));
    reply.summary = summaryOf(*found, summary.ok() ? addFigures(*summary, untrained) : QString());
    reply.outputs.insert(untrainedPort, untrained);
    reply.outputs.insert(trainedPort, trainedFacts(*found));
    return reply;
}

Result<void> writeTrainedModel(const Found &found, const fs::path &folder)
{
    if (!found.folder.empty())
        return copyModelDirectory(found.folder, folder);
    if (found.info)
        return writeModelDirectory(folder, *found.info, *found.weights, {});
    return {}; // left empty: preflight has refused what needs it
}

Result<RunReply> runLoad(const RunRequest &request)
{
    TW_ASSIGN(found, look(request.values, true));
    RunContext &context = request.context;
    context.log(LogLevel::Info,
                QStringLiteral("Loading %1: %2").arg(displayPath(found.weightsFile), summaryOf(found, QString())));
    const QStringList details = detailsOf(found);
    for (const QString &line : details)
        context.log(LogLevel::Info, line);
    for (const QString &line : found.notes + found.warnings)
        context.log(LogLevel::Warning, line);
    TW_TRY(writeUntrainedModel(request.outputFolders.value(untrainedPort), untrainedConfig(found.config),
                               found.weightsFile));
    if (context.isCanceled())
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The node was canceled."));
    TW_TRY(writeTrainedModel(found, request.outputFolders.value(trainedPort)));
    context.result(QStringLiteral("architecture"), found.config.architecture);
    context.result(QStringLiteral("format"), formatText(found.report));
    context.result(QStringLiteral("tensors"), qint64(found.tensors));
    if (!found.classes.empty())
        context.result(QStringLiteral("classes"), qint64(found.classes.size()));
    return RunReply{};
}

QList<ParameterChoice> architectureChoices()
{
    QList<ParameterChoice> choices{{QStringLiteral("auto"), QT_TRANSLATE_NOOP("Parameter", "Automatic")}};
    for (const QString &name : architectureNames())
        choices.append({name, name});
    return choices;
}

} // namespace

ComponentType load_model()
{
    ComponentType type;
    type.id = QStringLiteral("load-model");
    type.named(QT_TRANSLATE_NOOP("Component", "Load Model"), QT_TRANSLATE_NOOP("Component", "Models"),
               QT_TRANSLATE_NOOP("Component", "A finished model or a weights file: to score with, or to train on."));
    type.output("untrained_model", QT_TRANSLATE_NOOP("Component", "Untrained model"),
                DataType::UntrainedModelDirectory);
    type.output("trained_model", QT_TRANSLATE_NOOP("Component", "Trained model"), DataType::ModelDirectory);
    type.parameter(ParameterSpec::path("path", QT_TRANSLATE_NOOP("Parameter", "Path"))
                       .isRequired()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "A model directory, or a state_dict as .pth, .pt or "
                                                                ".safetensors.")));
    type.parameter(
        ParameterSpec::choice("architecture", QT_TRANSLATE_NOOP("Parameter", "Architecture"), "auto",
                              architectureChoices())
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "The network that the weights belong to; automatic tells it from "
                                                     "the names and shapes of the tensors.")));
    type.preflight = preflightLoad;
    type.run = runLoad;
    return type;
}

} // namespace tw::components

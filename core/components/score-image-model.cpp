// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/portobjects.h"
#include "core/metrics/scoretable.h"
#include "core/metrics/scoring.h"
#include "core/train/devices.h"
#include "core/train/predictor.h"

#include <algorithm>
#include <limits>

namespace tw::components {

namespace {

QList<Error> validateValues(const ParameterValues &values)
{
    return checkIntegersUpTo(values, std::numeric_limits<int>::max(), {"batch_size", "k"});
}

/// Categories of the data that the model has no class for and that are known to have pictures.
QStringList unknownCategories(const PortFacts &data, const PortFacts &model)
{
    QStringList unknown;
    if (!data.categories || !data.counts || !model.categories || !data.labelled.value_or(false))
        return unknown;
    for (qsizetype i = 0; i < data.categories->size() && i < data.counts->size(); ++i)
        if (data.counts->at(i) > 0 && !model.categories->contains(data.categories->at(i)))
            unknown.append(data.categories->at(i));
    return unknown;
}

PreflightReply preflightScore(const PreflightRequest &request)
{
    PreflightReply reply;
    if (const auto device = resolveDevice(request.values.text("device")); !device.ok())
        reply.errors.append(Error(device.error()).atParameter(QStringLiteral("device")));
    const PortFacts data = request.inputs.value(QStringLiteral("dataset"));
    const PortFacts model = request.inputs.value(QStringLiteral("trained_model"));
    PortFacts facts;
    facts.images = data.images;
    facts.labelled = data.labelled;
    facts.categories = model.categories;
    if (const QStringList unknown = unknownCategories(data, model); !unknown.isEmpty()) {
        facts.extra.insert(QStringLiteral("unknown_categories"), unknown);
        reply.warnings.append(QStringLiteral("The model has no class for: %1").arg(quotedList(unknown)));
    }
    reply.summary = data.images ? QStringLiteral("%1 images").arg(groupedNumber(*data.images)) : QString();
    reply.outputs.insert(QStringLiteral("scored_dataset"), facts);
    return reply;
}

ScoreLayout layoutOf(const RunRequest &request, const ModelInfo &info, const ImageManifest &manifest)
{
    ScoreLayout layout;
    layout.classes = info.classes;
    layout.labelled = manifest.isLabelled();
    layout.logits = request.values.boolean("include_logits");
    if (request.values.text("probabilities") == QLatin1String("top_k"))
        layout.topK = int(std::min<qlonglong>(request.values.integer("k"), qlonglong(info.classes.size())));
    return layout;
}

void warnOfCategories(const ImageManifest &manifest, const ModelInfo &info, RunContext &context)
{
    QStringList unknown;
    for (const std::string &name : manifest.categories)
        if (std::find(info.classes.begin(), info.classes.end(), name) == info.classes.end())
            unknown.append(QString::fromStdString(name));
    if (manifest.isLabelled() && !unknown.isEmpty())
        context.log(LogLevel::Warning, QStringLiteral("The model has no class for: %1").arg(quotedList(unknown)));
}

ScoringPass passOf(const RunRequest &request, const ManifestPtr &manifest, Predictor &predictor,
                   ScoreTableWriter &table)
{
    RunContext &context = request.context;
    const auto nameOf = [manifest](std::uint32_t sample) { return manifest->displayName(sample); };
    ScoringPass pass{manifest, predictor.info(), [&](const Batch &batch) { return predictor.logits(batch); }};
    pass.batchSize = int(request.values.integer("batch_size"));
    pass.skipUnreadable = manifest->skipUnreadable;
    pass.stop = &context.stopToken();
    pass.picture = [manifest, nameOf, &table](const ScoredPicture &picture) {
        const int category = manifest->category(picture.sample);
        return table.add(nameOf(picture.sample),
                         category < 0 ? std::string_view() : manifest->categories[std::size_t(category)],
                         picture.probabilities, picture.logits);
    };
    pass.skipped = [nameOf, &context](std::uint32_t sample, const QString &reason) {
        context.log(LogLevel::Warning,
                    QStringLiteral("Left out '%1': %2").arg(QString::fromStdString(nameOf(sample)), reason));
    };
    pass.progress = [total = manifest->size(), &context](std::int64_t done, double imagesPerSecond) {
        context.progress(
            double(done) / double(total),
            QStringLiteral("scored %1 of %2 · %3 images/s").arg(done).arg(total).arg(imagesPerSecond, 0, 'f', 0));
    };
    pass.note = [&context](const QString &line) { context.log(LogLevel::Info, line); };
    return pass;
}

Result<RunReply> runScore(const RunRequest &request)
{
    RunContext &context = request.context;
    TW_ASSIGN(manifest, manifestInput(request, "dataset"));
    TW_ASSIGN(predictor, Predictor::load(request.inputs.value(QStringLiteral("trained_model")).folder,
                                         request.values.text("device")));
    const ModelInfo &info = predictor->info();
    if (manifest->transforms && *manifest->transforms != info.transforms)
        context.log(LogLevel::Info,
                    QStringLiteral("The operations attached to the data are not used: the model's own run instead."));
    warnOfCategories(*manifest, info, context);
    const QString port = QStringLiteral("scored_dataset");
    TW_ASSIGN(table, ScoreTableWriter::create(request.outputFolders.value(port), layoutOf(request, info, *manifest)));
    TW_ASSIGN(summary, scorePictures(passOf(request, manifest, *predictor, *table)));
    TW_TRY(table->finish());
    if (summary.undefined > 0)
        context.log(
            LogLevel::Warning,
            QStringLiteral("The network gave no numbers for %1 pictures; they have no label.").arg(summary.undefined));
    context.result(QStringLiteral("rows"), table->rows());
    context.log(LogLevel::Info, QStringLiteral("Scored %1 of %2 pictures.").arg(table->rows()).arg(manifest->size()));
    return RunReply{};
}

QList<ParameterChoice> deviceChoices()
{
    QList<ParameterChoice> choices{{QStringLiteral("auto"), QT_TRANSLATE_NOOP("Parameter", "Automatic")}};
    for (const DeviceInfo &device : devices())
        choices.append({device.id, device.name.isEmpty() ? device.id : device.name});
    return choices;
}

} // namespace

ComponentType score_image_model()
{
    ComponentType type;
    type.id = QStringLiteral("score-image-model");
    type.named(QT_TRANSLATE_NOOP("Component", "Score Image Model"),
               QT_TRANSLATE_NOOP("Component", "Model Scoring & Evaluation"),
               QT_TRANSLATE_NOOP("Component",
                                 "Asks the trained model about every picture and writes a table of probabilities."));
    type.input("trained_model", QT_TRANSLATE_NOOP("Component", "Trained model"), DataType::ModelDirectory);
    type.input("dataset", QT_TRANSLATE_NOOP("Component", "Dataset"), DataType::ImageDirectory);
    type.output("scored_dataset", QT_TRANSLATE_NOOP("Component", "Scored dataset"), DataType::DataTable);
    type.parameter(ParameterSpec::choice("probabilities", QT_TRANSLATE_NOOP("Parameter", "Probabilities"), "all",
                                         {{QStringLiteral("all"), QT_TRANSLATE_NOOP("Parameter", "All classes")},
                                          {QStringLiteral("top_k"), QT_TRANSLATE_NOOP("Parameter", "Top k")}})
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Whether the table holds a column for every "
                                                                "class or only the most probable ones.")));
    type.parameter(
        ParameterSpec::integer("k", QT_TRANSLATE_NOOP("Parameter", "k"), 5)
            .atLeast(1)
            .visibleWhen("probabilities", {QStringLiteral("top_k")})
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "How many of the most probable classes the table holds.")));
    type.parameter(ParameterSpec::boolean("include_logits", QT_TRANSLATE_NOOP("Parameter", "Include logits"), false)
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Adds the network's raw output for every class.")));
    type.parameter(ParameterSpec::integer("batch_size", QT_TRANSLATE_NOOP("Parameter", "Batch size"), 32)
                       .above(0)
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Pictures that go through the network at once.")));
    type.parameter(
        ParameterSpec::choice("device", QT_TRANSLATE_NOOP("Parameter", "Device"), "auto",
                              {{QStringLiteral("auto"), QT_TRANSLATE_NOOP("Parameter", "Automatic")}})
            .withMachineChoices(deviceChoices)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "The processor or graphics card to compute on; automatic "
                                                     "takes the first graphics card there is.")));
    type.validate = validateValues;
    type.preflight = preflightScore;
    type.run = runScore;
    return type;
}

} // namespace tw::components

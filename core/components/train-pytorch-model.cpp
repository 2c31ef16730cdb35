// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/component/portobjects.h"
#include "core/component/trainingchecks.h"
#include "core/data/datasetreport.h"
#include "core/train/architectures.h"
#include "core/train/cachechecks.h"
#include "core/train/devices.h"
#include "core/train/parity.h"
#include "core/train/preprocessingchecks.h"
#include "core/train/trainer.h"
#include "core/train/trainingdata.h"
#include "core/train/trainingparameters.h"

#include <QDateTime>
#include <QJsonArray>
#include <QJsonDocument>
#include <QRandomGenerator>

#include <algorithm>
#include <future>
#include <limits>

namespace tw::components {

namespace {

constexpr qlonglong largestThreads = 1024;

// --- Checks that need no machine ---------------------------------------------------------------

QList<Error> validateValues(const ParameterValues &values)
{
    QList<Error> faults = checkIntegersUpTo(values, largestThreads, {"num_workers", "prefetch", "threads"});
    const qlonglong nodes = values.integer("node_count"), processes = values.integer("process_count_per_node");
    if (nodes != 1 || processes != 1)
        faults.append(
            makeError(errors::InvalidResourceLayout,
                      QT_TRANSLATE_NOOP("Error", "%1 nodes with %2 processes each were asked for; this "
                                                 "version trains with one process on one node."),
                      {QString::number(nodes), QString::number(processes)},
                      QT_TRANSLATE_NOOP("Error", "Set both the node count and the process count per node to 1."))
                .atParameter(nodes != 1 ? QStringLiteral("node_count") : QStringLiteral("process_count_per_node")));
    if (values.integer("warmup_epochs") > values.integer("epochs"))
        faults.append(
            makeError(errors::LessThanOrEqualTo,
                      QT_TRANSLATE_NOOP("Error", "The warm-up of %1 epochs is longer than the training of %2 epochs."),
                      {QString::number(values.integer("warmup_epochs")), QString::number(values.integer("epochs"))},
                      QT_TRANSLATE_NOOP("Error", "Warm up for at most as many epochs as are trained."))
                .atParameter(QStringLiteral("warmup_epochs")));
    return faults;
}

// --- Checks of data and machine ----------------------------------------------------------------

/// Size of what the network sees, where the attached operations fix it.
std::optional<std::pair<int, int>> inputSize(const PortFacts &facts)
{
    const auto transforms = attachedOperations(facts);
    return transforms ? fixedOutputSize(*transforms) : std::nullopt;
}

/// Of the model at the input for the classes of the training dataset; nothing where neither is known yet.
std::optional<ModelConfig> modelConfig(const PreflightRequest &request)
{
    const PortFacts model = request.inputs.value(QStringLiteral("untrained_model"));
    const PortFacts training = request.inputs.value(QStringLiteral("training_dataset"));
    const QString architecture = model.extra.value(QStringLiteral("architecture")).toString();
    if (architecture.isEmpty())
        return std::nullopt;
    ModelConfig config{architecture,
                       QJsonObject::fromVariantMap(model.extra.value(QStringLiteral("arguments")).toMap())};
    if (training.categories)
        config.arguments.insert(QStringLiteral("num_classes"), qint64(training.categories->size()));
    return config;
}

Result<ModelSummary> summaryFor(const ModelConfig &config, const std::pair<int, int> &size)
{
    const int channels = config.arguments.value(QStringLiteral("in_channels")).toInt(3);
    return summarizeModel(config, channels, size.second, size.first);
}

/// Pictures that the network cannot read, where the operations fix their size.
void checkModelSize(const PreflightRequest &request, PreflightReply &reply)
{
    const auto config = modelConfig(request);
    if (!config || !modelInput(*config).ok() || !reply.errors.isEmpty())
        return;
    for (const char *port : {"training_dataset", "validation_dataset"}) {
        const auto size = inputSize(request.inputs.value(QLatin1String(port)));
        if (!size)
            continue;
        if (const auto summary = summaryFor(*config, *size); !summary.ok()) {
            Error fault = summary.error();
            fault.name = QLatin1String(errors::InvalidDataset); // as the run would say
            reply.errors.append(fault);
            return;
        }
    }
}

QString dataAndModelSummary(const PreflightRequest &request)
{
    const PortFacts training = request.inputs.value(QStringLiteral("training_dataset"));
    const PortFacts validation = request.inputs.value(QStringLiteral("validation_dataset"));
    QStringList parts;
    const auto size = inputSize(training);
    if (const auto config = modelConfig(request); config && training.categories && size)
        if (const auto summary = summaryFor(*config, *size); summary.ok())
            parts.append(modelFigures(summary->parameters, summary->multiplyAdds, summary->width, summary->height));
    if (training.images && validation.images)
        parts.append(
            QStringLiteral("%1 + %2 images").arg(groupedNumber(*training.images), groupedNumber(*validation.images)));
    return parts.join(QStringLiteral(" · "));
}

PreflightReply preflightTraining(const PreflightRequest &request)
{
    PreflightReply reply;
    checkTrainingData(request, reply);
    checkPreprocessing(request, reply);
    checkModelSize(request, reply);
    if (const auto device = resolveDevice(request.values.text("device")); !device.ok())
        reply.errors.append(Error(device.error()).atParameter(QStringLiteral("device")));
    PortFacts facts;
    facts.categories = request.inputs.value(QStringLiteral("training_dataset")).categories;
    reply.outputs.insert(QStringLiteral("trained_model"), facts);
    if (reply.errors.isEmpty())
        reply.summary = dataAndModelSummary(request);
    const PortFacts model = request.inputs.value(QStringLiteral("untrained_model"));
    if (request.values.text("trainable_layers") == QLatin1String("head")
        && model.extra.value(QStringLiteral("fresh_weights")).toBool())
        reply.warnings.append(freshHeadWarning());
    describeCache(request, reply);
    return reply;
}

// --- Training ----------------------------------------------------------------------------------

std::uint64_t seedOf(const ParameterValues &values, RunContext &context)
{
    if (values.isSet("random_seed"))
        return std::uint64_t(values.integer("random_seed"));
    const quint32 drawn = QRandomGenerator::system()->generate();
    context.log(LogLevel::Info, QStringLiteral("Random seed drawn: %1").arg(drawn));
    return drawn;
}

/// Parameters without an upper bound are cut at what an int holds; nobody waits for more.
int boundedInt(qlonglong value)
{
    return int(std::min<qlonglong>(value, std::numeric_limits<int>::max()));
}

void setOptimizer(TrainingSpec &spec, const ParameterValues &values)
{
    spec.optimizer = values.text("optimizer");
    spec.momentum = values.real("momentum");
    spec.nesterov = values.boolean("nesterov") && spec.momentum > 0;
    spec.beta1 = values.real("beta1");
    spec.beta2 = values.real("beta2");
    spec.weightDecay = values.real("weight_decay");
    spec.schedule = values.text("schedule");
    spec.power = values.real("power");
    spec.endLearningRate = values.real("end_learning_rate");
    spec.stepSize = boundedInt(values.integer("step_size"));
    spec.gamma = values.real("gamma");
}

TrainingSpec specOf(const ParameterValues &values, RunContext &context)
{
    TrainingSpec spec;
    spec.epochs = boundedInt(values.integer("epochs"));
    spec.batchSize = boundedInt(values.integer("batch_size"));
    spec.warmupEpochs = boundedInt(values.integer("warmup_epochs"));
    spec.learningRate = values.real("learning_rate");
    spec.seed = seedOf(values, context);
    spec.patience = boundedInt(values.integer("patience"));
    spec.printFrequency = boundedInt(values.integer("print_frequency"));
    spec.device = values.text("device");
    setOptimizer(spec, values);
    spec.trainableLayers = values.text("trainable_layers");
    spec.labelSmoothing = values.real("label_smoothing");
    spec.balancedClasses = values.text("class_weights") == QLatin1String("balanced");
    spec.gradientClipNorm = values.real("gradient_clip_norm");
    spec.accumulationSteps = boundedInt(values.integer("accumulation_steps"));
    spec.stopAfterMinutes = values.real("stop_after_minutes");
    spec.patienceAgainstPrevious = values.text("patience_reference") == QLatin1String("previous");
    spec.evaluateTrainingSet = values.text("evaluate_training_set");
    spec.keep = values.text("keep");
    spec.numWorkers = values.isSet("num_workers") ? int(values.integer("num_workers")) : automaticWorkers();
    spec.prefetch = boundedInt(values.integer("prefetch"));
    spec.cache = cacheModeOf(values);
    spec.cacheDetail = cacheDetailOf(values);
    spec.fastPixels = values.text("pixel_path") == QLatin1String("fast");
    spec.onNan = values.text("on_nan");
    spec.requireSameCategories = values.boolean("require_same_categories");
    spec.normalization = values.text("normalization");
    spec.threads = boundedInt(values.integer("threads"));
    return spec;
}

QJsonObject provenance(const TrainingSpec &spec, const RunContext &context)
{
    const fs::path job = context.nodeFolder().parent_path().parent_path();
    QJsonObject origin{{QStringLiteral("program"), QStringLiteral("trainwright " TRAINWRIGHT_VERSION)},
                       {QStringLiteral("libtorch"), libtorchVersion()},
                       {QStringLiteral("job"), displayPath(job.filename())},
                       {QStringLiteral("node"), context.nodeId()},
                       {QStringLiteral("seed"), QString::number(qint64(spec.seed))},
                       {QStringLiteral("training_fingerprint"), QString::fromStdString(spec.training->fingerprint)},
                       {QStringLiteral("validation_fingerprint"), QString::fromStdString(spec.validation->fingerprint)},
                       {QStringLiteral("created"), QDateTime::currentDateTimeUtc().toString(Qt::ISODate)}};
    if (const auto &known = spec.model.preprocessing)
        origin.insert(QStringLiteral("weights_preprocessing"), QJsonDocument::fromJson(known->toJson()).object());
    return origin;
}

/// Beside the figures that train() itself reports.
void reportResults(const TrainingResult &result, RunContext &context)
{
    context.result(QStringLiteral("classes"), qint64(result.info.classes.size()));
    context.result(QStringLiteral("architecture"), result.info.config.architecture);
    if (result.stopped.isEmpty())
        return;
    context.result(QStringLiteral("stopped"), result.stopped);
    // Patience is a rule of the parameters and ends at the same epoch again: as good as any other end.
    if (result.stopped != QLatin1String("patience"))
        context.stoppedEarly(result.stopped);
}

/// Pictures that stand in both sets make the validation figures too good: said, never an error.
Result<void> reportLeaks(const ManifestPtr &training, const ManifestPtr &validation, RunContext &context)
{
    TW_ASSIGN(report, DatasetReport::of(training, validation,
                                        {QStringLiteral("training_dataset"), QStringLiteral("validation_dataset")},
                                        &context.stopToken()));
    const QStringList leaks = report.leakSentences(QStringLiteral("training set"), QStringLiteral("validation set"));
    for (const QString &leak : leaks)
        context.log(LogLevel::Warning, leak);
    if (!leaks.isEmpty())
        context.log(LogLevel::Info, QStringLiteral("They are listed in data_report.json in the folder of this log; "
                                                   "figures of pictures that were trained on are too good."));
    const fs::path folder = context.nodeFolder() / "logs";
    TW_TRY(makeFolder(folder));
    return writeFileAtomically(folder / "data_report.json", report.toJson({}));
}

/// Beside the first steps: nobody waits for the comparison, and what it finds is said within them.
std::future<void> reportLeaksBeside(const ManifestPtr &training, const ManifestPtr &validation, RunContext &context)
{
    return std::async(std::launch::async, [training, validation, &context] {
        const Result<void> reported = reportLeaks(training, validation, context);
        if (!reported.ok() && reported.error().name != QLatin1String(errors::Canceled))
            context.log(LogLevel::Warning,
                        QStringLiteral("No report on both sets: %1").arg(reported.error().sentence()));
    });
}

/// The model directory, whole and checked: the folder is the engine's, which drops it after an error.
Result<void> writeModel(const fs::path &folder, const TrainingSpec &spec, TrainingResult &result, RunContext &context)
{
    result.info.provenance = provenance(spec, context);
    ModelDirectoryExtras extras;
    extras.metricsFile = context.nodeFolder() / "metrics.jsonl";
    if (const auto pipeline =
            readFile(context.nodeFolder().parent_path().parent_path() / "pipeline.json", errors::InvalidPipeline);
        pipeline.ok())
        extras.pipeline = *pipeline;
    TW_TRY(writeModelDirectory(folder, result.info, result.weights, extras));
    return certifyModel(
        folder, {result.info, result.weights, spec.validation, spec.seed, spec.batchSize, spec.device, spec.threads},
        context);
}

Result<RunReply> runTraining(const RunRequest &request)
{
    RunContext &context = request.context;
    TrainingSpec spec = specOf(request.values, context);
    TW_ASSIGN(model, untrainedModelInput(request, "untrained_model"));
    TW_ASSIGN(training, manifestInput(request, "training_dataset"));
    TW_ASSIGN(validation, manifestInput(request, "validation_dataset"));
    spec.model = model;
    spec.training = training;
    spec.validation = validation;
    const std::future<void> leaks = reportLeaksBeside(training, validation, context); // its end waits
    TW_ASSIGN(result, train(spec, context));
    TW_TRY(writeModel(request.outputFolders.value(QStringLiteral("trained_model")), spec, result, context));
    reportResults(result, context);
    return RunReply{};
}

} // namespace

ComponentType train_pytorch_model()
{
    ComponentType type;
    type.id = QStringLiteral("train-pytorch-model");
    type.named(QT_TRANSLATE_NOOP("Component", "Train PyTorch Model"), QT_TRANSLATE_NOOP("Component", "Model Training"),
               QT_TRANSLATE_NOOP("Component", "Trains the network on the training pictures and keeps the "
                                              "weights that do best on the validation pictures."));
    type.input("untrained_model", QT_TRANSLATE_NOOP("Component", "Untrained model"), DataType::UntrainedModelDirectory);
    type.input("training_dataset", QT_TRANSLATE_NOOP("Component", "Training dataset"), DataType::ImageDirectory);
    type.input("validation_dataset", QT_TRANSLATE_NOOP("Component", "Validation dataset"), DataType::ImageDirectory);
    type.output("trained_model", QT_TRANSLATE_NOOP("Component", "Trained model"), DataType::ModelDirectory);
    addTrainingParameters(type);
    type.validate = validateValues;
    type.preflight = preflightTraining;
    type.run = runTraining;
    return type;
}

} // namespace tw::components

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/component/portobjects.h"
#include "core/component/trainingchecks.h"
#include "core/data/datasetreport.h"
#include "core/train/architectures.h"
#include "core/train/cachechecks.h"
#include "core/train/devices.h"
#include "core/train/trainer.h"

#include <QDateTime>
#include <QJsonArray>
#include <QRandomGenerator>

#include <algorithm>
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

QString dataAndModelSummary(const PreflightRequest &request)
{
    const PortFacts model = request.inputs.value(QStringLiteral("untrained_model"));
    const PortFacts training = request.inputs.value(QStringLiteral("training_dataset"));
    const PortFacts validation = request.inputs.value(QStringLiteral("validation_dataset"));
    QStringList parts;
    const auto size = inputSize(training);
    const QString architecture = model.extra.value(QStringLiteral("architecture")).toString();
    if (training.categories && size && !architecture.isEmpty()) {
        ModelConfig config{architecture,
                           QJsonObject::fromVariantMap(model.extra.value(QStringLiteral("arguments")).toMap())};
        config.arguments.insert(QStringLiteral("num_classes"), qint64(training.categories->size()));
        const int channels = config.arguments.value(QStringLiteral("in_channels")).toInt(3);
        if (const auto summary = summarizeModel(config, channels, size->second, size->first); summary.ok())
            parts.append(modelFigures(summary->parameters, summary->multiplyAdds, summary->width, summary->height));
    }
    if (training.images && validation.images)
        parts.append(
            QStringLiteral("%1 + %2 images").arg(groupedNumber(*training.images), groupedNumber(*validation.images)));
    return parts.join(QStringLiteral(" · "));
}

PreflightReply preflightTraining(const PreflightRequest &request)
{
    PreflightReply reply;
    checkTrainingData(request, reply);
    if (const auto device = resolveDevice(request.values.text("device")); !device.ok())
        reply.errors.append(Error(device.error()).atParameter(QStringLiteral("device")));
    PortFacts facts;
    facts.categories = request.inputs.value(QStringLiteral("training_dataset")).categories;
    reply.outputs.insert(QStringLiteral("trained_model"), facts);
    if (reply.errors.isEmpty())
        reply.summary = dataAndModelSummary(request);
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
    return {{QStringLiteral("program"), QStringLiteral("trainwright " TRAINWRIGHT_VERSION)},
            {QStringLiteral("libtorch"), libtorchVersion()},
            {QStringLiteral("job"), displayPath(job.filename())},
            {QStringLiteral("node"), context.nodeId()},
            {QStringLiteral("seed"), QString::number(qint64(spec.seed))},
            {QStringLiteral("training_fingerprint"), QString::fromStdString(spec.training->fingerprint)},
            {QStringLiteral("validation_fingerprint"), QString::fromStdString(spec.validation->fingerprint)},
            {QStringLiteral("created"), QDateTime::currentDateTimeUtc().toString(Qt::ISODate)}};
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
    return writeFileAtomically(folder / "data_report.json", report.toJson({}, 1));
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
    TW_TRY(reportLeaks(training, validation, context));
    TW_ASSIGN(result, train(spec, context));
    result.info.provenance = provenance(spec, context);
    ModelDirectoryExtras extras;
    extras.metricsFile = context.nodeFolder() / "metrics.jsonl";
    if (const auto pipeline =
            readFile(context.nodeFolder().parent_path().parent_path() / "pipeline.json", errors::InvalidPipeline);
        pipeline.ok())
        extras.pipeline = *pipeline;
    const QString port = QStringLiteral("trained_model");
    TW_TRY(writeModelDirectory(request.outputFolders.value(port), result.info, result.weights, extras));
    reportResults(result, context);
    return RunReply{};
}

// --- Declaration -------------------------------------------------------------------------------

QList<ParameterChoice> deviceChoices()
{
    QList<ParameterChoice> choices{{QStringLiteral("auto"), QT_TRANSLATE_NOOP("Parameter", "Automatic")}};
    for (const DeviceInfo &device : devices())
        choices.append(
            {device.id, device.name.isEmpty() ? device.id : QStringLiteral("%1 · %2").arg(device.id, device.name)});
    return choices;
}

void addBasicParameters(ComponentType &type)
{
    type.parameter(
        ParameterSpec::integer("epochs", QT_TRANSLATE_NOOP("Parameter", "Epochs"), 5)
            .above(0)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "How often training goes through all training pictures.")));
    type.parameter(
        ParameterSpec::integer("batch_size", QT_TRANSLATE_NOOP("Parameter", "Batch size"), 16)
            .above(0)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Pictures per step and process; more need more memory.")));
    type.parameter(ParameterSpec::integer("warmup_epochs", QT_TRANSLATE_NOOP("Parameter", "Warmup step number"), 0)
                       .atLeast(0)
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "epochs"))
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Epochs in which the learning rate rises linearly to its initial value.")));
    type.parameter(ParameterSpec::real("learning_rate", QT_TRANSLATE_NOOP("Parameter", "Learning rate"), 0.001)
                       .above(0)
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Initial learning rate: too high diverges, too low learns slowly.")));
    type.parameter(ParameterSpec::integer("random_seed", QT_TRANSLATE_NOOP("Parameter", "Random seed"), 1)
                       .isAutomatic(QT_TRANSLATE_NOOP("Parameter", "drawn at the start"))
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Seeds weights, shuffling and augmentation; "
                                                                "the same seed gives the same result.")));
    type.parameter(ParameterSpec::integer("patience", QT_TRANSLATE_NOOP("Parameter", "Patience"), 3)
                       .above(0)
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "epochs"))
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Training stops after this many epochs in a "
                                                                "row without a lower validation loss.")));
    type.parameter(ParameterSpec::integer("print_frequency", QT_TRANSLATE_NOOP("Parameter", "Print frequency"), 10)
                       .above(0)
                       .keepsResult()
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "iterations"))
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Iterations between two lines of the training log.")));
    type.parameter(ParameterSpec::integer("node_count", QT_TRANSLATE_NOOP("Parameter", "Node count"), 1)
                       .atLeast(1)
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Number of machines that train together.")));
    type.parameter(
        ParameterSpec::integer("process_count_per_node", QT_TRANSLATE_NOOP("Parameter", "Process count per node"), 1)
            .atLeast(1)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Number of training processes on each machine.")));
    type.parameter(ParameterSpec::choice("device", QT_TRANSLATE_NOOP("Parameter", "Device"), "auto",
                                         {{QStringLiteral("auto"), QT_TRANSLATE_NOOP("Parameter", "Automatic")}})
                       .withMachineChoices(deviceChoices)
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "The processor or graphics card to train on; automatic "
                                                                "takes the first graphics card there is.")));
}

void addAdamParameters(ComponentType &type)
{
    const QStringList adam{QStringLiteral("adam"), QStringLiteral("adamw")};
    const auto beta = [&](const char *id, const char *label, double value, const char *help) {
        type.parameter(ParameterSpec::real(id, label, value)
                           .atLeast(0)
                           .below(1)
                           .isAdvanced()
                           .visibleWhen("optimizer", adam)
                           .withHelp(help));
    };
    beta("beta1", QT_TRANSLATE_NOOP("Parameter", "Beta 1"), 0.9,
         QT_TRANSLATE_NOOP("Parameter", "Decay of the running mean of gradients."));
    beta("beta2", QT_TRANSLATE_NOOP("Parameter", "Beta 2"), 0.999,
         QT_TRANSLATE_NOOP("Parameter", "Decay of the running mean of squared gradients."));
}

void addOptimizerParameters(ComponentType &type)
{
    const QStringList sgd{QStringLiteral("sgd")};
    type.parameter(ParameterSpec::choice("optimizer", QT_TRANSLATE_NOOP("Parameter", "Optimizer"), "sgd",
                                         {{QStringLiteral("sgd"), QT_TRANSLATE_NOOP("Parameter", "SGD")},
                                          {QStringLiteral("adam"), QT_TRANSLATE_NOOP("Parameter", "Adam")},
                                          {QStringLiteral("adamw"), QT_TRANSLATE_NOOP("Parameter", "AdamW")}})
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "The rule that turns gradients into steps.")));
    type.parameter(
        ParameterSpec::real("momentum", QT_TRANSLATE_NOOP("Parameter", "Momentum"), 0.9)
            .atLeast(0)
            .below(1)
            .isAdvanced()
            .visibleWhen("optimizer", sgd)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Share of the last step that is kept in the next one.")));
    type.parameter(ParameterSpec::boolean("nesterov", QT_TRANSLATE_NOOP("Parameter", "Nesterov"), true)
                       .isAdvanced()
                       .visibleWhen("optimizer", sgd)
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Looks one step of momentum ahead; without momentum it has no effect.")));
    addAdamParameters(type);
    type.parameter(
        ParameterSpec::real("weight_decay", QT_TRANSLATE_NOOP("Parameter", "Weight decay"), 1e-4)
            .atLeast(0)
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Pulls all weights towards zero, against overfitting.")));
}

void addScheduleParameters(ComponentType &type)
{
    const QStringList polynomial{QStringLiteral("polynomial")}, step{QStringLiteral("step")};
    type.parameter(ParameterSpec::choice("schedule", QT_TRANSLATE_NOOP("Parameter", "Schedule"), "polynomial",
                                         {{QStringLiteral("polynomial"), QT_TRANSLATE_NOOP("Parameter", "Polynomial")},
                                          {QStringLiteral("cosine"), QT_TRANSLATE_NOOP("Parameter", "Cosine")},
                                          {QStringLiteral("step"), QT_TRANSLATE_NOOP("Parameter", "Step")},
                                          {QStringLiteral("constant"), QT_TRANSLATE_NOOP("Parameter", "Constant")}})
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "How the learning rate falls after the warm-up.")));
    type.parameter(ParameterSpec::real("power", QT_TRANSLATE_NOOP("Parameter", "Power"), 2)
                       .above(0)
                       .isAdvanced()
                       .visibleWhen("schedule", polynomial)
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Exponent of the fall: 1 is a straight line, 2 falls faster at first.")));
    type.parameter(ParameterSpec::real("end_learning_rate", QT_TRANSLATE_NOOP("Parameter", "End learning rate"), 0)
                       .atLeast(0)
                       .isAdvanced()
                       .visibleWhen("schedule", {QStringLiteral("polynomial"), QStringLiteral("cosine")})
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Learning rate that the schedule falls to.")));
    type.parameter(ParameterSpec::integer("step_size", QT_TRANSLATE_NOOP("Parameter", "Step size"), 7)
                       .above(0)
                       .isAdvanced()
                       .visibleWhen("schedule", step)
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "epochs"))
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Epochs between two falls of the learning rate.")));
    type.parameter(ParameterSpec::real("gamma", QT_TRANSLATE_NOOP("Parameter", "Gamma"), 0.1)
                       .above(0)
                       .atMost(1)
                       .isAdvanced()
                       .visibleWhen("schedule", step)
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Factor of the learning rate at each fall.")));
}

void addLossParameters(ComponentType &type)
{
    type.parameter(ParameterSpec::real("label_smoothing", QT_TRANSLATE_NOOP("Parameter", "Label smoothing"), 0)
                       .atLeast(0)
                       .below(1)
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Share of the target that is spread over all classes, "
                                                                "against overconfidence; 0 spreads none.")));
    type.parameter(
        ParameterSpec::choice("class_weights", QT_TRANSLATE_NOOP("Parameter", "Class weights"), "none",
                              {{QStringLiteral("none"), QT_TRANSLATE_NOOP("Parameter", "None")},
                               {QStringLiteral("balanced"), QT_TRANSLATE_NOOP("Parameter", "Balanced")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Balanced lets rare classes count as much in the training loss as "
                                                     "common ones; validation figures stay unweighted.")));
    type.parameter(
        ParameterSpec::real("gradient_clip_norm", QT_TRANSLATE_NOOP("Parameter", "Gradient clip norm"), 0)
            .atLeast(0)
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Longer gradients are shortened to this norm; 0 is off.")));
    type.parameter(
        ParameterSpec::integer("accumulation_steps", QT_TRANSLATE_NOOP("Parameter", "Accumulation steps"), 1)
            .atLeast(1)
            .isAdvanced()
            .withUnit(QT_TRANSLATE_NOOP("Parameter", "batches"))
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Batches whose gradients make one step: a larger batch for the "
                                                     "memory of a small one.")));
}

void addStoppingParameters(ComponentType &type)
{
    type.parameter(
        ParameterSpec::real("stop_after_minutes", QT_TRANSLATE_NOOP("Parameter", "Stop after"), 0)
            .atLeast(0)
            .isAdvanced()
            .withUnit(QT_TRANSLATE_NOOP("Parameter", "minutes"))
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Training ends after this time and keeps the best weights; 0 is "
                                                     "off.")));
    type.parameter(
        ParameterSpec::choice("patience_reference", QT_TRANSLATE_NOOP("Parameter", "Patience reference"), "best",
                              {{QStringLiteral("best"), QT_TRANSLATE_NOOP("Parameter", "Best epoch")},
                               {QStringLiteral("previous"), QT_TRANSLATE_NOOP("Parameter", "Previous epoch")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter",
                                        "The validation loss that an epoch must be below to be no loss of patience.")));
    type.parameter(
        ParameterSpec::choice("evaluate_training_set", QT_TRANSLATE_NOOP("Parameter", "Evaluate training set"), "never",
                              {{QStringLiteral("never"), QT_TRANSLATE_NOOP("Parameter", "Never")},
                               {QStringLiteral("end"), QT_TRANSLATE_NOOP("Parameter", "At the end")},
                               {QStringLiteral("each_epoch"), QT_TRANSLATE_NOOP("Parameter", "After each epoch")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Accuracy on the training pictures as validation sees them; "
                                                     "costs a pass over them.")));
}

void addLoopParameters(ComponentType &type)
{
    type.parameter(
        ParameterSpec::choice("keep", QT_TRANSLATE_NOOP("Parameter", "Keep"), "best_top1",
                              {{QStringLiteral("best_top1"), QT_TRANSLATE_NOOP("Parameter", "Best top-1 accuracy")},
                               {QStringLiteral("best_loss"), QT_TRANSLATE_NOOP("Parameter", "Lowest validation loss")},
                               {QStringLiteral("last"), QT_TRANSLATE_NOOP("Parameter", "Last epoch")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Which epoch's weights become the trained model.")));
    type.parameter(
        ParameterSpec::integer("num_workers", QT_TRANSLATE_NOOP("Parameter", "Loader threads"), std::nullopt)
            .atLeast(0)
            .isAutomatic(QT_TRANSLATE_NOOP("Parameter", "auto"))
            .isAdvanced()
            .keepsResult()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Threads that load pictures; 0 loads on the training thread.")));
    type.parameter(ParameterSpec::integer("prefetch", QT_TRANSLATE_NOOP("Parameter", "Prefetch"), 2)
                       .atLeast(1)
                       .isAdvanced()
                       .keepsResult()
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "batches"))
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Batches that each loader thread prepares ahead.")));
    addCacheParameters(type);
    type.parameter(ParameterSpec::choice("on_nan", QT_TRANSLATE_NOOP("Parameter", "On NaN loss"), "stop",
                                         {{QStringLiteral("stop"), QT_TRANSLATE_NOOP("Parameter", "Stop")},
                                          {QStringLiteral("continue"), QT_TRANSLATE_NOOP("Parameter", "Continue")}})
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Whether a loss that is not a number ends the "
                                                                "training and keeps the best weights.")));
    type.parameter(ParameterSpec::boolean("require_same_categories",
                                          QT_TRANSLATE_NOOP("Parameter", "Require same categories"), false)
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Refuses validation pictures that lack a "
                                                                "category of training instead of warning.")));
    type.parameter(
        ParameterSpec::choice(
            "normalization", QT_TRANSLATE_NOOP("Parameter", "Normalization"), "weights",
            {{QStringLiteral("weights"), QT_TRANSLATE_NOOP("Parameter", "As the initial weights")},
             {QStringLiteral("imagenet"), QT_TRANSLATE_NOOP("Parameter", "ImageNet")},
             {QStringLiteral("half"), QT_TRANSLATE_NOOP("Parameter", "Half (−1 to 1)")},
             {QStringLiteral("dataset"), QT_TRANSLATE_NOOP("Parameter", "Measured on the training pictures")},
             {QStringLiteral("none"), QT_TRANSLATE_NOOP("Parameter", "None (0 to 1)")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter",
                                        "Mean and deviation that pixels are scaled by; stored with the model.")));
    type.parameter(
        ParameterSpec::choice("pixel_path", QT_TRANSLATE_NOOP("Parameter", "Training pixels"), "exact",
                              {{QStringLiteral("exact"), QT_TRANSLATE_NOOP("Parameter", "Exact")},
                               {QStringLiteral("fast"), QT_TRANSLATE_NOOP("Parameter", "Fast")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Exact resizes as Pillow does, bit for bit. Fast decodes large "
                                                     "JPEG pictures smaller and rounds once, for training batches "
                                                     "only; validation is always exact.")));
    type.parameter(ParameterSpec::integer("threads", QT_TRANSLATE_NOOP("Parameter", "Threads"), 0)
                       .atLeast(0)
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter",
                                                   "Processor threads for the computation; 0 lets LibTorch choose.")));
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
    addBasicParameters(type);
    addOptimizerParameters(type);
    addScheduleParameters(type);
    addLossParameters(type);
    addStoppingParameters(type);
    addLoopParameters(type);
    type.validate = validateValues;
    type.preflight = preflightTraining;
    type.run = runTraining;
    return type;
}

} // namespace tw::components

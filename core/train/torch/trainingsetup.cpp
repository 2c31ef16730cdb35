// SPDX-License-Identifier: GPL-3.0-or-later
// The first and last steps of a TrainingRun: everything before the first batch and after the last.
#include "core/base/paths.h"
#include "core/data/imagesizes.h"
#include "core/train/architectures.h"
#include "core/train/devices.h"
#include "core/train/torch/torchthreads.h"
#include "core/train/torch/trainingrun.h"
#include "core/train/torch/weights.h"

#include <QMap>

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>

namespace tw {

Result<void> TrainingRun::initialise()
{
    openCudaLibrary();
    TW_ASSIGN(device, resolveDevice(m_spec.device));
    m_device = at::Device(device.toStdString());
    m_threads = useTorchThreads(m_spec.threads);
    TW_ASSIGN(data, checkTrainingData(m_spec));
    m_data = std::move(data);
    TW_TRY(initialiseNetwork());
    TW_TRY(checkMemory());
    TW_TRY(openCaches());
    TW_TRY(initialiseLoaders());
    writeHeader();
    return {};
}

Result<void> TrainingRun::initialiseNetwork()
{
    TW_ASSIGN(architecture, findArchitecture(m_spec.model.config.architecture));
    m_architecture = architecture;
    TW_TRY(checkImages());
    TW_ASSIGN(size, inputSize(m_data.validation, m_data.inferenceTransforms, m_spec.seed));
    m_info.height = size.height;
    m_info.width = size.width;
    TW_ASSIGN(channels, inputChannels(m_spec.model.config));
    TW_TRY(checkPictureChannels(m_spec.model.config));
    m_info.channels = channels;
    m_info.classes = m_data.training->categories;
    m_info.transforms = m_data.inferenceTransforms;
    m_info.config = completedConfig(m_spec.model.config, *m_architecture, int(m_info.classes.size()), m_info.channels,
                                    size.height, size.width);
    TW_TRY(checkInputSizes());
    TW_ASSIGN(normalization, resolveNormalization(m_spec, m_data, &m_context.stopToken()));
    m_info.normalization = normalization;
    at::manual_seed(m_spec.seed);
    TW_TRY(checkWeightsMemory());
    TW_ASSIGN(network, makeNetwork(m_info.config, TensorPlace::Memory));
    m_network = std::move(network);
    at::Generator generator = at::detail::createCPUGenerator(m_spec.seed);
    m_network->initialise(generator);
    TW_TRY(loadInitialWeights());
    if (m_architecture->channelsLast)
        m_network->useChannelsLast();
    m_network->moveTo(*m_device);
    chooseLayers();
    initialiseOptimizer();
    initialiseLoss();
    return {};
}

void TrainingRun::chooseLayers()
{
    if (m_spec.trainableLayers != QLatin1String("head"))
        return;
    m_network->trainHeadOnly();
    if (m_spec.model.weightsFile.empty())
        m_data.warnings.append(freshHeadWarning());
}

void TrainingRun::initialiseOptimizer()
{
    std::vector<at::Tensor> trained = m_network->trainableParameters();
    if (m_spec.optimizer == QLatin1String("sgd"))
        m_optimizer = makeSgd(std::move(trained), {m_spec.momentum, m_spec.nesterov, m_spec.weightDecay});
    else
        m_optimizer = makeAdam(std::move(trained), {m_spec.beta1, m_spec.beta2, 1e-8, m_spec.weightDecay,
                                                    m_spec.optimizer == QLatin1String("adamw")});
}

void TrainingRun::initialiseLoss()
{
    if (m_spec.balancedClasses)
        m_classWeights = at::tensor(balancedClassWeights(m_data.training->counts()), at::kFloat).to(*m_device);
}

/// What would otherwise be found in the first validation, with an epoch lost.
Result<void> TrainingRun::checkImages()
{
    SizeCheck check;
    check.oneSize = m_spec.batchSize > 1 || m_architecture->readsOneSize();
    check.workers = std::max(1, m_spec.numWorkers);
    check.stop = &m_context.stopToken();
    check.progress = [this](std::int64_t done, std::int64_t total) {
        m_context.progress(-1, QStringLiteral("compared the sizes of %1 of %2").arg(done).arg(total));
    };
    check.role = QStringLiteral("validation");
    TW_TRY(checkImageSizes(*m_data.validation, m_data.inferenceTransforms, check));
    if (m_data.validationTransforms != m_data.inferenceTransforms)
        TW_TRY(checkImageSizes(*m_data.validation, m_data.validationTransforms, check));
    check.role = QStringLiteral("training");
    return checkImageSizes(*m_data.training, m_data.trainingTransforms, check);
}

Result<void> TrainingRun::checkInputSizes()
{
    if (!m_architecture->readsOneSize()) {
        if (std::min(m_info.height, m_info.width) >= m_architecture->minimumSize)
            return {};
        return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "%1 cannot read images of %2×%3 pixels."),
                         {m_architecture->name, QString::number(m_info.width), QString::number(m_info.height)},
                         QT_TRANSLATE_NOOP("Error", "Use larger images or another network."));
    }
    // Given with initial weights, whose dense layers fit that size alone; a square one is always known.
    const QJsonObject &given = m_spec.model.config.arguments;
    const auto square = m_architecture->squareInput ? onlySize(*m_architecture, m_info.config) : std::nullopt;
    const int width = square ? square->width : given.value(QLatin1String("width")).toInt(m_info.width);
    const int height = square ? square->height : given.value(QLatin1String("height")).toInt(m_info.height);
    if (width != m_info.width || height != m_info.height)
        return makeError(errors::InvalidDataset,
                         QT_TRANSLATE_NOOP("Error", "The model (%1) reads pictures of %2×%3 pixels only, but the "
                                                    "validation images come with %4×%5."),
                         {m_architecture->name, QString::number(width), QString::number(height),
                          QString::number(m_info.width), QString::number(m_info.height)},
                         QT_TRANSLATE_NOOP("Error", "Resize and crop both datasets to %2×%3, or use another model."));
    TW_ASSIGN(training, inputSize(m_data.training, m_data.trainingTransforms, m_spec.seed));
    if (m_architecture->squareInput) {
        TW_TRY(checkOnlySize(QStringLiteral("training"), training.width, training.height));
        return checkOnlySize(QStringLiteral("validation"), m_info.width, m_info.height);
    }
    if (training.height == m_info.height && training.width == m_info.width)
        return {};
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "%1 reads images of one size, but the training images are "
                                                "%2×%3 pixels and the validation images %4×%5."),
                     {m_architecture->name, QString::number(training.width), QString::number(training.height),
                      QString::number(m_info.width), QString::number(m_info.height)},
                     QT_TRANSLATE_NOOP("Error", "Crop or resize both datasets to the same size."));
}

Result<void> TrainingRun::checkOnlySize(const QString &role, int width, int height) const
{
    const auto only = onlySize(*m_architecture, m_info.config);
    if (width == only->width && height == only->height)
        return {};
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "%1 reads images of %2×%3 pixels only, but the %4 images are %5×%6."),
                     {m_architecture->name, QString::number(only->width), QString::number(only->height), role,
                      QString::number(width), QString::number(height)},
                     QT_TRANSLATE_NOOP("Error", "Resize and crop the images to %2×%3 pixels in Init Image "
                                                "Transformation, or use another network."));
}

Result<void> TrainingRun::loadInitialWeights()
{
    if (m_spec.model.weightsFile.empty())
        return {};
    TW_ASSIGN(initial, readInitialWeights(m_info.config, m_spec.model.weightsFile, m_spec.model.weightsSha256));
    for (const QString &note : std::as_const(initial.notes))
        m_report.warning(note);
    ImportOptions options;
    options.headPrefix = m_network->headPrefix();
    options.lenientTypes = true;
    options.network = m_architecture->name;
    const QString file = displayPath(m_spec.model.weightsFile);
    TW_TRY(importWeights(*m_network, initial.weights, file, options));
    const auto classes = replacedHead(*m_network, initial.weights, options);
    m_report.line(classes
                      ? QStringLiteral("The last layer of %1 is for %2 classes: it is replaced by a new one for %3.")
                            .arg(file)
                            .arg(*classes)
                            .arg(m_info.classes.size())
                      : QStringLiteral("All weights of %1 are taken, the last layer for %2 classes too.")
                            .arg(file)
                            .arg(m_info.classes.size()));
    return {};
}

LoaderOptions TrainingRun::loaderOptions() const
{
    LoaderOptions options;
    options.batchSize = m_spec.batchSize;
    options.numWorkers = m_spec.numWorkers;
    options.prefetch = m_spec.prefetch;
    options.seed = m_spec.seed;
    options.normalization = m_info.normalization;
    options.channels = m_info.channels;
    options.order = m_architecture->channelsLast ? MemoryOrder::ChannelsLast : MemoryOrder::ChannelsFirst;
    return options;
}

Result<void> TrainingRun::openCaches()
{
    TW_ASSIGN(caches,
              TrainingCaches::open(m_spec, m_data, m_context.cacheFolder(), m_stepBytes, &m_context.stopToken()));
    m_caches = std::move(caches);
    return {};
}

Result<void> TrainingRun::initialiseLoaders()
{
    LoaderOptions options = loaderOptions();
    options.cache = m_caches.training;
    options.pixelPath = m_spec.fastPixels ? PixelPath::Fast : PixelPath::Exact;
    options.shuffle = true;
    options.dropSingleLast = m_spec.batchSize > 1;
    options.skipUnreadable = m_data.training->skipUnreadable;
    TW_ASSIGN(training, BatchLoader::create(m_data.training, m_data.trainingTransforms, options));
    TW_ASSIGN(validation, evaluationLoader(m_data.validation, m_data.validationTransforms, m_caches.validation));
    m_trainingLoader = std::move(training);
    m_validationLoader = std::move(validation);
    if (m_spec.evaluateTrainingSet != QLatin1String("never")) {
        TW_ASSIGN(evaluation,
                  evaluationLoader(m_data.training, m_data.inferenceTransforms, m_caches.trainingEvaluation));
        m_trainingEvaluationLoader = std::move(evaluation);
    }
    const auto batches = std::int64_t(m_trainingLoader->batchesPerEpoch());
    m_stepsPerEpoch = (batches + m_spec.accumulationSteps - 1) / m_spec.accumulationSteps;
    return {};
}

Result<std::unique_ptr<BatchLoader>> TrainingRun::evaluationLoader(const ManifestPtr &manifest,
                                                                   const TransformList &transforms,
                                                                   const std::shared_ptr<PictureCache> &cache) const
{
    LoaderOptions options = loaderOptions();
    options.cache = cache;
    options.skipUnreadable = manifest->skipUnreadable;
    return BatchLoader::create(manifest, transforms, options);
}

static QString optimizerText(const TrainingSpec &spec)
{
    if (spec.optimizer == QLatin1String("sgd"))
        return QStringLiteral("SGD: momentum %1, Nesterov %2, weight decay %3")
            .arg(spec.momentum)
            .arg(spec.nesterov ? QStringLiteral("yes") : QStringLiteral("no"))
            .arg(spec.weightDecay);
    return QStringLiteral("%1: beta1 %2, beta2 %3, weight decay %4")
        .arg(spec.optimizer == QLatin1String("adam") ? QStringLiteral("Adam") : QStringLiteral("AdamW"))
        .arg(spec.beta1)
        .arg(spec.beta2)
        .arg(spec.weightDecay);
}

static QString scheduleText(const TrainingSpec &spec)
{
    if (spec.schedule == QLatin1String("polynomial"))
        return QStringLiteral("polynomial schedule, power %1, end %2").arg(spec.power).arg(spec.endLearningRate);
    if (spec.schedule == QLatin1String("cosine"))
        return QStringLiteral("cosine schedule, end %1").arg(spec.endLearningRate);
    if (spec.schedule == QLatin1String("step"))
        return QStringLiteral("step schedule, × %1 every %2 epochs").arg(spec.gamma).arg(spec.stepSize);
    return QStringLiteral("constant learning rate");
}

static QString stoppingText(const TrainingSpec &spec)
{
    return QStringLiteral("Keep: %1; patience: %2 epochs against the %3 one; time: %4; on NaN: %5; training set "
                          "evaluated: %6")
        .arg(spec.keep)
        .arg(spec.patience)
        .arg(spec.patienceAgainstPrevious ? QStringLiteral("previous") : QStringLiteral("best"))
        .arg(spec.stopAfterMinutes > 0 ? QStringLiteral("%1 minutes").arg(spec.stopAfterMinutes)
                                       : QStringLiteral("not limited"))
        .arg(spec.onNan, spec.evaluateTrainingSet);
}

void TrainingRun::writeHeader()
{
    const QString rate = QString::number(m_spec.learningRate, 'g', 6);
    m_report.header({
        QStringLiteral("Network: %1, %2 parameters, input %3×%4×%5")
            .arg(m_architecture->name)
            .arg(m_network->parameterCount())
            .arg(m_info.channels)
            .arg(m_info.height)
            .arg(m_info.width),
        QStringLiteral("Trainable layers: %1 (%2 of %3 parameters)")
            .arg(m_spec.trainableLayers)
            .arg(m_network->trainableParameterCount())
            .arg(m_network->parameterCount()),
        QStringLiteral("Classes: %1; training images: %2; validation images: %3")
            .arg(m_info.classes.size())
            .arg(m_data.training->size())
            .arg(m_data.validation->size()),
        QStringLiteral("Learning rate: %1 × 1 = %1, global batch %2, %3 steps an epoch, %4 epochs, warm-up %5 epochs")
            .arg(rate)
            .arg(m_spec.batchSize)
            .arg(m_stepsPerEpoch)
            .arg(m_spec.epochs)
            .arg(m_spec.warmupEpochs),
        optimizerText(m_spec) + QStringLiteral("; ") + scheduleText(m_spec),
        QStringLiteral(
            "Loss: cross-entropy, label smoothing %1, class weights %2; accumulation %3, gradient clipping %4")
            .arg(m_spec.labelSmoothing)
            .arg(m_spec.balancedClasses ? QStringLiteral("balanced") : QStringLiteral("none"))
            .arg(m_spec.accumulationSteps)
            .arg(m_spec.gradientClipNorm > 0 ? QString::number(m_spec.gradientClipNorm) : QStringLiteral("off")),
        stoppingText(m_spec),
        QStringLiteral("Device: %1; threads: %2; loader workers: %3, prefetch %4; seed: %5; LibTorch %6")
            .arg(QString::fromStdString(m_device->str()))
            .arg(m_threads)
            .arg(m_spec.numWorkers)
            .arg(m_spec.prefetch)
            .arg(qint64(m_spec.seed))
            .arg(libtorchVersion()),
        QStringLiteral("Normalization: %1, mean %2 %3 %4, std %5 %6 %7")
            .arg(m_spec.normalization)
            .arg(m_info.normalization.mean[0])
            .arg(m_info.normalization.mean[1])
            .arg(m_info.normalization.mean[2])
            .arg(m_info.normalization.std[0])
            .arg(m_info.normalization.std[1])
            .arg(m_info.normalization.std[2]),
        QStringLiteral("Training pixels: %1").arg(m_spec.fastPixels ? QStringLiteral("fast") : QStringLiteral("exact")),
        m_caches.summary,
    });
    for (const QString &warning : std::as_const(m_data.warnings))
        m_report.warning(warning);
}

void TrainingRun::reportSkipped(BatchLoader &loader)
{
    for (const auto &[index, reason] : loader.takeSkipped())
        m_report.warning(QStringLiteral("An image was left out: %1").arg(reason));
    for (const QString &warning : m_caches.takeWarnings())
        m_report.warning(warning);
}

void TrainingRun::keep(int epoch, const Score &validation)
{
    m_kept = KeptWeights{exportWeights(*m_network), epoch, validation};
    m_keptLoss = validation.loss();
}

Result<TrainingResult> TrainingRun::finish(Outcome outcome)
{
    if (outcome == Outcome::User && !m_kept) {
        m_report.line(QStringLiteral("Stop and keep: validating what there is."));
        TW_ASSIGN(validation, validate(1));
        if (std::isfinite(validation->loss())) {
            m_bestTop1 = validation->top1();
            keep(m_epochsDone, *validation);
        }
    }
    if (!m_kept)
        return notANumber();
    TW_TRY(evaluateKeptWeights(outcome));
    static const QMap<Outcome, QString> reasons{{Outcome::Continue, QString()},
                                                {Outcome::User, QStringLiteral("user")},
                                                {Outcome::Patience, QStringLiteral("patience")},
                                                {Outcome::Time, QStringLiteral("time")},
                                                {Outcome::NotANumber, QStringLiteral("nan")}};
    TrainingResult result;
    result.stopped = reasons.value(outcome);
    if (outcome == Outcome::NotANumber)
        m_report.warning(QStringLiteral("The loss was no longer a number at step %1; the best weights so far are "
                                        "kept. Use a lower learning rate.")
                             .arg(m_notANumberStep));
    result.bestValTop1 = m_bestTop1;
    result.bestEpoch = m_kept->epoch;
    result.epochsDone = m_epochsDone;
    m_info.training = trainingFigures(result.stopped);
    result.info = m_info;
    result.weights = std::move(m_kept->weights);
    announce(result);
    return result;
}

Result<void> TrainingRun::evaluateKeptWeights(Outcome outcome)
{
    if (m_spec.evaluateTrainingSet != QLatin1String("end") || outcome == Outcome::User)
        return {};
    TW_TRY(importWeights(*m_network, m_kept->weights, QStringLiteral("the kept weights")));
    TW_ASSIGN(score, evaluateTrainingSet(m_kept->epoch));
    if (!score)
        return {};
    m_trainingSetTop1 = score->top1();
    m_report.trainingSet(m_step, m_kept->epoch, score->top1());
    return {};
}

void TrainingRun::announce(const TrainingResult &result)
{
    m_context.result(QStringLiteral("best_val_top1"), result.bestValTop1);
    m_context.result(QStringLiteral("best_epoch"), result.bestEpoch);
    m_context.result(QStringLiteral("epochs_done"), result.epochsDone);
    if (m_trainingSetTop1)
        m_context.result(QStringLiteral("train_eval_top1"), *m_trainingSetTop1);
    m_context.result(QStringLiteral("parameters"), double(m_network->parameterCount()));
    m_context.result(QStringLiteral("images_per_second"), m_report.imagesPerSecond());
    m_report.line(QStringLiteral("Done: %1 epochs, best validation top-1 %2 (epoch %3 kept)%4")
                      .arg(result.epochsDone)
                      .arg(result.bestValTop1, 0, 'f', 4)
                      .arg(result.bestEpoch)
                      .arg(result.stopped.isEmpty() ? QString() : QStringLiteral(", stopped: ") + result.stopped));
    m_context.progress(1, QStringLiteral("trained %1 epochs").arg(result.epochsDone));
}

QJsonObject TrainingRun::trainingFigures(const QString &stopped) const
{
    const Score &kept = m_kept->validation;
    return {{QStringLiteral("epochs"), m_spec.epochs},
            {QStringLiteral("epochs_done"), m_epochsDone},
            {QStringLiteral("steps"), double(m_step)},
            {QStringLiteral("best_epoch"), m_kept->epoch},
            {QStringLiteral("best_val_top1"), m_bestTop1},
            {QStringLiteral("val_loss"), kept.loss()},
            {QStringLiteral("val_top1"), kept.top1()},
            {QStringLiteral("val_top5"), kept.top5()},
            {QStringLiteral("train_eval_top1"), m_trainingSetTop1 ? QJsonValue(*m_trainingSetTop1) : QJsonValue()},
            {QStringLiteral("trainable_layers"), m_spec.trainableLayers},
            {QStringLiteral("optimizer"), m_spec.optimizer},
            {QStringLiteral("schedule"), m_spec.schedule},
            {QStringLiteral("keep"), m_spec.keep},
            {QStringLiteral("stopped"), stopped},
            {QStringLiteral("batch_size"), m_spec.batchSize},
            {QStringLiteral("learning_rate"), m_spec.learningRate},
            {QStringLiteral("random_seed"), qint64(m_spec.seed)},
            {QStringLiteral("training_images"), double(m_data.training->size())},
            {QStringLiteral("validation_images"), double(m_data.validation->size())},
            {QStringLiteral("device"), QString::fromStdString(m_device->str())},
            {QStringLiteral("threads"), m_threads},
            {QStringLiteral("seconds"), seconds()}};
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainer.h"

#include "core/model/weightsfile.h"
#include "core/train/architectures.h"
#include "tests/core/train/trainfixture.h"
#include "tests/support/testsupport.h"

#include <QRegularExpression>
#include <QTest>

#include <cmath>
#include <cstring>

using namespace tw;
using test::RecordingContext;
using test::SmallTraining;

namespace {

bool sameBits(const StateDict &a, const StateDict &b)
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].name != b[i].name || a[i].bytes != b[i].bytes || std::memcmp(a[i].data, b[i].data, a[i].bytes) != 0)
            return false;
    }
    return true;
}

double value(const RecordingContext &context, const char *series, std::size_t i)
{
    return context.points.value(QLatin1String(series)).at(i).value;
}

TransformList cropAndFlip()
{
    TransformOp crop, flip;
    crop.kind = TransformOp::Kind::RandomResizedCrop;
    crop.size = 12;
    flip.kind = TransformOp::Kind::RandomHorizontalFlip;
    return {crop, flip};
}

ManifestPtr withTransforms(const ManifestPtr &manifest, const TransformList &list)
{
    auto copy = std::make_shared<ImageManifest>(*manifest);
    copy->transforms = list;
    return copy;
}

} // namespace

class TestTrainer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void learns();
    void seriesAndLog();
    void sameBitsWhateverTheWorkers();
    void anotherSeedDiffers();
    void keepsTheBestWeights();
    void patienceStops();
    void notANumberStopsWithTheBest();
    void notANumberFromTheStart();
    void notANumberMayGoOn();
    void cancelEndsWithinABatch();
    void stopAndKeepBeforeTheFirstValidation();
    void stopAndKeepLater();
    void startsFromAFile();
    void headIsReplacedForOtherClasses();
    void weightsThatDoNotFit();
    void resnetTrains();
    void aLastImageAloneIsDropped();
};

void TestTrainer::learns()
{
    SmallTraining small;
    small.spec.epochs = 4;
    RecordingContext context;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    QVERIFY2(result->bestValTop1 > 0.9, qPrintable(QString::number(result->bestValTop1)));
    QCOMPARE(result->epochsDone, 4);
    QVERIFY(result->stopped.isEmpty());
    QCOMPARE(result->info.classes.size(), 4U);
    QCOMPARE(result->info.channels, 1);
    QCOMPARE(result->info.height, 16);
    QCOMPARE(result->info.config.arguments[QStringLiteral("num_classes")].toInt(), 4);
    QCOMPARE(result->info.normalization.mean[0], 0.5F);
    QCOMPARE(result->info.training[QStringLiteral("epochs_done")].toInt(), 4);
    TW_VERIFY(checkWeights(result->info.config, result->weights));
}

void TestTrainer::seriesAndLog()
{
    SmallTraining small;
    small.spec.printFrequency = 2;
    RecordingContext context;
    TW_VERIFY(train(small.spec, context));
    const std::size_t steps = 2 * 6;
    for (const char *series : {"train_loss", "learning_rate", "images_per_second", "loader_wait_ms", "step_ms"})
        QCOMPARE(context.points[QLatin1String(series)].size(), steps);
    for (const char *series : {"loader_decode_ms", "loader_transform_ms", "loader_mb_per_second"})
        QCOMPARE(context.points[QLatin1String(series)].size(), steps / 2); // every second step
    QVERIFY(value(context, "loader_mb_per_second", 0) > 0);
    for (const char *series : {"val_loss", "val_top1", "val_top5", "train_top1", "train_top5", "epoch_seconds",
                               "memory_mb", "cpu_percent", "best_val_top1"})
        QCOMPARE(context.points[QLatin1String(series)].size(), 2U);
    const auto &losses = context.points[QStringLiteral("train_loss")];
    QCOMPARE(losses.front().step, 1);
    QCOMPARE(losses.front().epoch, 1.0);
    QCOMPARE(losses.back().step, qint64(steps));
    QVERIFY(losses.back().epoch > 2 && losses.back().epoch < 3);
    QCOMPARE(value(context, "learning_rate", 0), small.spec.learningRate);
    QVERIFY(value(context, "train_top5", 1) == 1.0); // four classes
    QCOMPARE(context.points[QStringLiteral("val_loss")].back().step, qint64(steps));
    QCOMPARE(value(context, "best_val_top1", 1),
             std::max(value(context, "val_top1", 0), value(context, "val_top1", 1)));
    const QRegularExpression batchLine(
        QStringLiteral(R"(^Epoch: \d{3}/002 \| Batch \d{3}/006 \| Train Loss: \d+\.\d+ \| )"));
    QCOMPARE(context.lines.filter(batchLine).size(), 6); // batches 0, 2 and 4 of two epochs
    QCOMPARE(context.lines
                 .filter(QRegularExpression(
                     QStringLiteral(R"(^Epoch: 002/002 \| Train Loss: .* \| Val Loss: .* \| Val Top-1: )")))
                 .size(),
             1);
    QVERIFY(context.lines.filter(QStringLiteral("0.05 × 1 = 0.05, global batch 16")).size() == 1);
    QCOMPARE(context.results[QStringLiteral("epochs_done")].toInt(), 2);
    QVERIFY(context.results[QStringLiteral("parameters")].toDouble() > 10000);
    double busy = 0; // the result is the mean of the series: neither set-up nor validation counts
    for (const MetricPoint &rate : context.points[QStringLiteral("images_per_second")])
        busy += 16 / rate.value;
    const double mean = double(16 * steps) / busy;
    QVERIFY(std::abs(context.results[QStringLiteral("images_per_second")].toDouble() / mean - 1) < 1e-6);
    QVERIFY(std::is_sorted(context.fractions.begin(), context.fractions.end()));
    QCOMPARE(context.fractions.back(), 1.0);
}

void TestTrainer::sameBitsWhateverTheWorkers()
{
    SmallTraining small(50);
    small.spec.training = withTransforms(small.spec.training, cropAndFlip());
    TransformOp resize;
    resize.size = 12;
    small.spec.validation = withTransforms(small.spec.validation, {resize});
    small.spec.threads = 2;
    StateDict reference;
    double loss = 0;
    for (const int workers : {0, 1, 2, 4}) {
        small.spec.numWorkers = workers;
        RecordingContext context;
        auto result = train(small.spec, context);
        TW_VERIFY(result);
        QCOMPARE(result->info.height, 12);
        if (workers == 0) {
            reference = std::move(result->weights);
            loss = value(context, "train_loss", 3);
            continue;
        }
        QVERIFY2(sameBits(reference, result->weights), qPrintable(QString::number(workers)));
        QCOMPARE(value(context, "train_loss", 3), loss);
    }
}

void TestTrainer::anotherSeedDiffers()
{
    SmallTraining small(32);
    small.spec.epochs = 1;
    RecordingContext one, two;
    const auto first = train(small.spec, one);
    small.spec.seed = 2;
    const auto second = train(small.spec, two);
    TW_VERIFY(first);
    TW_VERIFY(second);
    QVERIFY(!sameBits(first->weights, second->weights));
}

void TestTrainer::keepsTheBestWeights()
{
    // After the first epoch the rate is so high that the network is ruined; the kept weights are
    // those of a training of one epoch with the same steps.
    SmallTraining small;
    small.spec.epochs = 2;
    small.spec.power = 1e-9; // a constant rate
    small.spec.learningRate = 0.05;
    small.spec.keep = QStringLiteral("best_top1");
    RecordingContext context;
    const auto both = train(small.spec, context);
    TW_VERIFY(both);
    const double first = value(context, "val_top1", 0), second = value(context, "val_top1", 1);
    QCOMPARE(both->bestEpoch, second > first ? 2 : 1);
    QCOMPARE(both->bestValTop1, std::max(first, second));
    small.spec.keep = QStringLiteral("last");
    RecordingContext again;
    const auto last = train(small.spec, again);
    TW_VERIFY(last);
    QCOMPARE(last->bestEpoch, 2);
    QCOMPARE(sameBits(both->weights, last->weights), both->bestEpoch == 2);
    small.spec.epochs = 1;
    RecordingContext single;
    const auto one = train(small.spec, single);
    TW_VERIFY(one);
    QCOMPARE(sameBits(both->weights, one->weights), both->bestEpoch == 1);
}

void TestTrainer::patienceStops()
{
    SmallTraining small(32);
    small.spec.epochs = 10;
    small.spec.patience = 2;
    small.spec.learningRate = 1e-30; // nothing moves, so nothing gets lower
    RecordingContext context;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    QCOMPARE(result->stopped, QStringLiteral("patience"));
    QCOMPARE(result->epochsDone, 3);
    QCOMPARE(result->bestEpoch, 1);
}

void TestTrainer::notANumberStopsWithTheBest()
{
    SmallTraining small(32);
    small.spec.epochs = 200;
    small.spec.patience = 1000;
    small.spec.warmupEpochs = 200; // grows until it breaks
    small.spec.momentum = 0;
    small.spec.weightDecay = 0;
    small.spec.learningRate = 1e5;
    RecordingContext context;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    QCOMPARE(result->stopped, QStringLiteral("nan"));
    QVERIFY(result->bestEpoch >= 1);
    for (const TensorBlob &blob : result->weights) {
        const auto *values = reinterpret_cast<const float *>(blob.data);
        QVERIFY(std::all_of(values, values + blob.elements(), [](float v) { return std::isfinite(v); }));
    }
    QVERIFY(context.warnings.filter(QStringLiteral("lower learning rate")).size() == 1);
}

void TestTrainer::notANumberFromTheStart()
{
    SmallTraining small;
    small.spec.learningRate = 1e30;
    RecordingContext context;
    const auto result = train(small.spec, context);
    QVERIFY(!result.ok());
    QCOMPARE(result.error().name, QStringLiteral("NotInRangeValueError"));
    QCOMPARE(result.error().parameter, QStringLiteral("learning_rate"));
    QVERIFY(result.error().sentence().contains(QLatin1String("1e+30")));
}

void TestTrainer::notANumberMayGoOn()
{
    SmallTraining small(32);
    small.spec.learningRate = 1e30;
    small.spec.onNan = QStringLiteral("continue");
    RecordingContext context;
    const auto result = train(small.spec, context);
    QVERIFY(!result.ok()); // both epochs ran, and there was nothing to keep
    QCOMPARE(context.points[QStringLiteral("train_loss")].size(), 4U);
    QCOMPARE(context.warnings.filter(QStringLiteral("not a number")).size(), 1);
}

void TestTrainer::cancelEndsWithinABatch()
{
    SmallTraining small;
    RecordingContext context;
    context.onProgress = [&](const QString &text) {
        if (text.contains(QLatin1String("batch 2/")))
            context.token.cancel = true;
    };
    const auto result = train(small.spec, context);
    QVERIFY(!result.ok());
    QCOMPARE(result.error().name, QStringLiteral("CanceledError"));
    QCOMPARE(context.points[QStringLiteral("train_loss")].size(), 3U);
}

void TestTrainer::stopAndKeepBeforeTheFirstValidation()
{
    SmallTraining small;
    RecordingContext context;
    context.onProgress = [&](const QString &text) {
        if (text.contains(QLatin1String("batch 3/")))
            context.token.stopAndKeep = true;
    };
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    QCOMPARE(result->stopped, QStringLiteral("user"));
    QCOMPARE(result->epochsDone, 0);
    QCOMPARE(context.points[QStringLiteral("train_loss")].size(), 4U);
    QVERIFY(!result->weights.empty());
}

void TestTrainer::stopAndKeepLater()
{
    SmallTraining small;
    small.spec.epochs = 5;
    RecordingContext context;
    context.onProgress = [&](const QString &text) {
        if (text.startsWith(QLatin1String("epoch 2/5, batch 1/")))
            context.token.stopAndKeep = true;
    };
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    QCOMPARE(result->stopped, QStringLiteral("user"));
    QCOMPARE(result->epochsDone, 1);
    QCOMPARE(result->bestEpoch, 1);
}

void TestTrainer::startsFromAFile()
{
    SmallTraining small;
    RecordingContext context;
    const auto taught = train(small.spec, context);
    TW_VERIFY(taught);
    small.spec.model.weightsFile = small.folder / "weights.safetensors";
    TW_VERIFY(writeSafetensors(small.spec.model.weightsFile, taught->weights));
    small.spec.epochs = 1;
    small.spec.learningRate = 1e-30;
    RecordingContext again;
    const auto result = train(small.spec, again);
    TW_VERIFY(result);
    QVERIFY(sameBits(taught->weights, result->weights));
}

void TestTrainer::headIsReplacedForOtherClasses()
{
    SmallTraining small;
    ModelConfig seven = small.spec.model.config;
    seven.arguments = {{"num_classes", 7}, {"in_channels", 1}, {"height", 16}, {"width", 16}};
    const auto weights = freshWeights(seven, 9);
    TW_VERIFY(weights);
    small.spec.model.weightsFile = small.folder / "seven.pth";
    TW_VERIFY(writePth(small.spec.model.weightsFile, *weights));
    small.spec.epochs = 1;
    small.spec.learningRate = 1e-30;
    RecordingContext context;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    const QString said = QStringLiteral("seven.pth is for 7 classes: it is replaced by a new one for 4.");
    QVERIFY(!context.lines.filter(said).isEmpty());
    for (std::size_t i = 0; i < weights->size(); ++i) {
        const TensorBlob &before = (*weights)[i], &after = result->weights[i];
        if (before.name.rfind("fc2.", 0) == 0)
            QCOMPARE(after.shape.front(), 4);
        else
            QVERIFY(std::memcmp(before.data, after.data, before.bytes) == 0);
    }
}

void TestTrainer::weightsThatDoNotFit()
{
    SmallTraining small;
    const auto weights = freshWeights({QStringLiteral("mlp"), {}}, 1);
    TW_VERIFY(weights);
    small.spec.model.weightsFile = small.folder / "mlp.pth";
    TW_VERIFY(writePth(small.spec.model.weightsFile, *weights));
    RecordingContext context;
    const auto result = train(small.spec, context);
    QVERIFY(!result.ok());
    QCOMPARE(result.error().name, QStringLiteral("CheckpointMismatchError"));
    QVERIFY(result.error().sentence().contains(QLatin1String("conv1.weight")));
    QVERIFY(result.error().sentence().contains(QLatin1String("mlp.pth")));
}

void TestTrainer::resnetTrains()
{
    SmallTraining small(24, 2, 32);
    small.spec.model.config = {QStringLiteral("resnet18"), {}};
    small.spec.epochs = 1;
    small.spec.batchSize = 8;
    RecordingContext context;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    QCOMPARE(result->info.channels, 3);
    QCOMPARE(result->weights.size(), 122U);
    QCOMPARE(result->weights.front().name, std::string("conv1.weight"));
    const auto tracked = std::find_if(result->weights.begin(), result->weights.end(),
                                      [](const TensorBlob &b) { return b.name == "bn1.num_batches_tracked"; });
    QCOMPARE(*reinterpret_cast<const std::int64_t *>(tracked->data), 3);
}

void TestTrainer::aLastImageAloneIsDropped()
{
    SmallTraining small(33);
    small.spec.epochs = 1;
    RecordingContext context;
    TW_VERIFY(train(small.spec, context));
    QCOMPARE(context.points[QStringLiteral("train_loss")].size(), 2U);
    SmallTraining other(34);
    other.spec.epochs = 1;
    RecordingContext two;
    TW_VERIFY(train(other.spec, two));
    QCOMPARE(two.points[QStringLiteral("train_loss")].size(), 3U);
}

QTEST_APPLESS_MAIN(TestTrainer)
#include "tst_trainer.moc"

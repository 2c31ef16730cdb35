// SPDX-License-Identifier: GPL-3.0-or-later
// What each setting of the training loop does; tst_pytorchinterop compares their numbers with PyTorch's.
#include "core/train/memorylimit.h"
#include "core/train/processusage.h"
#include "core/train/trainer.h"
#include "tests/core/train/trainfixture.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QTest>

#include <cmath>
#include <cstring>

using namespace tw;
using test::RecordingContext;
using test::SmallTraining;

namespace {

std::vector<double> valuesOf(const RecordingContext &context, const char *series)
{
    std::vector<double> values;
    for (const MetricPoint &point : context.points.value(QLatin1String(series)))
        values.push_back(point.value);
    return values;
}

/// Largest difference of two sets of weights of the same names.
double distance(const StateDict &a, const StateDict &b)
{
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto *left = reinterpret_cast<const float *>(a[i].data),
                   *right = reinterpret_cast<const float *>(b[i].data);
        for (std::size_t k = 0; k < a[i].bytes / sizeof(float); ++k)
            largest = std::max(largest, double(std::abs(left[k] - right[k])));
    }
    return largest;
}

/// The same images with labels that nothing in them tells.
ManifestPtr withoutSense(const ImageManifest &manifest)
{
    auto out = std::make_shared<ImageManifest>();
    out->storage = manifest.storage;
    out->root = manifest.root;
    out->categories = manifest.categories;
    for (std::size_t i = 0; i < manifest.size(); ++i)
        out->add(manifest.path(i), int(i * 7 + i / 3) % 4, 0, 0);
    return out;
}

/// Epoch after which patience ends a training with these losses, by another way than the trainer's.
int stopsAfter(const std::vector<double> &losses, int patience, bool againstPrevious)
{
    int without = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        bool gained = true;
        for (std::size_t k = againstPrevious && i > 0 ? i - 1 : 0; k < i; ++k)
            gained = gained && losses[i] < losses[k];
        without = gained ? 0 : without + 1;
        if (without >= patience)
            return int(i) + 1;
    }
    return int(losses.size());
}

} // namespace

class TestTrainingOptions : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void accumulatedBatchesAreOneLargeBatch();
    void accumulationCountsOptimizerSteps();
    void clippingBoundsTheStep();
    void timeEndsTheTraining();
    void patienceReference();
    void trainingSetIsEvaluated_data();
    void trainingSetIsEvaluated();
    void optimizerAndLossAreLogged();
    void absurdDecayIsBlamed();
    void tooLittleMemory();
    void memoryOfControlGroups_data();
    void memoryOfControlGroups();
};

void TestTrainingOptions::accumulatedBatchesAreOneLargeBatch()
{
    SmallTraining small(70); // 16-image steps: four whole ones and one of six
    small.spec.epochs = 1;
    small.spec.keep = QStringLiteral("last");
    small.spec.balancedClasses = true;
    small.spec.labelSmoothing = 0.1;
    RecordingContext whole, parts;
    const auto one = train(small.spec, whole);
    TW_VERIFY(one);
    small.spec.batchSize = 4;
    small.spec.accumulationSteps = 4;
    const auto four = train(small.spec, parts);
    TW_VERIFY(four);
    QVERIFY2(distance(one->weights, four->weights) < 1e-5,
             qPrintable(QString::number(distance(one->weights, four->weights))));
    const auto losses = valuesOf(whole, "train_loss"), sums = valuesOf(parts, "train_loss");
    QCOMPARE(sums.size(), losses.size());
    for (std::size_t i = 0; i < losses.size(); ++i)
        QVERIFY(std::abs(losses[i] - sums[i]) < 1e-5);
    QCOMPARE(valuesOf(parts, "learning_rate"), valuesOf(whole, "learning_rate"));
}

void TestTrainingOptions::accumulationCountsOptimizerSteps()
{
    SmallTraining small(96);
    small.spec.batchSize = 8;
    small.spec.accumulationSteps = 5; // 12 batches: 5, 5 and 2
    small.spec.printFrequency = 1;
    RecordingContext context;
    TW_VERIFY(train(small.spec, context));
    const auto &points = context.points[QStringLiteral("train_loss")];
    QCOMPARE(points.size(), 6U);
    QCOMPARE(points.back().step, 6);
    QCOMPARE(context.points[QStringLiteral("val_loss")].back().step, 6);
    QCOMPARE(context.lines.filter(QStringLiteral("Epoch: 001/002 | Batch 004/012")).size(), 1);
    QCOMPARE(context.lines.filter(QStringLiteral("Epoch: 001/002 | Batch 011/012")).size(), 1);
}

void TestTrainingOptions::clippingBoundsTheStep()
{
    SmallTraining small(16);
    small.spec.epochs = 1; // one step
    small.spec.momentum = 0;
    small.spec.nesterov = false;
    small.spec.weightDecay = 0;
    small.spec.learningRate = 1;
    small.spec.keep = QStringLiteral("last");
    RecordingContext context;
    const auto clipped = [&](double norm) {
        small.spec.gradientClipNorm = norm;
        return train(small.spec, context);
    };
    const auto still = clipped(1e-12), little = clipped(1e-3), large = clipped(1e9), off = clipped(0);
    TW_VERIFY(still);
    TW_VERIFY(little);
    TW_VERIFY(large);
    TW_VERIFY(off);
    const double step = distance(still->weights, little->weights);
    QVERIFY2(step > 1e-5 && step <= 1.001e-3, qPrintable(QString::number(step)));
    QVERIFY(distance(still->weights, off->weights) > 2 * step);
    QCOMPARE(distance(large->weights, off->weights), 0.0);
}

void TestTrainingOptions::timeEndsTheTraining()
{
    SmallTraining small;
    small.spec.epochs = 1000;
    small.spec.stopAfterMinutes = 1e-9;
    RecordingContext context;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    QCOMPARE(result->stopped, QStringLiteral("time"));
    QCOMPARE(result->epochsDone, 0);
    QCOMPARE(valuesOf(context, "train_loss").size(), 1U);
    QCOMPARE(valuesOf(context, "val_top1").size(), 1U); // what was trained is validated and kept
    QCOMPARE(result->bestValTop1, valuesOf(context, "val_top1").front());
    small.spec.stopAfterMinutes = 60;
    small.spec.epochs = 1;
    const auto whole = train(small.spec, context);
    TW_VERIFY(whole);
    QVERIFY(whole->stopped.isEmpty());
}

void TestTrainingOptions::patienceReference()
{
    SmallTraining small(32);
    small.spec.schedule = QStringLiteral("constant");
    small.spec.epochs = 14;
    small.spec.training = withoutSense(*small.spec.training); // the validation loss goes up and down
    int differing = 0;
    for (const double rate : {0.1, 0.3, 0.15, 0.2}) {
        small.spec.learningRate = rate;
        small.spec.patience = 1000;
        RecordingContext all;
        TW_VERIFY(train(small.spec, all));
        const auto losses = valuesOf(all, "val_loss");
        for (small.spec.patience = 2; small.spec.patience < 5; ++small.spec.patience) {
            const int best = stopsAfter(losses, small.spec.patience, false);
            const int previous = stopsAfter(losses, small.spec.patience, true);
            if (best == previous)
                continue;
            ++differing;
            for (const bool againstPrevious : {false, true}) {
                small.spec.patienceAgainstPrevious = againstPrevious;
                RecordingContext context;
                const auto result = train(small.spec, context);
                TW_VERIFY(result);
                QCOMPARE(result->epochsDone, againstPrevious ? previous : best);
                QCOMPARE(result->stopped.isEmpty(), result->epochsDone == small.spec.epochs);
            }
            small.spec.patienceAgainstPrevious = false;
        }
        if (differing > 0)
            return;
    }
    QFAIL("the losses of these trainings do not tell the two apart");
}

void TestTrainingOptions::trainingSetIsEvaluated_data()
{
    QTest::addColumn<QString>("when");
    QTest::addColumn<int>("points");
    QTest::newRow("never") << "never" << 0;
    QTest::newRow("end") << "end" << 1;
    QTest::newRow("each epoch") << "each_epoch" << 3;
}

void TestTrainingOptions::trainingSetIsEvaluated()
{
    QFETCH(QString, when);
    QFETCH(int, points);
    SmallTraining small;
    small.spec.validation = small.spec.training; // then both figures must be the same
    small.spec.epochs = 3;
    small.spec.learningRate = 0.01;
    small.spec.evaluateTrainingSet = when;
    RecordingContext context;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    const auto measured = valuesOf(context, "train_eval_top1"), validated = valuesOf(context, "val_top1");
    QCOMPARE(int(measured.size()), points);
    if (when == QLatin1String("each_epoch"))
        QCOMPARE(measured, validated);
    QCOMPARE(context.results.contains(QStringLiteral("train_eval_top1")), points > 0);
    if (points == 0)
        return;
    QCOMPARE(context.results[QStringLiteral("train_eval_top1")].toDouble(),
             validated[std::size_t(result->bestEpoch - 1)]);
    QCOMPARE(result->info.training[QStringLiteral("train_eval_top1")].toDouble(), result->bestValTop1);
}

void TestTrainingOptions::optimizerAndLossAreLogged()
{
    SmallTraining small(16);
    small.spec.epochs = 1;
    small.spec.optimizer = QStringLiteral("adamw");
    small.spec.schedule = QStringLiteral("step");
    small.spec.labelSmoothing = 0.25;
    small.spec.gradientClipNorm = 3;
    RecordingContext context;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    const QString log = context.lines.join(u'\n');
    for (const char *part : {"AdamW: beta1 0.9, beta2 0.999", "step schedule, × 0.1 every 7 epochs",
                             "label smoothing 0.25", "gradient clipping 3"})
        QVERIFY2(log.contains(QString::fromUtf8(part)), part);
    QCOMPARE(result->info.training[QStringLiteral("optimizer")].toString(), QStringLiteral("adamw"));
}

void TestTrainingOptions::absurdDecayIsBlamed()
{
    SmallTraining small;
    small.spec.weightDecay = 1e300;
    RecordingContext context;
    const auto result = train(small.spec, context);
    QVERIFY(!result.ok());
    QCOMPARE(result.error().parameter, QStringLiteral("weight_decay"));
    QVERIFY2(result.error().toString().contains(QStringLiteral("1e+300")), qPrintable(result.error().toString()));
}

void TestTrainingOptions::tooLittleMemory()
{
    SmallTraining small(64, 4, 64);
    small.spec.epochs = 1;
    small.spec.batchSize = 64;
    RecordingContext warm; // so that the rest of the process does not grow any more
    TW_VERIFY(train(small.spec, warm));
    qputenv("TRAINWRIGHT_MEMORY_LIMIT_MB", QByteArray::number(residentMegabytes() + 80));
    RecordingContext context;
    const auto refused = train(small.spec, context);
    QVERIFY(!refused.ok());
    const Error error = refused.error();
    QCOMPARE(error.name, QStringLiteral("ModuleOutOfMemoryError"));
    QCOMPARE(error.parameter, QStringLiteral("batch_size"));
    QVERIFY2(error.toString().contains(QStringLiteral("batch_size 64")), qPrintable(error.toString()));
    QVERIFY(context.points.isEmpty()); // before the first step
    const int fits = error.args.value(3).toInt();
    QVERIFY2(fits >= 1 && fits < 64, qPrintable(error.toString()));
    small.spec.batchSize = std::max(1, fits / 2);
    const auto smaller = train(small.spec, context);
    TW_VERIFY(smaller);
    // A network whose weights alone are too many is refused before they are made.
    TrainingSpec huge = small.spec;
    huge.model.config = {QStringLiteral("mlp"), {{"in_channels", 1}, {"hidden_sizes", QJsonArray{60000, 60000}}}};
    const auto tooLarge = train(huge, context);
    QVERIFY(!tooLarge.ok());
    QCOMPARE(tooLarge.error().name, QStringLiteral("ModuleOutOfMemoryError"));
    QVERIFY2(tooLarge.error().toString().contains(QStringLiteral("parameters")),
             qPrintable(tooLarge.error().toString()));
    QVERIFY(peakResidentMegabytes() < 5000);
    qunsetenv("TRAINWRIGHT_MEMORY_LIMIT_MB");
}

void TestTrainingOptions::memoryOfControlGroups_data()
{
    QTest::addColumn<QMap<QString, QString>>("files");
    QTest::addColumn<qint64>("available");
    const QString meminfo =
        QStringLiteral("MemTotal: 9000 kB\nMemFree:  10 kB\nMemAvailable:   8000 kB\nBuffers: 1 kB\n");
    using Files = QMap<QString, QString>;
    const Files machine{{QStringLiteral("proc/meminfo"), meminfo}};
    const auto with = [&](const Files &more) {
        Files all = machine;
        all.insert(more);
        return all;
    };
    QTest::newRow("machine") << machine << qint64(8000 * 1024);
    QTest::newRow("version 2, own group") << with({{"proc/self/cgroup", "0::/a/b\n"},
                                                   {"sys/fs/cgroup/a/b/memory.max", "500000\n"},
                                                   {"sys/fs/cgroup/a/b/memory.current", "100000\n"}})
                                          << qint64(400000);
    QTest::newRow("version 2, group above") << with({{"proc/self/cgroup", "0::/a/b\n"},
                                                     {"sys/fs/cgroup/a/b/memory.max", "max\n"},
                                                     {"sys/fs/cgroup/a/memory.max", "300000\n"},
                                                     {"sys/fs/cgroup/a/memory.current", "1000\n"}})
                                            << qint64(299000);
    QTest::newRow("version 2, root") << with({{"proc/self/cgroup", "0::/\n"},
                                              {"sys/fs/cgroup/memory.max", "200000\n"},
                                              {"sys/fs/cgroup/memory.current", "300000\n"}})
                                     << qint64(0);
    QTest::newRow("version 1") << with({{"proc/self/cgroup", "5:cpu:/x\n4:memory:/y\n"},
                                        {"sys/fs/cgroup/memory/y/memory.limit_in_bytes", "700000\n"},
                                        {"sys/fs/cgroup/memory/y/memory.usage_in_bytes", "200000\n"},
                                        {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}})
                               << qint64(500000);
}

void TestTrainingOptions::memoryOfControlGroups()
{
    using Files = QMap<QString, QString>;
    QFETCH(Files, files);
    const QTemporaryDir folder;
    for (auto file = files.cbegin(); file != files.cend(); ++file) {
        const QString path = folder.filePath(file.key());
        QVERIFY(QDir().mkpath(QFileInfo(path).path()));
        QFile out(path);
        QVERIFY(out.open(QIODevice::WriteOnly) && out.write(file->toUtf8()) >= 0);
    }
    QTEST(qint64(availableMemoryBytes(folder.path().toStdString())), "available");
}

QTEST_GUILESS_MAIN(TestTrainingOptions)
#include "tst_trainingoptions.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Training of the head alone; tst_pytorchinterop compares its numbers with PyTorch's.
#include "core/base/json.h"
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"
#include "core/train/processusage.h"
#include "core/train/trainer.h"
#include "tests/core/train/families.h"
#include "tests/core/train/trainfixture.h"
#include "tests/support/testsupport.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <functional>

Q_DECLARE_METATYPE(std::function<void(tw::TrainingSpec &)>)

using namespace tw;
using test::RecordingContext;
using test::SmallTraining;

namespace {

bool sameBits(const TensorBlob &a, const TensorBlob &b)
{
    return a.name == b.name && a.shape == b.shape && a.bytes == b.bytes && std::memcmp(a.data, b.data, a.bytes) == 0;
}

/// Names of the tensors whose bits differ.
QStringList differing(const StateDict &before, const StateDict &after)
{
    QStringList names;
    for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i)
        if (i >= before.size() || i >= after.size() || !sameBits(before[i], after[i]))
            names.append(QString::fromStdString(i < after.size() ? after[i].name : before[i].name));
    return names;
}

/// Weight and bias of the last layer, which end every network's list.
QStringList headNames(const StateDict &weights)
{
    return {QString::fromStdString(weights[weights.size() - 2].name),
            QString::fromStdString(weights[weights.size() - 1].name)};
}

} // namespace

class TestTrainableLayers : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void allElseKeepsItsBits_data();
    void allElseKeepsItsBits();
    void worksWithEveryOption_data();
    void worksWithEveryOption();
    void dropoutIsOffBelowTheHead();
    void learnsFromGoodFeatures();
    void saysWhatItTrains_data();
    void saysWhatItTrains();
    void needsLessMemory();
};

void TestTrainableLayers::allElseKeepsItsBits_data()
{
    constexpr std::int64_t mostParameters = 12'000'000; // larger ones take long
    QTest::addColumn<QString>("architecture");
    for (const QString &name : test::smallestOfEachFamily())
        if (test::parameterCount(name) < mostParameters)
            QTest::newRow(qPrintable(name)) << name;
}

/// Statistics and counters of batch norm included, whatever formula gave them.
void TestTrainableLayers::allElseKeepsItsBits()
{
    QFETCH(QString, architecture);
    SmallTraining small(8, 2, 32);
    const bool isBasic = architecture == QLatin1String("small_cnn") || architecture == QLatin1String("mlp");
    small.spec.model.config = {architecture, {}};
    ModelConfig config{architecture, {{"num_classes", 2}}};
    if (isBasic)
        config.arguments = {{"num_classes", 2}, {"in_channels", 3}, {"height", 32}, {"width", 32}};
    const auto layout = weightsLayout(config);
    TW_VERIFY(layout);
    const StateDict initial = test::formulaWeights(*layout);
    small.spec.model.weightsFile = small.folder / "initial.safetensors";
    TW_VERIFY(writeSafetensors(small.spec.model.weightsFile, initial));
    small.spec.trainableLayers = QStringLiteral("head");
    small.spec.epochs = 1;
    small.spec.batchSize = 4;
    small.spec.learningRate = 1e-6; // logits of these features are large
    small.spec.keep = QStringLiteral("last");
    RecordingContext context;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    QCOMPARE(differing(initial, result->weights), headNames(initial));
    QCOMPARE(context.points[QStringLiteral("train_loss")].size(), 2U);
    small.spec.trainableLayers = QStringLiteral("all");
    const auto all = train(small.spec, context);
    TW_VERIFY(all);
    QVERIFY(differing(initial, all->weights).size() > 2); // so the comparison can fail
}

void TestTrainableLayers::worksWithEveryOption_data()
{
    QTest::addColumn<std::function<void(TrainingSpec &)>>("choose");
    const auto row = [](const char *name, const std::function<void(TrainingSpec &)> &choose) {
        QTest::newRow(name) << choose;
    };
    row("keep best top-1", [](TrainingSpec &) {});
    row("keep lowest loss, patience", [](TrainingSpec &spec) {
        spec.keep = QStringLiteral("best_loss");
        spec.patience = 1;
        spec.learningRate = 3;
        spec.epochs = 6;
    });
    row("accumulation, class weights, smoothing", [](TrainingSpec &spec) {
        spec.accumulationSteps = 3;
        spec.balancedClasses = true;
        spec.labelSmoothing = 0.1;
        spec.gradientClipNorm = 0.5;
    });
    row("AdamW with decay", [](TrainingSpec &spec) {
        spec.optimizer = QStringLiteral("adamw");
        spec.weightDecay = 0.5;
        spec.learningRate = 0.01;
    });
    row("training set evaluated", [](TrainingSpec &spec) {
        spec.evaluateTrainingSet = QStringLiteral("end");
        spec.keep = QStringLiteral("last");
    });
}

void TestTrainableLayers::worksWithEveryOption()
{
    QFETCH(std::function<void(TrainingSpec &)>, choose);
    SmallTraining small(24, 2, 32);
    small.spec.model.config = {QStringLiteral("resnet18"), {}};
    const auto initial = freshWeights({QStringLiteral("resnet18"), {{"num_classes", 2}}}, 5);
    TW_VERIFY(initial);
    small.spec.model.weightsFile = small.folder / "initial.pth";
    TW_VERIFY(writePth(small.spec.model.weightsFile, *initial));
    small.spec.trainableLayers = QStringLiteral("head");
    small.spec.batchSize = 8;
    small.spec.threads = 1;
    choose(small.spec);
    RecordingContext context, again;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    QCOMPARE(differing(*initial, result->weights), headNames(*initial));
    const auto second = train(small.spec, again);
    TW_VERIFY(second);
    QCOMPARE(differing(result->weights, second->weights), QStringList());
    const auto &top1 = context.points[QStringLiteral("val_top1")];
    QCOMPARE(top1.size(), std::size_t(result->epochsDone));
    QCOMPARE(result->info.training[QStringLiteral("trainable_layers")].toString(), QStringLiteral("head"));
    if (small.spec.evaluateTrainingSet == QLatin1String("end"))
        QVERIFY(context.results.contains(QStringLiteral("train_eval_top1")));
    if (small.spec.patience == 1)
        QCOMPARE(result->stopped.isEmpty() ? result->epochsDone : small.spec.epochs, small.spec.epochs);
}

void TestTrainableLayers::dropoutIsOffBelowTheHead()
{
    SmallTraining small(32);
    small.spec.trainableLayers = QStringLiteral("head");
    const auto trained = [&](double dropout) {
        small.spec.model.config = {QStringLiteral("mlp"), {{"in_channels", 1}, {"dropout", dropout}}};
        RecordingContext context;
        return train(small.spec, context);
    };
    const auto without = trained(0), with = trained(0.9);
    TW_VERIFY(without);
    TW_VERIFY(with);
    QCOMPARE(differing(without->weights, with->weights), QStringList());
    small.spec.trainableLayers = QStringLiteral("all");
    const auto dropped = trained(0.9);
    TW_VERIFY(dropped);
    QVERIFY(!differing(without->weights, dropped->weights).isEmpty());
}

/// Features that four classes taught tell two others apart with a head of their own.
void TestTrainableLayers::learnsFromGoodFeatures()
{
    SmallTraining teacher;
    RecordingContext context;
    const auto taught = train(teacher.spec, context);
    TW_VERIFY(taught);
    SmallTraining small(64, 2);
    small.spec.model.weightsFile = small.folder / "taught.pth";
    TW_VERIFY(writePth(small.spec.model.weightsFile, taught->weights));
    small.spec.trainableLayers = QStringLiteral("head");
    small.spec.epochs = 4;
    RecordingContext head;
    const auto result = train(small.spec, head);
    TW_VERIFY(result);
    QVERIFY2(result->bestValTop1 > 0.9, qPrintable(QString::number(result->bestValTop1)));
    QCOMPARE(differing(taught->weights, result->weights), headNames(taught->weights));
    const auto &losses = head.points[QStringLiteral("train_loss")];
    QVERIFY2(losses.back().value < losses.front().value,
             qPrintable(QStringLiteral("%1 → %2").arg(losses.front().value).arg(losses.back().value)));
}

void TestTrainableLayers::saysWhatItTrains_data()
{
    QTest::addColumn<QString>("layers");
    QTest::addColumn<bool>("initialWeights");
    QTest::addColumn<QString>("line");
    QTest::addColumn<int>("warnings");
    // dense 16·16 → 10 → 4
    QTest::newRow("all") << "all" << false << "Trainable layers: all (2614 of 2614 parameters)" << 0;
    QTest::newRow("head, fresh") << "head" << false << "Trainable layers: head (44 of 2614 parameters)" << 1;
    QTest::newRow("head") << "head" << true << "Trainable layers: head (44 of 2614 parameters)" << 0;
}

void TestTrainableLayers::saysWhatItTrains()
{
    QFETCH(QString, layers);
    QFETCH(bool, initialWeights);
    QFETCH(QString, line);
    SmallTraining small(32);
    small.spec.model.config = {QStringLiteral("mlp"), {{"in_channels", 1}}};
    small.spec.trainableLayers = layers;
    if (initialWeights) {
        const auto weights = freshWeights(
            {QStringLiteral("mlp"), {{"num_classes", 4}, {"in_channels", 1}, {"height", 16}, {"width", 16}}}, 1);
        TW_VERIFY(weights);
        small.spec.model.weightsFile = small.folder / "weights.pth";
        TW_VERIFY(writePth(small.spec.model.weightsFile, *weights));
    }
    RecordingContext context;
    TW_VERIFY(train(small.spec, context));
    QVERIFY2(context.lines.contains(line), qPrintable(context.lines.join(u'\n')));
    QTEST(int(context.warnings.filter(QStringLiteral("random features")).size()), "warnings");
}

/// A limit that all layers do not fit into, but the head does.
void TestTrainableLayers::needsLessMemory()
{
    SmallTraining small(64, 4, 64);
    small.spec.epochs = 1;
    small.spec.batchSize = 64;
    RecordingContext context;
    TW_VERIFY(train(small.spec, context)); // so that the rest of the process does not grow any more
    small.spec.trainableLayers = QStringLiteral("head");
    TW_VERIFY(train(small.spec, context));
    qputenv("TRAINWRIGHT_MEMORY_LIMIT_MB", QByteArray::number(residentMegabytes() + 150));
    const auto head = train(small.spec, context);
    small.spec.trainableLayers = QStringLiteral("all");
    const auto all = train(small.spec, context);
    qunsetenv("TRAINWRIGHT_MEMORY_LIMIT_MB");
    TW_VERIFY(head);
    QVERIFY(!all.ok());
    QCOMPARE(all.error().name, QStringLiteral("ModuleOutOfMemoryError"));
}

QTEST_GUILESS_MAIN(TestTrainableLayers)
#include "tst_trainablelayers.moc"

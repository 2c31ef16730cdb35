// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/patience.h"
#include "core/train/trainingspec.h"
#include "tests/support/testsupport.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <cmath>

using namespace tw;

static QJsonObject jsonFrom(const fs::path &file)
{
    QFile in(QString::fromStdString(file.string()));
    return in.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(in.readAll()).object() : QJsonObject();
}

class TestSchedule : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void values_data();
    void values();
    void warmupRisesEveryStep();
    void neverLeavesItsRange();
    void otherSchedules_data();
    void otherSchedules();
    void sharedCases_data();
    void sharedCases();
    void balancedWeights();
    void patience_data();
    void patience();
};

void TestSchedule::values_data()
{
    QTest::addColumn<int>("epochs");
    QTest::addColumn<int>("warmup");
    QTest::addColumn<double>("power");
    QTest::addColumn<double>("end");
    QTest::addColumn<qint64>("step");
    QTest::addColumn<double>("expected");
    // 10 steps an epoch, learning rate 0.1
    QTest::newRow("first") << 4 << 0 << 2.0 << 0.0 << qint64(0) << 0.1;
    QTest::newRow("half way, power 2") << 4 << 0 << 2.0 << 0.0 << qint64(20) << 0.025;
    QTest::newRow("last, power 2") << 4 << 0 << 2.0 << 0.0 << qint64(39) << 0.1 / 1600;
    QTest::newRow("half way, power 1") << 4 << 0 << 1.0 << 0.0 << qint64(20) << 0.05;
    QTest::newRow("half way, end 0.02") << 4 << 0 << 1.0 << 0.02 << qint64(20) << 0.06;
    QTest::newRow("warm-up, first") << 4 << 1 << 2.0 << 0.0 << qint64(0) << 0.01;
    QTest::newRow("warm-up, last") << 4 << 1 << 2.0 << 0.0 << qint64(9) << 0.1;
    QTest::newRow("after warm-up") << 4 << 1 << 2.0 << 0.0 << qint64(10) << 0.1;
    QTest::newRow("middle after warm-up") << 4 << 2 << 2.0 << 0.0 << qint64(30) << 0.025;
    QTest::newRow("all warm-up") << 2 << 2 << 2.0 << 0.0 << qint64(19) << 0.1;
    QTest::newRow("warm-up longer than the training") << 2 << 5 << 2.0 << 0.0 << qint64(9) << 0.05;
}

void TestSchedule::values()
{
    QFETCH(int, epochs);
    QFETCH(int, warmup);
    QFETCH(double, power);
    QFETCH(double, end);
    QFETCH(qint64, step);
    QFETCH(double, expected);
    TrainingSpec spec;
    spec.learningRate = 0.1;
    spec.epochs = epochs;
    spec.warmupEpochs = warmup;
    spec.power = power;
    spec.endLearningRate = end;
    QVERIFY(std::abs(learningRate(step, 10, spec) - expected) < 1e-15);
}

void TestSchedule::warmupRisesEveryStep()
{
    TrainingSpec spec;
    spec.warmupEpochs = 3;
    for (int step = 1; step < 3 * 7; ++step)
        QVERIFY(learningRate(step, 7, spec) > learningRate(step - 1, 7, spec));
}

void TestSchedule::neverLeavesItsRange()
{
    TrainingSpec spec;
    spec.warmupEpochs = 1;
    spec.endLearningRate = 1e-5;
    for (int step = 0; step < 5 * 13 + 3; ++step) {
        const double rate = learningRate(step, 13, spec);
        QVERIFY(rate > 0 && rate <= spec.learningRate && std::isfinite(rate));
    }
}

void TestSchedule::otherSchedules_data()
{
    QTest::addColumn<QString>("schedule");
    QTest::addColumn<int>("warmup");
    QTest::addColumn<qint64>("step");
    QTest::addColumn<double>("expected");
    // 10 steps an epoch, 10 epochs, learning rate 0.1, end 0.02, step size 2 epochs, gamma 0.5
    QTest::newRow("cosine, first") << "cosine" << 0 << qint64(0) << 0.1;
    QTest::newRow("cosine, half way") << "cosine" << 0 << qint64(50) << 0.06;
    QTest::newRow("cosine, a third") << "cosine" << 1 << qint64(40) << 0.08;
    QTest::newRow("cosine, after the end") << "cosine" << 0 << qint64(100) << 0.02;
    QTest::newRow("step, first") << "step" << 0 << qint64(0) << 0.1;
    QTest::newRow("step, before the fall") << "step" << 0 << qint64(19) << 0.1;
    QTest::newRow("step, after the fall") << "step" << 0 << qint64(20) << 0.05;
    QTest::newRow("step, last") << "step" << 0 << qint64(99) << 0.1 / 16;
    QTest::newRow("step counts from the end of the warm-up") << "step" << 3 << qint64(49) << 0.1;
    QTest::newRow("step falls after the warm-up") << "step" << 3 << qint64(50) << 0.05;
    QTest::newRow("step warms up") << "step" << 3 << qint64(14) << 0.05;
    QTest::newRow("constant") << "constant" << 0 << qint64(99) << 0.1;
    QTest::newRow("constant warms up") << "constant" << 1 << qint64(4) << 0.05;
}

void TestSchedule::otherSchedules()
{
    QFETCH(QString, schedule);
    QFETCH(int, warmup);
    QFETCH(qint64, step);
    QFETCH(double, expected);
    TrainingSpec spec;
    spec.learningRate = 0.1;
    spec.endLearningRate = 0.02;
    spec.epochs = 10;
    spec.stepSize = 2;
    spec.gamma = 0.5;
    spec.schedule = schedule;
    spec.warmupEpochs = warmup;
    QVERIFY2(std::abs(learningRate(step, 10, spec) - expected) < 1e-15,
             qPrintable(QString::number(learningRate(step, 10, spec), 'g', 17)));
}

void TestSchedule::sharedCases_data()
{
    QTest::addColumn<QString>("file");
    QTest::newRow("StepLR") << "numerics/lr_step.json";
    QTest::newRow("CosineAnnealingLR") << "numerics/lr_cosine.json";
    QTest::newRow("warm-up, then cosine") << "numerics/lr_warm_cosine.json";
}

void TestSchedule::sharedCases()
{
    QFETCH(QString, file);
    const auto folder = test::casesFolder();
    if (!folder)
        QSKIP("skipped: not found");
    const QJsonObject json = jsonFrom(*folder / file.toStdString());
    const QJsonObject scheduler = json[QStringLiteral("scheduler")].toObject();
    const QJsonArray expected = json[QStringLiteral("expect")].toArray();
    TrainingSpec spec;
    spec.learningRate = json[QStringLiteral("base_lr")].toDouble();
    spec.schedule = file.contains(QStringLiteral("step")) ? QStringLiteral("step") : QStringLiteral("cosine");
    spec.stepSize = scheduler[QStringLiteral("step_size")].toInt(1);
    spec.gamma = scheduler[QStringLiteral("gamma")].toDouble(1);
    spec.endLearningRate = scheduler[QStringLiteral("eta_min")].toDouble(0);
    spec.warmupEpochs = scheduler[QStringLiteral("w")].toInt(0);
    const qsizetype epochs = scheduler[QStringLiteral("T_max")].toInt(int(expected.size()));
    spec.epochs = int(epochs);
    // PyTorch's linear warm-up starts at a share of its own; ours is compared above.
    QVERIFY(epochs - spec.warmupEpochs >= 8);
    for (qsizetype epoch = spec.warmupEpochs; epoch < epochs; ++epoch)
        QVERIFY(std::abs(learningRate(epoch, 1, spec) - expected[epoch].toDouble()) < 1e-12);
}

void TestSchedule::balancedWeights()
{
    const std::vector<double> weights = balancedClassWeights({6, 0, 2, 4});
    QCOMPARE(weights, (std::vector<double>{12.0 / (3 * 6), 0, 12.0 / (3 * 2), 1}));
    QCOMPARE(balancedClassWeights({5, 5}), (std::vector<double>{1, 1}));
}

void TestSchedule::patience_data()
{
    QTest::addColumn<QList<double>>("losses");
    QTest::addColumn<int>("epochs");
    QTest::addColumn<bool>("againstPrevious");
    QTest::addColumn<int>("stopsAfter"); // from 0; −1: never
    const double nan = std::nan("");
    QTest::newRow("best") << QList<double>{1, 1.2, 1.1, 1.05} << 2 << false << 2;
    QTest::newRow("previous") << QList<double>{1, 1.2, 1.1, 1.05} << 2 << true << -1;
    QTest::newRow("previous rises twice") << QList<double>{1, 1.1, 1.2, 0.5} << 2 << true << 2;
    QTest::newRow("a NaN is no reference") << QList<double>{1, nan, 0.9, 1, 1} << 2 << true << 4;
    QTest::newRow("equal is no gain") << QList<double>{1, 1, 1} << 2 << true << 2;
    const auto folder = test::casesFolder();
    if (!folder)
        return;
    const QJsonArray cases = jsonFrom(*folder / "loop/early_stopping.json")[QStringLiteral("cases")].toArray();
    for (qsizetype i = 0; i < cases.size(); ++i) {
        const QJsonObject one = cases[i].toObject();
        if (one[QStringLiteral("min_delta")].toDouble() > 0)
            continue; // not a parameter here
        const double sign = one[QStringLiteral("mode")] == QStringLiteral("max") ? -1 : 1;
        QList<double> losses;
        for (const QJsonValue &value : one[QStringLiteral("values")].toArray())
            losses.append(value.isDouble() ? sign * value.toDouble() : nan);
        QTest::addRow("shared case %d", int(i))
            << losses << one[QStringLiteral("patience")].toInt() << false
            << one[QStringLiteral("expect")][QStringLiteral("stops_after_epoch")].toInt(-1);
    }
}

void TestSchedule::patience()
{
    QFETCH(QList<double>, losses);
    QFETCH(int, epochs);
    QFETCH(bool, againstPrevious);
    Patience rule(epochs, againstPrevious);
    int stopped = -1;
    for (int i = 0; i < losses.size() && stopped < 0; ++i) {
        rule.epoch(losses[i]);
        stopped = rule.isOver() ? i : -1;
    }
    QTEST(stopped, "stopsAfter");
}

QTEST_APPLESS_MAIN(TestSchedule)
#include "tst_schedule.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainingspec.h"

#include <QTest>

#include <cmath>

using namespace tw;

class TestSchedule : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void values_data();
    void values();
    void warmupRisesEveryStep();
    void neverLeavesItsRange();
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
    QVERIFY(std::abs(polynomialLearningRate(step, 10, spec) - expected) < 1e-15);
}

void TestSchedule::warmupRisesEveryStep()
{
    TrainingSpec spec;
    spec.warmupEpochs = 3;
    for (int step = 1; step < 3 * 7; ++step)
        QVERIFY(polynomialLearningRate(step, 7, spec) > polynomialLearningRate(step - 1, 7, spec));
}

void TestSchedule::neverLeavesItsRange()
{
    TrainingSpec spec;
    spec.warmupEpochs = 1;
    spec.endLearningRate = 1e-5;
    for (int step = 0; step < 5 * 13 + 3; ++step) {
        const double rate = polynomialLearningRate(step, 13, spec);
        QVERIFY(rate > 0 && rate <= spec.learningRate && std::isfinite(rate));
    }
}

QTEST_APPLESS_MAIN(TestSchedule)
#include "tst_schedule.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/calibration.h"

#include <QTest>

#include <cmath>
#include <vector>

using namespace tw;

/// The numbers against NumPy stand in tst_evaluation.
class TestCalibration : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void bins_data();
    void bins();
    void errorsByHand();
    void brierByHand();
    void nothingCounted();
};

void TestCalibration::bins_data()
{
    QTest::addColumn<double>("confidence");
    QTest::addColumn<int>("bin");
    QTest::newRow("zero") << 0.0 << 0;
    QTest::newRow("inside the first") << 0.03 << 0;
    QTest::newRow("edges belong below") << 0.2 << 2;
    QTest::newRow("just above an edge") << 0.2001 << 3;
    QTest::newRow("one") << 1.0 << 14;
}

void TestCalibration::bins()
{
    QFETCH(double, confidence);
    QFETCH(int, bin);
    CalibrationCounter counter;
    counter.add(confidence, true);
    const CalibrationFigures figures = counter.figures();
    for (std::size_t i = 0; i < figures.bins.size(); ++i)
        QCOMPARE(figures.bins[i].count, i == std::size_t(bin) ? 1 : 0);
    QCOMPARE(*figures.bins[std::size_t(bin)].meanConfidence, confidence);
    QCOMPARE(*figures.bins[std::size_t(bin)].accuracy, 1.0);
}

void TestCalibration::errorsByHand()
{
    CalibrationCounter counter;
    counter.add(0.9, true);
    counter.add(0.9, false); // gap 0.4 over two
    counter.add(0.5, true);
    counter.add(0.5, false); // gap 0 over two
    const CalibrationFigures figures = counter.figures();
    QVERIFY(std::abs(*figures.expectedError - 0.2) < 1e-12);
    QVERIFY(std::abs(*figures.largestError - 0.4) < 1e-12);
    QVERIFY(!figures.brierScore);
}

void TestCalibration::brierByHand()
{
    CalibrationCounter counter;
    counter.addBrier(std::vector<double>{1.0, 0.0}, 1);            // wrong and sure: 2
    counter.addBrier(std::vector<double>{0.5, 0.5}, 0);            // 0.5
    counter.addBrier(std::vector<double>{0.5, 0.5}, std::nullopt); // 1 + 0.5
    QVERIFY(std::abs(*counter.figures().brierScore - 4.0 / 3) < 1e-12);
}

void TestCalibration::nothingCounted()
{
    const CalibrationFigures figures = CalibrationCounter().figures();
    QVERIFY(!figures.expectedError && !figures.largestError && !figures.brierScore);
    QVERIFY(!figures.bins[3].accuracy && !figures.bins[3].meanConfidence);
    QCOMPARE(figures.bins.front().lower, 0.0);
    QCOMPARE(figures.bins.back().upper, 1.0);
}

QTEST_GUILESS_MAIN(TestCalibration)
#include "tst_calibration.moc"

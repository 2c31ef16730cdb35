// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/rankcurves.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace tw;

/// The numbers against NumPy stand in tst_evaluation; here the shape of curves and what is done when
/// there are too many scores.
class TestRankCurves : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void byHand();
    void tiesAreHalf();
    void undefined();
    void thinnedNotChanged();
    void manyClassesShareThePoints();
    void histogramIsClose_data();
    void histogramIsClose();
    void histogramOfManyClassesIsBounded();
    void canceled();

private:
    /// Two classes; `truths` and scores drawn so that they overlap.
    static RankCurves drawn(std::size_t count, qint64 exactBytes);
};

static bool close(const std::optional<double> &value, double expected, double tolerance = 1e-12)
{
    return value && std::abs(*value - expected) <= tolerance;
}

RankCurves TestRankCurves::drawn(std::size_t count, qint64 exactBytes)
{
    std::mt19937 generator(7);
    std::normal_distribution<double> noise;
    CurveCollector collector(2, qint64(count), exactBytes);
    for (std::size_t i = 0; i < count; ++i) {
        const double value = 1 / (1 + std::exp(-(noise(generator) + (i % 3 == 0 ? 1 : 0))));
        collector.add(std::vector<double>{value, 1 - value}, i % 3 == 0 ? 0 : 1);
    }
    return *collector.finish();
}

void TestRankCurves::byHand()
{
    CurveCollector collector(1, 4);
    for (const auto &[score, isTrue] : {std::pair(0.9, true), {0.8, false}, {0.7, true}, {0.1, false}})
        collector.add(std::vector<double>{score}, isTrue ? std::optional<std::size_t>(0) : std::nullopt);
    const RankCurves curves = *collector.finish();
    QCOMPARE(curves.bins, 0);
    const RankCurve &curve = curves.classes.front();
    QVERIFY(close(curve.auc, 0.75));
    QVERIFY(close(curve.averagePrecision, 0.5 * 1 + 0.5 * 2 / 3));
    QCOMPARE(curve.points.size(), std::size_t(5));
    QVERIFY(std::isinf(curve.points[0].threshold));
    QCOMPARE(curve.points[3].threshold, 0.7);
    QCOMPARE(curve.points[3].truePositives, 2);
    QCOMPARE(curve.points[3].falsePositives, 1);
    QCOMPARE(curve.points.back().falsePositives, 2);
}

void TestRankCurves::tiesAreHalf()
{
    CurveCollector collector(1, 4);
    for (const bool isTrue : {true, false, false, true})
        collector.add(std::vector<double>{0.0}, isTrue ? std::optional<std::size_t>(0) : std::nullopt);
    const RankCurves curves = *collector.finish();
    QVERIFY(close(curves.classes[0].auc, 0.5));
    QVERIFY(close(curves.classes[0].averagePrecision, 0.5));
    QCOMPARE(curves.classes[0].points.size(), std::size_t(2));
}

void TestRankCurves::undefined()
{
    CurveCollector collector(2, 2);
    collector.add(std::vector<double>{0.9, 0.1}, 0);
    collector.add(std::vector<double>{0.8, 0.2}, 0);
    const RankCurves curves = *collector.finish();
    QVERIFY(!curves.classes[0].auc && !curves.classes[1].auc && !curves.macroAuc);
    QVERIFY(close(curves.classes[0].averagePrecision, 1));
    QVERIFY(!curves.classes[1].averagePrecision);
    QVERIFY(close(curves.macroAveragePrecision, 1));
    QVERIFY(close(curves.micro.auc, 1));
}

void TestRankCurves::thinnedNotChanged()
{
    const RankCurves curves = drawn(20000, CurveCollector::defaultExactBytes);
    for (const RankCurve *curve : {&curves.classes[0], &curves.classes[1], &curves.micro}) {
        QVERIFY(curve->points.size() <= CurveCollector::largestPointCount);
        QVERIFY(curve->points.size() > CurveCollector::largestPointCount / 3);
        QCOMPARE(curve->points.back().truePositives, curve->positives);
        QCOMPARE(curve->points.back().falsePositives, curve->negatives);
        // What is left of the curve still has about the area of the whole, but is not its source.
        double area = 0;
        for (std::size_t i = 1; i < curve->points.size(); ++i) {
            const CurvePoint &a = curve->points[i - 1], &b = curve->points[i];
            QVERIFY(b.threshold < a.threshold);
            area += double(b.falsePositives - a.falsePositives) * double(a.truePositives + b.truePositives) / 2;
        }
        area /= double(curve->positives) * double(curve->negatives);
        QVERIFY(close(curve->auc, area, 1e-3));
        QVERIFY(*curve->auc != area);
    }
}

void TestRankCurves::manyClassesShareThePoints()
{
    constexpr std::size_t classes = 999, rows = 300;
    CurveCollector collector(classes, rows);
    std::vector<double> probabilities(classes);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < classes; ++i)
            probabilities[i] = double((row * 31 + i * 17) % 1009) / 1e6;
        collector.add(probabilities, row);
    }
    const RankCurves curves = *collector.finish();
    std::size_t points = curves.micro.points.size();
    for (const RankCurve &curve : curves.classes)
        points += curve.points.size();
    QVERIFY2(points <= CurveCollector::allPointCount, qPrintable(QString::number(points)));
}

void TestRankCurves::histogramIsClose_data()
{
    QTest::addColumn<qint64>("bytes");
    QTest::addColumn<int>("bins");
    QTest::addColumn<double>("tolerance");
    QTest::newRow("4096 bins") << qint64(5000 * 2 * 8 - 1) << 4096 << 1e-3;
    QTest::newRow("few bytes") << qint64(16) << 256 << 5e-3;
}

void TestRankCurves::histogramIsClose()
{
    QFETCH(qint64, bytes);
    QFETCH(int, bins);
    QFETCH(double, tolerance);
    const RankCurves exact = drawn(5000, 5000 * 2 * 8), binned = drawn(5000, bytes);
    QCOMPARE(exact.bins, 0);
    QCOMPARE(binned.bins, bins);
    for (std::size_t i = 0; i < 2; ++i) {
        QVERIFY(close(binned.classes[i].auc, *exact.classes[i].auc, tolerance));
        QVERIFY(close(binned.classes[i].averagePrecision, *exact.classes[i].averagePrecision, 4 * tolerance));
    }
    QVERIFY(close(binned.micro.auc, *exact.micro.auc, tolerance));
    QVERIFY(close(binned.macroAuc, *exact.macroAuc, tolerance));
}

void TestRankCurves::histogramOfManyClassesIsBounded()
{
    // A million rows: the scores would take 8 GB; the counts stay within the room given.
    CurveCollector few(10, 1000000000), many(1000, 1000000);
    QCOMPARE(few.finish()->bins, int(CurveCollector::largestBinCount));
    const int bins = many.finish()->bins;
    QVERIFY(bins >= 4096 && qint64(bins) * 2 * 4 * 1000 <= CurveCollector::defaultExactBytes);
}

void TestRankCurves::canceled()
{
    CurveCollector collector(2, 1);
    collector.add(std::vector<double>{0.9, 0.1}, 0);
    StopToken stop;
    stop.cancel = true;
    QVERIFY(!collector.finish(&stop));
}

QTEST_GUILESS_MAIN(TestRankCurves)
#include "tst_rankcurves.moc"

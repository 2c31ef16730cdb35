// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/seriestracker.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace tw;

class TestSeriesTracker : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void best_data();
    void best();
    void tellsOnlyChanges();
};

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

void TestSeriesTracker::best_data()
{
    QTest::addColumn<QString>("series");
    QTest::addColumn<QList<double>>("values");
    QTest::addColumn<double>("best");
    QTest::addColumn<qint64>("bestStep");
    QTest::newRow("top1 highest") << "val_top1" << QList<double>{0.1, 0.7, 0.5, 0.7} << 0.7 << qint64(2);
    QTest::newRow("top5 highest") << "train_top5" << QList<double>{0.9, 0.7} << 0.9 << qint64(1);
    QTest::newRow("loss lowest") << "val_loss" << QList<double>{2, 0.5, 0.6} << 0.5 << qint64(2);
    QTest::newRow("else last") << "learning_rate" << QList<double>{3, 1, 2} << 2.0 << qint64(3);
    QTest::newRow("NaN is never best") << "val_loss" << QList<double>{notANumber, 0.5, notANumber} << 0.5 << qint64(2);
    QTest::newRow("nor infinity") << "val_top1" << QList<double>{0.5, HUGE_VAL} << 0.5 << qint64(1);
    QTest::newRow("only NaN") << "val_loss" << QList<double>{notANumber, notANumber} << notANumber << qint64(2);
}

void TestSeriesTracker::best()
{
    QFETCH(QString, series);
    QFETCH(QList<double>, values);
    QFETCH(double, best);
    QFETCH(qint64, bestStep);
    SeriesTracker tracker;
    for (int i = 0; i < values.size(); ++i)
        tracker.add({"train", series, i + 1, 1, 0, 0, values[i]});
    QCOMPARE(tracker.changed().size(), qsizetype(1));
    const SeriesSummary summary = tracker.changed().first();
    QCOMPARE(summary.lastStep, qint64(values.size()));
    QVERIFY(std::isnan(values.last()) ? std::isnan(summary.last) : summary.last == values.last());
    QVERIFY(std::isnan(best) ? std::isnan(summary.best) : summary.best == best);
    QCOMPARE(summary.bestStep, bestStep);
}

void TestSeriesTracker::tellsOnlyChanges()
{
    SeriesTracker tracker;
    tracker.add({"train", "val_loss", 1, 1, 0, 0, 1});
    tracker.add({"train", "val_loss", 1, 1, 0, 1, 2});
    QCOMPARE(tracker.changed().size(), qsizetype(2));
    tracker.clearChanged();
    QVERIFY(tracker.changed().isEmpty());
    tracker.add({"train", "val_loss", 2, 1, 0, 1, 0.5});
    QCOMPARE(tracker.changed().size(), qsizetype(1));
    QCOMPARE(tracker.changed().first().rank, 1);
    QCOMPARE(tracker.changed().first().best, 0.5);
}

QTEST_GUILESS_MAIN(TestSeriesTracker)
#include "tst_seriestracker.moc"

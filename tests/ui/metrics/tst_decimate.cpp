// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/testsupport.h"
#include "ui/metrics/decimate.h"
#include "ui/metrics/smoothing.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace tw;

static const double notANumber = std::numeric_limits<double>::quiet_NaN();
static const double infinity = std::numeric_limits<double>::infinity();

class TestDecimate : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void keepsMinimumAndMaximumOfEachColumn_data();
    void keepsMinimumAndMaximumOfEachColumn();
    void indexFollowsGrowthAndChanges();
    void breaksAtNotFinite();
    void oneSpikeInAMillion();
    void allNotFinite();
    void logarithmicSkipsNotPositive();
    void nearest();
    void smoothingKeepsConstants();
    void smoothingPassesNotFiniteOn();
};

static std::vector<double> randomValues(std::mt19937 &random, size_t count, double notFinitePart)
{
    std::normal_distribution<double> value(0, 3);
    std::uniform_real_distribution<double> part(0, 1);
    std::vector<double> values(count);
    for (double &v : values) {
        const double kind = part(random);
        v = kind < notFinitePart / 2 ? notANumber : kind < notFinitePart ? infinity : value(random);
    }
    return values;
}

void TestDecimate::keepsMinimumAndMaximumOfEachColumn_data()
{
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("columns");
    QTest::addColumn<double>("notFinitePart");
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::newRow("few samples") << 30 << 100 << 0.0 << 0.0 << 31.0;
    QTest::newRow("many samples") << 20000 << 300 << 0.0 << 0.0 << 20001.0;
    QTest::newRow("with gaps") << 20000 << 300 << 0.2 << 0.0 << 20001.0;
    QTest::newRow("mostly gaps") << 5000 << 64 << 0.98 << 0.0 << 5001.0;
    QTest::newRow("zoomed") << 20000 << 200 << 0.05 << 4321.5 << 9876.25;
    QTest::newRow("window wider than the data") << 5000 << 100 << 0.05 << -3000.3 << 9000.1;
    QTest::newRow("one column") << 5000 << 1 << 0.05 << 0.0 << 5001.0;
}

void TestDecimate::keepsMinimumAndMaximumOfEachColumn()
{
    QFETCH(int, count);
    QFETCH(int, columns);
    QFETCH(double, notFinitePart);
    QFETCH(double, low);
    QFETCH(double, high);
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        const std::vector<double> y = randomValues(random, size_t(count), notFinitePart);
        std::vector<double> x(y.size());
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = double(i + 1);
        ExtremesIndex index;
        index.update(y);
        const DrawnCurve drawn = decimate({nullptr, x.data()}, y, index, {low, high, columns});
        const auto columnOf = [&](double at) {
            return std::min(columns - 1, int((at - low) / (high - low) * columns));
        };
        std::vector<double> least(size_t(columns), infinity), most(size_t(columns), -infinity);
        std::vector<double> drawnLeast = least, drawnMost = most;
        for (size_t i = 0; i < y.size(); ++i) {
            if (x[i] < low || x[i] > high || !std::isfinite(y[i]))
                continue;
            const size_t column = size_t(columnOf(x[i]));
            least[column] = std::min(least[column], y[i]);
            most[column] = std::max(most[column], y[i]);
        }
        for (size_t i = 0; i < drawn.x.size(); ++i) {
            if (drawn.x[i] < low || drawn.x[i] > high || std::isnan(drawn.y[i]))
                continue;
            const size_t column = size_t(columnOf(drawn.x[i]));
            drawnLeast[column] = std::min(drawnLeast[column], drawn.y[i]);
            drawnMost[column] = std::max(drawnMost[column], drawn.y[i]);
        }
        QVERIFY(least == drawnLeast);
        QVERIFY(most == drawnMost);
        QVERIFY(drawn.x.size() <= size_t(columns) * 6 + 4);
        QVERIFY(std::is_sorted(drawn.x.begin(), drawn.x.end()));
        QCOMPARE(drawn.lowest, *std::min_element(least.begin(), least.end()));
        QCOMPARE(drawn.highest, *std::max_element(most.begin(), most.end()));
    }
}

void TestDecimate::indexFollowsGrowthAndChanges()
{
    std::mt19937 random(3);
    std::vector<double> y;
    ExtremesIndex grown;
    for (int part = 0; part < 40; ++part) {
        const std::vector<double> more = randomValues(random, size_t(1 + part * 7), 0.1);
        y.insert(y.end(), more.begin(), more.end());
        grown.update(y);
    }
    y[500] = 1000;
    y[501] = -1000;
    grown.truncate(500);
    grown.update(y);
    const Extremes found = grown.find(y, 3, y.size() - 1);
    QCOMPARE(found.highest, size_t(500));
    QCOMPARE(found.lowest, size_t(501));
    QCOMPARE(grown.find(y, 600, 600).first, Extremes::none);
}

void TestDecimate::breaksAtNotFinite()
{
    const auto cases = tw::test::casesFolder();
    if (!cases)
        QSKIP("not found");
    QFile file(displayPath(*cases / "ui/plot.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject root = QJsonDocument::fromJson(file.readAll()).object();
    std::vector<double> y, x;
    for (const QJsonValue &value : root["series"].toArray()) {
        y.push_back(value.isDouble() ? value.toDouble() : value.toString() == "NaN" ? notANumber : infinity);
        x.push_back(double(x.size()));
    }
    const QJsonObject expected = root["expect"].toObject();
    ExtremesIndex index;
    index.update(y);
    const DrawnCurve drawn = decimate({nullptr, x.data()}, y, index, {0, 8, 400});
    QJsonArray segments, singles;
    for (size_t i = 0; i < drawn.x.size(); ++i) {
        if (std::isnan(drawn.y[i]))
            continue;
        QCOMPARE(drawn.y[i], y[size_t(drawn.x[i])]);
        if (i == 0 || std::isnan(drawn.y[i - 1]))
            segments.append(QJsonArray());
        QJsonArray segment = segments.last().toArray();
        segment.append(drawn.x[i]);
        segments.replace(segments.size() - 1, segment);
    }
    for (const size_t at : drawn.singles)
        singles.append(drawn.x[at]);
    QCOMPARE(segments, expected["segments"].toArray());
    QCOMPARE(singles, expected["single_points_are_drawn"].toArray());
    QCOMPARE(drawn.notFinite, (std::vector<double>{2, 4, 6, 7}));
    QCOMPARE(drawn.lowest, expected["y_range_of"][0].toDouble());
    QCOMPARE(drawn.highest, expected["y_range_of"][1].toDouble());
}

void TestDecimate::oneSpikeInAMillion()
{
    std::vector<double> y(1000000);
    std::vector<qint64> x(y.size());
    for (size_t i = 0; i < y.size(); ++i) {
        y[i] = i == 654321 ? 50 : std::sin(double(i) / 1000);
        x[i] = qint64(i);
    }
    ExtremesIndex index;
    index.update(y);
    const DrawnCurve drawn = decimate({x.data(), nullptr}, y, index, {0, 999999, 1200});
    QVERIFY(drawn.x.size() <= 4800);
    const auto spike = std::find(drawn.y.begin(), drawn.y.end(), 50.0);
    QVERIFY(spike != drawn.y.end());
    QCOMPARE(drawn.x[size_t(spike - drawn.y.begin())], 654321.0);
    QVERIFY(drawn.notFinite.empty());
}

void TestDecimate::allNotFinite()
{
    for (const size_t count : {size_t(5), size_t(10000)}) {
        const std::vector<double> y(count, notANumber);
        std::vector<qint64> x(count);
        for (size_t i = 0; i < count; ++i)
            x[i] = qint64(i);
        ExtremesIndex index;
        index.update(y);
        const DrawnCurve drawn = decimate({x.data(), nullptr}, y, index, {0, double(count), 50});
        QVERIFY(drawn.x.empty());
        QVERIFY(drawn.lowest > drawn.highest);
        QVERIFY(!drawn.notFinite.empty() && drawn.notFinite.size() <= 51);
    }
    const DrawnCurve nothing = decimate({}, {}, ExtremesIndex(), {0, 1, 50});
    QVERIFY(nothing.x.empty());
}

void TestDecimate::logarithmicSkipsNotPositive()
{
    const std::vector<double> y{1, 0, -2, 0.5, 0.25};
    const std::vector<double> x{1, 2, 3, 4, 5};
    ExtremesIndex index(true);
    index.update(y);
    const DrawnCurve drawn = decimate({nullptr, x.data()}, y, index, {1, 5, 50});
    QCOMPARE(drawn.lowest, 0.25);
    QVERIFY(drawn.notFinite.empty());
    QCOMPARE(drawn.singles.size(), size_t(1));
}

void TestDecimate::nearest()
{
    const std::vector<double> x{1, 2, 4, 8};
    QCOMPARE(nearestSample({nullptr, x.data()}, 4, -5), size_t(0));
    QCOMPARE(nearestSample({nullptr, x.data()}, 4, 2.9), size_t(1));
    QCOMPARE(nearestSample({nullptr, x.data()}, 4, 3.1), size_t(2));
    QCOMPARE(nearestSample({nullptr, x.data()}, 4, 99), size_t(3));
}

void TestDecimate::smoothingKeepsConstants()
{
    for (const double weight : {0.0, 0.5, 0.9, 0.99}) {
        Smoother smoother(weight);
        const std::vector<double> raw(2000, 0.7);
        smoother.update(std::span(raw).first(3));
        smoother.update(raw);
        QCOMPARE(smoother.values().size(), raw.size());
        for (const double value : smoother.values())
            QVERIFY(std::abs(value - 0.7) < 1e-12);
    }
}

void TestDecimate::smoothingPassesNotFiniteOn()
{
    Smoother smoother(0.5);
    const std::vector<double> raw{1, notANumber, 3};
    smoother.update(raw);
    QCOMPARE(smoother.values()[0], 1.0);
    QVERIFY(std::isnan(smoother.values()[1]));
    QVERIFY(std::abs(smoother.values()[2] - (0.5 * 0.5 + 0.5 * 3) / 0.75) < 1e-12);
}

QTEST_APPLESS_MAIN(TestDecimate)
#include "tst_decimate.moc"

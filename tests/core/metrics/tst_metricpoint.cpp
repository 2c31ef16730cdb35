// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/metricpoint.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace tw;

class TestMetricPoint : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void writesTheFixedForm();
    void roundTrips_data();
    void roundTrips();
    void readsOtherForms();
    void refusesOthers_data();
    void refusesOthers();
};

void TestMetricPoint::writesTheFixedForm()
{
    const MetricPoint point{"train1", "val_loss", 938, 1, 12.5, 0, 0.25};
    QCOMPARE(point.toJsonLine(), QByteArray(R"({"node":"train1","series":"val_loss","step":938,"epoch":1,)"
                                            R"("seconds":12.5,"rank":0,"value":0.25})"));
}

void TestMetricPoint::roundTrips_data()
{
    QTest::addColumn<QString>("node");
    QTest::addColumn<qint64>("step");
    QTest::addColumn<double>("value");
    QTest::newRow("plain") << "train1" << qint64(1) << 0.1;
    QTest::newRow("negative") << "train1" << qint64(5) << -1.0 / 3;
    QTest::newRow("tiny") << "train1" << qint64(1) << 4.9e-324;
    QTest::newRow("huge") << "train1" << qint64(1) << 1.7976931348623157e308;
    QTest::newRow("minus zero") << "train1" << qint64(1) << -0.0;
    QTest::newRow("many steps") << "train1" << (qint64(1) << 52) << 1.0;
    QTest::newRow("nan") << "train1" << qint64(1) << std::numeric_limits<double>::quiet_NaN();
    QTest::newRow("infinity") << "train1" << qint64(1) << std::numeric_limits<double>::infinity();
    QTest::newRow("minus infinity") << "train1" << qint64(1) << -std::numeric_limits<double>::infinity();
    QTest::newRow("quotes and letters") << QString::fromUtf8("a\"b\\c\n\xc3\xa4") << qint64(1) << 2.0;
}

void TestMetricPoint::roundTrips()
{
    QFETCH(QString, node);
    QFETCH(qint64, step);
    QFETCH(double, value);
    const MetricPoint point{node, "train_loss", step, 0.1, 1e-3, 3, value};
    const QByteArray line = point.toJsonLine();
    QVERIFY(!line.contains('\n'));
    const auto back = MetricPoint::fromJsonLine(line);
    QVERIFY(back.ok());
    QCOMPARE(back->node, node);
    QCOMPARE(back->series, QStringLiteral("train_loss"));
    QCOMPARE(back->step, step);
    QCOMPARE(back->epoch, 0.1);
    QCOMPARE(back->seconds, 1e-3);
    QCOMPARE(back->rank, 3);
    QVERIFY(std::isnan(value) ? std::isnan(back->value) : back->value == value);
    QCOMPARE(std::signbit(back->value), std::signbit(value));
}

void TestMetricPoint::readsOtherForms()
{
    const auto point =
        MetricPoint::fromJsonLine(R"( { "value" : "NaN", "more":[1], "step": 7, "series":"s", "node":"n" } )");
    QVERIFY(point.ok());
    QCOMPARE(point->step, qint64(7));
    QVERIFY(std::isnan(point->value));
    QCOMPARE(point->rank, 0);
}

void TestMetricPoint::refusesOthers_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("cut") << QByteArray(R"({"node":"n","series":"s","step":1,"epoch":1,"seconds":1,"rank":0,"val)");
    QTest::newRow("cut number") << QByteArray(
        R"({"node":"n","series":"s","step":1,"epoch":1,"seconds":1,"rank":0,"value":1)");
    QTest::newRow("two") << QByteArray(R"({"node":"n","series":"s","step":1,"value":1}{"node":"n"})");
    QTest::newRow("no value") << QByteArray(R"({"node":"n","series":"s","step":1})");
    QTest::newRow("null value") << QByteArray(R"({"node":"n","series":"s","step":1,"value":null})");
    QTest::newRow("word value") << QByteArray(R"({"node":"n","series":"s","step":1,"value":"big"})");
    QTest::newRow("bare nan") << QByteArray(
        R"({"node":"n","series":"s","step":1,"epoch":1,"seconds":1,"rank":0,"value":nan})");
    QTest::newRow("half step") << QByteArray(R"({"node":"n","series":"s","step":1.5,"value":1})");
    QTest::newRow("negative rank") << QByteArray(R"({"node":"n","series":"s","step":1,"rank":-1,"value":1})");
    QTest::newRow("number as node") << QByteArray(R"({"node":1,"series":"s","step":1,"value":1})");
    QTest::newRow("list") << QByteArray("[1,2]");
}

void TestMetricPoint::refusesOthers()
{
    QFETCH(QByteArray, line);
    const auto point = MetricPoint::fromJsonLine(line);
    QVERIFY(!point.ok());
    QCOMPARE(point.error().name, QString(errors::Library));
    QVERIFY(point.error().sentence().contains(QString::fromUtf8(line)));
}

QTEST_GUILESS_MAIN(TestMetricPoint)
#include "tst_metricpoint.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/metrics/pairedcomparison.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QTest>

#include <cmath>

using namespace tw;

class TestPairedComparison : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void goldens();
    void published();
    void manyImages();
    void noImages();
    void matchesInAnyOrder();
    void strangersAndRepeats();
};

static bool close(double value, double expected, double tolerance = 1e-12)
{
    return std::abs(value - expected) <= tolerance;
}

void TestPairedComparison::goldens()
{
    const auto json =
        readJsonObject(test::sourceFolder() / "tests/data/evaluation_goldens.json", errors::InvalidDataset);
    TW_VERIFY(json);
    const QJsonArray pairs = json->value(QLatin1String("pairs")).toArray();
    QVERIFY(pairs.size() >= 8);
    for (const QJsonValue &pair : pairs) {
        const QJsonArray counted = pair["counts"].toArray();
        const PairedCounts counts{counted[0].toInteger(), counted[1].toInteger(), counted[2].toInteger(),
                                  counted[3].toInteger()};
        const auto interval = pairedInterval(counts);
        QVERIFY(interval);
        QVERIFY(close(interval->difference, pair["difference"].toDouble()));
        QVERIFY2(close(interval->lower, pair["lower"].toDouble(), 1e-9), qPrintable(QString::number(interval->lower)));
        QVERIFY2(close(interval->upper, pair["upper"].toDouble(), 1e-9), qPrintable(QString::number(interval->upper)));
        const double p = pair["p"].toDouble();
        QVERIFY2(close(mcnemarExactP(counts), p, 1e-9 * p), qPrintable(QString::number(mcnemarExactP(counts))));
    }
}

/// Newcombe 1998, table II, method 10: 36, 12, 2, 0 gives 0.0569 to 0.3404 (first less second).
void TestPairedComparison::published()
{
    const auto interval = pairedInterval({36, 12, 2, 0});
    QVERIFY(close(interval->lower, -0.3404, 5e-5));
    QVERIFY(close(interval->upper, -0.0569, 5e-5));
}

void TestPairedComparison::manyImages()
{
    QCOMPARE(mcnemarExactP({0, 500000, 500000, 0}), 1.0);
    const double p = mcnemarExactP({900000, 50400, 49600, 0});
    QVERIFY2(p > 0.01 && p < 0.0125, qPrintable(QString::number(p))); // normal approximation: z = 2.53
    QVERIFY(mcnemarExactP({0, 1000000, 0, 0}) < 1e-300);
}

void TestPairedComparison::noImages()
{
    QVERIFY(!pairedInterval({}));
    QCOMPARE(mcnemarExactP({}), 1.0);
}

void TestPairedComparison::matchesInAnyOrder()
{
    PairedMatcher matcher;
    matcher.addFirst({"a", "cat", 0, true});
    matcher.addFirst({"b", "cat", 1, false});
    matcher.addFirst({"c", "dog", 0, false});
    matcher.addFirst({"d", "dog", std::nullopt, false});
    matcher.seal();
    auto match = matcher.addSecond({"c", "dog", 1, true});
    QVERIFY(match && !match->firstRight && match->firstLabel == 0);
    match = matcher.addSecond({"a", "cat", 1, false});
    QVERIFY(match && match->firstRight);
    QVERIFY(matcher.addSecond({"b", "cat", 1, false}));
    match = matcher.addSecond({"d", "dog", 0, false});
    QVERIFY(match && !match->firstLabel);
    QCOMPARE(matcher.counts().bothRight, 0);
    QCOMPARE(matcher.counts().onlyFirstRight, 1);
    QCOMPARE(matcher.counts().onlySecondRight, 1);
    QCOMPARE(matcher.counts().bothWrong, 2);
    QVERIFY(matcher.onlyInFirst().empty());
}

void TestPairedComparison::strangersAndRepeats()
{
    PairedMatcher matcher;
    for (const char *path : {"a", "b", "c", "a", "d"})
        matcher.addFirst({path, "cat", 0, true});
    matcher.seal();
    QVERIFY(!matcher.addSecond({"z", "cat", 0, true}));
    QVERIFY(!matcher.addSecond({"b", "dog", 0, true}));
    QVERIFY(matcher.addSecond({"a", "cat", 0, true}));
    QVERIFY(!matcher.addSecond({"a", "cat", 0, true}));
    QCOMPARE(matcher.onlyInSecond(), 1);
    QCOMPARE(matcher.otherCategory(), 1);
    QCOMPARE(matcher.repeated(), 2);
    QCOMPARE(matcher.onlyInFirst(), (std::vector<std::uint32_t>{2, 4}));
    QCOMPARE(matcher.counts().total(), 1);
}

QTEST_GUILESS_MAIN(TestPairedComparison)
#include "tst_pairedcomparison.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/metrics/classificationmetrics.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QTest>

#include <cmath>

using namespace tw;

class TestClassificationMetrics : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void handComputed();
    void topFiveAndLoss();
    void unknownProbabilityGivesNoLoss();
    void noPredictionAndUnknownCategory();
    void nothingCounted();
    void sharedCase();
};

/// true a a a b b c, predicted a a b b c c.
void TestClassificationMetrics::handComputed()
{
    ClassificationCounter counter(4);
    const std::pair<std::size_t, std::size_t> rows[] = {{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 2}};
    for (const auto &[truth, guess] : rows)
        counter.add(truth, guess, truth == guess ? 0u : 1u, 0.5);
    const ClassificationFigures figures = counter.figures();
    QCOMPARE(figures.total, 6);
    QCOMPARE(figures.correct, 4);
    QCOMPARE(*figures.accuracy, 4.0 / 6);
    QCOMPARE(*figures.microRecall, 4.0 / 6);
    QCOMPARE(*figures.classes[0].precision, 1.0);
    QCOMPARE(*figures.classes[0].recall, 2.0 / 3);
    QCOMPARE(*figures.classes[0].f1, 0.8);
    QCOMPARE(*figures.classes[1].precision, 0.5);
    QCOMPARE(*figures.classes[2].recall, 1.0);
    QVERIFY(!figures.classes[3].precision && !figures.classes[3].recall && !figures.classes[3].f1);
    // Means over the classes where the figure is defined.
    QCOMPARE(*figures.macroPrecision, (1.0 + 0.5 + 0.5) / 3);
    QCOMPARE(*figures.macroRecall, (2.0 / 3 + 0.5 + 1.0) / 3);
    QCOMPARE(figures.confused(0, 1), 1);
    QCOMPARE(figures.confused(1, 0), 0);
}

void TestClassificationMetrics::topFiveAndLoss()
{
    ClassificationCounter counter(7);
    counter.add(0, 0, 0u, 0.5);
    counter.add(1, 0, 4u, 0.25);
    counter.add(2, 0, 5u, 0.0);
    const ClassificationFigures figures = counter.figures();
    QCOMPARE(*figures.top5Accuracy, 2.0 / 3);
    const double expected =
        -(std::log(0.5) + std::log(0.25) + std::log(ClassificationCounter::smallestProbability)) / 3;
    QCOMPARE(*figures.logLoss, expected);

    ClassificationCounter three(3);
    three.add(0, 1, 2u, 0.1);
    QCOMPARE(*three.figures().top5Accuracy, 1.0);
}

void TestClassificationMetrics::unknownProbabilityGivesNoLoss()
{
    ClassificationCounter counter(7);
    counter.add(0, 0, 0u, 0.9);
    counter.add(1, 0, std::nullopt, std::nullopt);
    const ClassificationFigures figures = counter.figures();
    QVERIFY(!figures.logLoss);
    QVERIFY(!figures.top5Accuracy);
    QCOMPARE(*figures.accuracy, 0.5);
}

void TestClassificationMetrics::noPredictionAndUnknownCategory()
{
    ClassificationCounter counter(2);
    counter.add(0, 0, 0u, 1.0);
    counter.add(0, std::nullopt, 2u, std::nullopt);
    counter.add(5, 1, 2u, std::nullopt);
    const ClassificationFigures figures = counter.figures();
    QCOMPARE(figures.correct, 1);
    QCOMPARE(figures.total, 3);
    QCOMPARE(figures.classes.size(), std::size_t(6));
    QCOMPARE(figures.classes[0].support, 2);
    QCOMPARE(*figures.classes[0].recall, 0.5);
    QCOMPARE(figures.classes[0].predicted, 1);
    QCOMPARE(*figures.classes[5].recall, 0.0);
    QCOMPARE(figures.confused(5, 1), 1);
    QCOMPARE(*figures.top5Accuracy, 1.0 / 3);
    QVERIFY(!figures.logLoss);
}

void TestClassificationMetrics::nothingCounted()
{
    const ClassificationFigures figures = ClassificationCounter(2).figures();
    QCOMPARE(figures.total, 0);
    QVERIFY(!figures.accuracy && !figures.macroRecall && !figures.logLoss && !figures.top5Accuracy);
}

void TestClassificationMetrics::sharedCase()
{
    const auto cases = test::casesFolder();
    if (!cases)
        QSKIP("not found");
    const auto json = readJsonObject(*cases / "numerics" / "metrics.json", errors::InvalidDataset);
    TW_VERIFY(json);
    const QJsonArray truths = json->value(QLatin1String("true")).toArray(),
                     guesses = json->value(QLatin1String("predicted")).toArray();
    ClassificationCounter counter(std::size_t(json->value(QLatin1String("classes")).toInt()));
    for (qsizetype i = 0; i < truths.size(); ++i)
        counter.add(std::size_t(truths[i].toInt()), std::size_t(guesses[i].toInt()), std::nullopt, std::nullopt);
    const ClassificationFigures figures = counter.figures();
    const QJsonObject expected = json->value(QLatin1String("expect")).toObject();
    QCOMPARE(*figures.accuracy, expected.value(QLatin1String("accuracy")).toDouble());
    QCOMPARE(*figures.macroRecall, expected.value(QLatin1String("macro_recall_over_classes_present")).toDouble());
    const QJsonArray matrix = expected.value(QLatin1String("confusion_true_by_predicted")).toArray();
    const auto same = [](const std::optional<double> &figure, const QJsonValue &value) {
        return value.isNull() ? !figure.has_value() : figure && std::abs(*figure - value.toDouble()) < 1e-12;
    };
    for (qsizetype i = 0; i < matrix.size(); ++i) {
        const ClassFigures &one = figures.classes[std::size_t(i)];
        QVERIFY(same(one.precision, expected.value(QLatin1String("precision")).toArray()[i]));
        QVERIFY(same(one.recall, expected.value(QLatin1String("recall")).toArray()[i]));
        QVERIFY(same(one.f1, expected.value(QLatin1String("f1")).toArray()[i]));
        for (qsizetype j = 0; j < matrix.size(); ++j)
            QCOMPARE(figures.confused(std::size_t(i), std::size_t(j)), matrix[i].toArray()[j].toInteger());
    }
}

QTEST_GUILESS_MAIN(TestClassificationMetrics)
#include "tst_classificationmetrics.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/accuracy.h"
#include "core/train/predictor.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace tw;

class TestAccuracy : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void countsHits();
    void topFiveOfThreeClassesIsTopThree();
    void equalLogitsRankByClass();
    void brokenNetworkHitsNothing();
    void averagesAreWeightedByImages();
    void softmaxIsStable();
};

void TestAccuracy::countsHits()
{
    const std::vector<float> logits{0, 1, 2, 3, 4, 5, /**/ 9, 1, 2, 3, 4, 5};
    const std::vector<std::int64_t> labels{0, 0};
    const Score score = scoreBatch(logits, labels, 0.5);
    QCOMPARE(score.images, 2);
    QCOMPARE(score.top1Hits, 1);
    QCOMPARE(score.top5Hits, 1); // the first image's label is the sixth of six
    QCOMPARE(score.loss(), 0.5);
}

void TestAccuracy::topFiveOfThreeClassesIsTopThree()
{
    const Score score = scoreBatch(std::vector<float>{3, 2, 1}, std::vector<std::int64_t>{2}, 0);
    QCOMPARE(score.top1(), 0.0);
    QCOMPARE(score.top5(), 1.0);
}

void TestAccuracy::equalLogitsRankByClass()
{
    const std::vector<float> logits{1, 1};
    QCOMPARE(scoreBatch(logits, std::vector<std::int64_t>{0}, 0).top1Hits, 1);
    QCOMPARE(scoreBatch(logits, std::vector<std::int64_t>{1}, 0).top1Hits, 0);
}

void TestAccuracy::brokenNetworkHitsNothing()
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    QCOMPARE(scoreBatch(std::vector<float>{nan, nan}, std::vector<std::int64_t>{0}, 0).top5Hits, 0);
    QCOMPARE(scoreBatch(std::vector<float>{1, nan}, std::vector<std::int64_t>{0}, 0).top1Hits, 0);
}

void TestAccuracy::averagesAreWeightedByImages()
{
    Score total;
    total.add(scoreBatch(std::vector<float>{1, 0, 1, 0, 1, 0}, std::vector<std::int64_t>{0, 0, 0}, 1.0));
    total.add(scoreBatch(std::vector<float>{1, 0}, std::vector<std::int64_t>{1}, 5.0));
    QCOMPARE(total.loss(), 2.0);
    QCOMPARE(total.top1(), 0.75);
}

void TestAccuracy::softmaxIsStable()
{
    const auto p = softmax(std::vector<float>{1000, 1000, -1000});
    QCOMPARE(p[0], 0.5);
    QCOMPARE(p[2], 0.0);
    QVERIFY(softmax({}).empty());
}

QTEST_APPLESS_MAIN(TestAccuracy)
#include "tst_accuracy.moc"

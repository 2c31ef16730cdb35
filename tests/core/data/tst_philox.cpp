// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/batchloader.h"
#include "core/data/philox.h"

#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace tw;

class PhiloxTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void knownAnswers();
    void streamsFollowTheCounter();
    void uniformStaysInRange();
    void belowIsEven();
    void normalMoments();
    void shuffledOrderIsAPermutation();
};

// kat_vectors of Random123, philox4x32 with 10 rounds.
void PhiloxTest::knownAnswers()
{
    using Counter = std::array<std::uint32_t, 4>;
    QCOMPARE(philox4x32({0, 0, 0, 0}, {0, 0}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    QCOMPARE(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
             (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    QCOMPARE(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
             (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

void PhiloxTest::streamsFollowTheCounter()
{
    SampleRandom random(0x1122334455667788, RandomPurpose::Augment, 3, 7);
    for (std::uint32_t draw = 0; draw < 3; ++draw) {
        const auto block = philox4x32({3, 3, 7, draw}, {0x55667788, 0x11223344});
        for (const std::uint32_t value : block)
            QCOMPARE(random.next(), value);
    }
}

void PhiloxTest::uniformStaysInRange()
{
    SampleRandom random(1, RandomPurpose::Augment, 1, 0);
    double sum = 0;
    for (int i = 0; i < 20000; ++i) {
        const double value = random.uniform();
        QVERIFY(value >= 0 && value < 1);
        sum += value;
    }
    QVERIFY(std::abs(sum / 20000 - 0.5) < 0.01);
}

void PhiloxTest::belowIsEven()
{
    SampleRandom random(2, RandomPurpose::Augment, 1, 0);
    std::array<int, 7> seen{};
    for (int i = 0; i < 70000; ++i)
        ++seen.at(random.below(7));
    for (const int count : seen)
        QVERIFY(std::abs(count - 10000) < 500);
    QCOMPARE(random.below(1), 0U);
}

void PhiloxTest::normalMoments()
{
    SampleRandom random(3, RandomPurpose::Augment, 1, 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < 50000; ++i) {
        const double value = random.normal();
        sum += value;
        squares += value * value;
    }
    QVERIFY(std::abs(sum / 50000) < 0.02);
    QVERIFY(std::abs(squares / 50000 - 1) < 0.03);
}

void PhiloxTest::shuffledOrderIsAPermutation()
{
    const auto first = shuffledOrder(1000, 5, 1);
    QCOMPARE(shuffledOrder(1000, 5, 1), first);
    QVERIFY(shuffledOrder(1000, 5, 2) != first);
    QVERIFY(shuffledOrder(1000, 6, 1) != first);
    auto sorted = first;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < 1000; ++i)
        QCOMPARE(sorted[i], i);
    QVERIFY(shuffledOrder(0, 5, 1).empty());
}

QTEST_GUILESS_MAIN(PhiloxTest)
#include "tst_philox.moc"

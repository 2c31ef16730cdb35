// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetscan.h"
#include "tests/support/testsupport.h"

#include <QtTest>

#include <algorithm>
#include <set>

using namespace tw;

namespace {

ImageManifest withCounts(const std::vector<int> &counts)
{
    ImageManifest manifest;
    manifest.root = "/set";
    for (std::size_t c = 0; c < counts.size(); ++c) {
        manifest.categories.push_back("class" + std::to_string(c));
        for (int i = 0; i < counts[c]; ++i)
            manifest.add(manifest.categories.back() + '/' + std::to_string(i), int(c), 1, 1);
    }
    manifest.computeFingerprint();
    return manifest;
}

std::set<std::string> pathsOf(const ImageManifest &manifest)
{
    std::set<std::string> out;
    for (std::size_t i = 0; i < manifest.size(); ++i)
        out.emplace(manifest.path(i));
    return out;
}

QList<int> countsOf(const ImageManifest &manifest)
{
    QList<int> out;
    for (const std::int64_t count : manifest.counts())
        out.append(int(count));
    return out;
}

} // namespace

class SplitManifestTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void quotas_data();
    void quotas();
    void seedsAndOrder();
    void unlabelledSplits();
    void plainSplit();
    void refuses_data();
    void refuses();
};

void SplitManifestTest::quotas_data()
{
    QTest::addColumn<QList<int>>("counts");
    QTest::addColumn<double>("fraction");
    QTest::addColumn<QList<int>>("first");
    QTest::addColumn<int>("warnings");
    QTest::newRow("even") << QList<int>{10, 10} << 0.9 << QList<int>{9, 9} << 0;
    QTest::newRow("decimal product") << QList<int>{100} << 0.29 << QList<int>{29} << 0;
    QTest::newRow("largest remainder") << QList<int>{5, 5, 5} << 0.5 << QList<int>{3, 2, 2} << 0;
    QTest::newRow("one goes first") << QList<int>{1, 2, 10} << 0.8 << QList<int>{1, 1, 8} << 1;
    QTest::newRow("one of many small") << QList<int>{1, 2, 17} << 0.66 << QList<int>{1, 1, 11} << 1;
    QTest::newRow("clamp wins over the total") << QList<int>{2, 2, 2, 2} << 0.9 << QList<int>{1, 1, 1, 1} << 4;
    QTest::newRow("empty class stays empty") << QList<int>{10, 0, 10} << 0.5 << QList<int>{5, 0, 5} << 0;
    QTest::newRow("tiny fraction") << QList<int>{4, 4} << 0.01 << QList<int>{1, 1} << 3;
}

void SplitManifestTest::quotas()
{
    QFETCH(const QList<int>, counts);
    QFETCH(const double, fraction);
    QFETCH(const QList<int>, first);
    QFETCH(const int, warnings);
    const ImageManifest manifest = withCounts({counts.begin(), counts.end()});
    const auto split = splitManifest(manifest, fraction, 42, true);
    TW_VERIFY(split);
    QCOMPARE(countsOf(split->first), first);
    QVERIFY2(split->warnings.size() == warnings, qPrintable(split->warnings.join(QLatin1Char('\n'))));
    std::set<std::string> all = pathsOf(split->first);
    const std::set<std::string> second = pathsOf(split->second);
    all.insert(second.begin(), second.end());
    QCOMPARE(split->first.size() + split->second.size(), manifest.size());
    QVERIFY(all == pathsOf(manifest));
    QVERIFY(split->second.categories == manifest.categories);
}

void SplitManifestTest::seedsAndOrder()
{
    const ImageManifest manifest = withCounts({30, 40, 50});
    const auto split = splitManifest(manifest, 0.7, 42, true), again = splitManifest(manifest, 0.7, 42, true);
    const auto other = splitManifest(manifest, 0.7, 43, true);
    TW_VERIFY(split);
    QCOMPARE(again->first.fingerprint, split->first.fingerprint);
    QVERIFY(other->first.fingerprint != split->first.fingerprint);
    std::vector<std::uint32_t> reversed(manifest.size());
    for (std::uint32_t i = 0; i < reversed.size(); ++i)
        reversed[i] = std::uint32_t(manifest.size()) - 1 - i;
    const auto fromReversed = splitManifest(manifest.subset(reversed), 0.7, 42, true);
    TW_VERIFY(fromReversed);
    QCOMPARE(fromReversed->first.fingerprint, split->first.fingerprint);
}

void SplitManifestTest::unlabelledSplits()
{
    ImageManifest manifest;
    for (int i = 0; i < 10; ++i)
        manifest.add(std::to_string(i), -1, 1, 1);
    const auto split = splitManifest(manifest, 0.5, 1, true);
    TW_VERIFY(split);
    QCOMPARE(split->first.size(), std::size_t(5));
    QVERIFY(split->warnings.isEmpty());
}

void SplitManifestTest::plainSplit()
{
    const auto split = splitManifest(withCounts({3, 97}), 0.9, 1, false);
    TW_VERIFY(split);
    QCOMPARE(split->first.size(), std::size_t(90));
    QCOMPARE(split->second.size(), std::size_t(10));
}

void SplitManifestTest::refuses_data()
{
    QTest::addColumn<QList<int>>("counts");
    QTest::addColumn<double>("fraction");
    QTest::addColumn<bool>("stratified");
    QTest::addColumn<QString>("name");
    const QString range = QLatin1String(errors::NotInRangeValue), dataset = QLatin1String(errors::InvalidDataset);
    QTest::newRow("0") << QList<int>{5, 5} << 0.0 << true << range;
    QTest::newRow("1") << QList<int>{5, 5} << 1.0 << true << range;
    QTest::newRow("not a number") << QList<int>{5, 5} << qQNaN() << true << range;
    QTest::newRow("one image") << QList<int>{1} << 0.5 << true << dataset;
    QTest::newRow("no image") << QList<int>{} << 0.5 << true << dataset;
    QTest::newRow("only singles") << QList<int>{1, 1, 1} << 0.5 << true << dataset;
    QTest::newRow("first side empty") << QList<int>{5} << 0.1 << false << range;
}

void SplitManifestTest::refuses()
{
    QFETCH(const QList<int>, counts);
    QFETCH(const double, fraction);
    QFETCH(const bool, stratified);
    QFETCH(const QString, name);
    const auto split = splitManifest(withCounts({counts.begin(), counts.end()}), fraction, 1, stratified);
    QVERIFY(!split.ok());
    QCOMPARE(split.error().name, name);
}

QTEST_GUILESS_MAIN(SplitManifestTest)
#include "tst_splitmanifest.moc"

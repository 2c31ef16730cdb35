// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetscan.h"
#include "core/metrics/scoring.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <numeric>

using namespace tw;

/// The scoring loop with a network that answers from the pixels: no model file, no torch.
class TestScoring : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void manifestOrder_data();
    void manifestOrder();
    void unequalSizesOneByOne();
    void otherSizeThanTheNetworkTakes();
    void unreadable_data();
    void unreadable();
    void notNumbers();
    void canceled();
    void faultsOfTheSinkEndIt();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    ManifestPtr scanned() const;
    /// Notes batches and samples; answers (sum of pixels, 0).
    ScoringPass pass();
    static Result<std::vector<float>> answer(const Batch &batch);

    std::unique_ptr<QTemporaryDir> m_folder;
    ModelInfo m_info;
    std::vector<int> m_batches;
    std::vector<std::uint32_t> m_samples;
    std::vector<float> m_sums;
    QStringList m_notes, m_skipped;
};

void TestScoring::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_info = {};
    m_info.classes = {"a", "b"};
    m_batches.clear();
    m_samples.clear();
    m_sums.clear();
    m_notes.clear();
    m_skipped.clear();
}

ManifestPtr TestScoring::scanned() const
{
    auto scan = scanDataset(folder() / "set", {});
    if (!scan.ok())
        qFatal("%s", qPrintable(scan.error().toString()));
    return std::make_shared<const ImageManifest>(std::move(scan->manifest));
}

Result<std::vector<float>> TestScoring::answer(const Batch &batch)
{
    const std::ptrdiff_t size = std::ptrdiff_t(batch.channels) * batch.height * batch.width;
    std::vector<float> logits;
    for (int i = 0; i < batch.count; ++i) {
        logits.push_back(std::accumulate(batch.data + i * size, batch.data + (i + 1) * size, 0.0f));
        logits.push_back(0);
    }
    return logits;
}

ScoringPass TestScoring::pass()
{
    ScoringPass pass{scanned(), m_info, [this](const Batch &batch) {
                         m_batches.push_back(batch.count);
                         return answer(batch);
                     }};
    pass.picture = [this](const ScoredPicture &picture) {
        m_samples.push_back(picture.sample);
        m_sums.push_back(picture.logits[0]);
        return Result<void>();
    };
    pass.skipped = [this](std::uint32_t, const QString &reason) { m_skipped.append(reason); };
    pass.note = [this](const QString &line) { m_notes.append(line); };
    return pass;
}

void TestScoring::manifestOrder_data()
{
    QTest::addColumn<int>("batchSize");
    QTest::addColumn<std::vector<int>>("batches");
    QTest::newRow("1") << 1 << std::vector<int>(10, 1);
    QTest::newRow("4") << 4 << std::vector<int>{4, 4, 2};
    QTest::newRow("more than there are") << 32 << std::vector<int>{10};
}

void TestScoring::manifestOrder()
{
    QFETCH(int, batchSize);
    QFETCH(std::vector<int>, batches);
    test::writeClassFolders(folder() / "set", 10, 8, 8);
    ScoringPass alone = pass(), together = pass();
    alone.batchSize = 1;
    TW_VERIFY(scorePictures(alone));
    const std::vector<float> expected = std::exchange(m_sums, {});
    m_batches.clear();
    m_samples.clear();
    together.batchSize = batchSize;
    std::vector<std::int64_t> done;
    together.progress = [&](std::int64_t count, double) { done.push_back(count); };
    const auto summary = scorePictures(together);
    TW_VERIFY(summary);
    QCOMPARE(summary->scored, 10);
    QCOMPARE(summary->skipped, 0);
    QCOMPARE(m_batches, batches);
    QCOMPARE(m_sums, expected);
    QVERIFY(std::is_sorted(m_samples.begin(), m_samples.end()));
    QCOMPARE(done.size(), batches.size());
    QCOMPARE(done.back(), 10);
}

void TestScoring::unequalSizesOneByOne()
{
    test::writeClassFolders(folder() / "set", 6, 8, 8);
    test::writeBytes(folder() / "set" / "a" / "9.ppm", test::ppmOf(test::patternImage(9, 5, 3)));
    TW_VERIFY(scorePictures(pass()));
    QCOMPARE(m_batches, std::vector<int>(7, 1));
    QCOMPARE(m_notes.size(), 1);
    // A list that makes them equal lets them share batches.
    m_batches.clear();
    TransformOp resize, crop;
    resize.size = 8;
    crop.kind = TransformOp::Kind::CenterCrop;
    crop.size = 5;
    m_info.transforms = {resize, crop};
    TW_VERIFY(scorePictures(pass()));
    QCOMPARE(m_batches, std::vector<int>{7});
}

void TestScoring::otherSizeThanTheNetworkTakes()
{
    test::writeClassFolders(folder() / "set", 4, 9, 8);
    m_info.config.arguments = {{"height", 8}, {"width", 8}};
    const auto summary = scorePictures(pass());
    QVERIFY(!summary.ok());
    QCOMPARE(summary.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(summary.error().sentence().contains("a/0.ppm' reaches the network with 9 × 8 pixels; it takes 8 × 8"),
             qPrintable(summary.error().sentence()));
    QVERIFY(!summary.error().hint.isEmpty());
    QVERIFY(m_batches.empty());
}

void TestScoring::unreadable_data()
{
    QTest::addColumn<bool>("skip");
    QTest::addColumn<int>("broken");
    QTest::addColumn<double>("largestLoss");
    QTest::addColumn<QString>("offender");
    QTest::newRow("skipped") << true << 2 << 0.1 << QString();
    QTest::newRow("fail") << false << 1 << 0.1 << "0.ppm";
    QTest::newRow("too many") << true << 4 << 0.1 << "of 30 images cannot be read, more than 10 %";
    QTest::newRow("any number") << true << 20 << 1.0 << QString();
    QTest::newRow("all") << true << 30 << 1.0 << QString();
}

void TestScoring::unreadable()
{
    QFETCH(bool, skip);
    QFETCH(int, broken);
    QFETCH(double, largestLoss);
    QFETCH(QString, offender);
    test::writeClassFolders(folder() / "set", 30, 8, 8);
    for (int i = 0; i < broken; ++i)
        test::writeBytes(folder() / "set" / std::string(1, "abc"[i % 3]) / (std::to_string(i) + ".ppm"),
                         "P6\n8 8\n255\n");
    ScoringPass job = pass();
    job.batchSize = 4;
    job.skipUnreadable = skip;
    job.largestLoss = largestLoss;
    const auto summary = scorePictures(job);
    QCOMPARE(summary.ok(), offender.isEmpty());
    if (!summary.ok()) {
        QCOMPARE(summary.error().name, QLatin1String(errors::InvalidDataset));
        QVERIFY2(summary.error().sentence().contains(offender), qPrintable(summary.error().sentence()));
        return;
    }
    QCOMPARE(summary->scored, 30 - broken);
    QCOMPARE(summary->skipped, broken);
    QCOMPARE(m_samples.size(), std::size_t(30 - broken));
    QCOMPARE(m_skipped.size(), broken);
    QVERIFY2(m_skipped.first().contains("0.ppm"), qPrintable(m_skipped.first()));
}

void TestScoring::notNumbers()
{
    test::writeClassFolders(folder() / "set", 4, 8, 8);
    ScoringPass job = pass();
    job.network = [](const Batch &batch) {
        std::vector<float> logits(std::size_t(batch.count) * 2, 1.0f);
        logits[2] = std::nanf("");
        logits[5] = INFINITY;
        return Result<std::vector<float>>(logits);
    };
    const auto summary = scorePictures(job);
    TW_VERIFY(summary);
    QCOMPARE(summary->scored, 4);
    QCOMPARE(summary->undefined, 2);
}

void TestScoring::canceled()
{
    test::writeClassFolders(folder() / "set", 12, 8, 8);
    StopToken stop;
    ScoringPass job = pass();
    job.batchSize = 1;
    job.stop = &stop;
    job.progress = [&](std::int64_t done, double) { stop.cancel = done >= 2; };
    const auto summary = scorePictures(job);
    if (summary.ok())
        QVERIFY2(false, "not canceled");
    QCOMPARE(summary.error().name, QLatin1String(errors::Canceled));
    QCOMPARE(m_samples.size(), std::size_t(2));
}

void TestScoring::faultsOfTheSinkEndIt()
{
    test::writeClassFolders(folder() / "set", 6, 8, 8);
    ScoringPass job = pass();
    job.picture = [](const ScoredPicture &) { return Result<void>(makeError(errors::FailedToWriteOutputs, "full")); };
    const auto summary = scorePictures(job);
    QVERIFY(!summary.ok());
    QCOMPARE(summary.error().name, QLatin1String(errors::FailedToWriteOutputs));
}

QTEST_GUILESS_MAIN(TestScoring)
#include "tst_scoring.moc"

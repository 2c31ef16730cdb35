// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/batchloader.h"
#include "core/data/datasetscan.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cstring>
#include <thread>

using namespace tw;
using namespace tw::test;
using Kind = TransformOp::Kind;

namespace {

struct Epoch
{
    std::vector<float> values;
    std::vector<std::int64_t> labels;
    std::vector<std::uint32_t> samples;
    std::vector<int> counts;
    bool operator==(const Epoch &) const = default;
};

Result<Epoch> drain(BatchLoader &loader, std::uint32_t epoch)
{
    loader.startEpoch(epoch);
    Epoch out;
    while (true) {
        TW_ASSIGN(next, loader.next());
        if (!next)
            return out;
        const Batch &batch = **next;
        out.values.insert(out.values.end(), batch.data,
                          batch.data + batch.count * batch.channels * batch.height * batch.width);
        out.labels.insert(out.labels.end(), batch.labels.begin(), batch.labels.end());
        out.samples.insert(out.samples.end(), batch.samples.begin(), batch.samples.end());
        out.counts.push_back(batch.count);
    }
}

ManifestPtr scanned(const fs::path &path)
{
    Result<ScanResult> scan = scanDataset(path, {});
    return scan.ok() ? std::make_shared<const ImageManifest>(std::move(scan->manifest)) : nullptr;
}

TransformList augmentation()
{
    TransformOp crop{Kind::RandomResizedCrop, 16};
    return {crop, {Kind::RandomHorizontalFlip}, {Kind::RandomVerticalFlip}, {Kind::Pad, 2}, {Kind::RandomCrop, 16}};
}

} // namespace

class BatchLoaderTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void valuesAreNormalised_data();
    void valuesAreNormalised();
    void workersDoNotChangeBits_data();
    void workersDoNotChangeBits();
    void epochsDifferAndRepeat();
    void idxGivesGrayFast();
    void lastBatch_data();
    void lastBatch();
    void restartInTheMiddle();
    void skipsUnreadable();
    void failsOnUnreadable();
    void failsWhenTooManyAreLost();
    void unequalSizesNameTwo();
    void cropTooLarge();
    void cancelWhileWaiting();
    void endsWithWorkInHand();
    void batchesOutliveTheLoader();
    void datasetNormalizationIsExact();
    void refusesBadOptions();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void BatchLoaderTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
}

void BatchLoaderTest::valuesAreNormalised_data()
{
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("order");
    QTest::newRow("rgb first") << 3 << int(MemoryOrder::ChannelsFirst);
    QTest::newRow("rgb last") << 3 << int(MemoryOrder::ChannelsLast);
    QTest::newRow("gray first") << 1 << int(MemoryOrder::ChannelsFirst);
    QTest::newRow("gray last") << 1 << int(MemoryOrder::ChannelsLast);
}

void BatchLoaderTest::valuesAreNormalised()
{
    QFETCH(const int, channels);
    QFETCH(const int, order);
    writeClassFolders(root(), 3, 7, 5);
    LoaderOptions options;
    options.channels = channels;
    options.order = MemoryOrder(order);
    auto loader = BatchLoader::create(scanned(root()), {}, options);
    TW_VERIFY(loader);
    const auto epoch = drain(**loader, 1);
    TW_VERIFY(epoch);
    QCOMPARE(epoch->labels, (std::vector<std::int64_t>{0, 1, 2}));
    const ImageBuffer image = patternImage(7, 5, 1);
    for (int c = 0; c < channels; ++c)
        for (int pixel = 0; pixel < 35; ++pixel) {
            const std::uint8_t *rgb = image.pixels.data() + pixel * 3;
            const int value = channels == 3 ? rgb[c] : (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 32768) >> 16;
            const auto index = std::size_t(c);
            const float expected =
                (float(value) / 255.0F - options.normalization.mean[index]) / options.normalization.std[index];
            const int place = options.order == MemoryOrder::ChannelsLast ? pixel * channels + c : c * 35 + pixel;
            QCOMPARE(epoch->values[std::size_t(35 * channels + place)], expected);
        }
}

void BatchLoaderTest::workersDoNotChangeBits_data()
{
    QTest::addColumn<bool>("idx");
    QTest::addColumn<int>("channels");
    QTest::newRow("files") << false << 3;
    QTest::newRow("files gray") << false << 1;
    QTest::newRow("idx") << true << 3;
    QTest::newRow("idx gray") << true << 1;
}

void BatchLoaderTest::workersDoNotChangeBits()
{
    QFETCH(const bool, idx);
    QFETCH(const int, channels);
    if (!idx)
        writeClassFolders(root(), 70, 31, 23);
    const ManifestPtr manifest = scanned(idx ? writeIdxPair(root(), 211, 28, 28) : root());
    QVERIFY(manifest);
    std::optional<Epoch> reference;
    for (const int workers : {0, 1, 2, 4})
        for (const int prefetch : {1, 3}) {
            LoaderOptions options;
            options.numWorkers = workers;
            options.prefetch = prefetch;
            options.shuffle = true;
            options.seed = 42;
            options.batchSize = 8;
            options.channels = channels;
            auto loader = BatchLoader::create(manifest, augmentation(), options);
            TW_VERIFY(loader);
            const auto epoch = drain(**loader, 3);
            TW_VERIFY(epoch);
            QCOMPARE(epoch->samples.size(), manifest->size());
            if (!reference)
                reference = *epoch;
            QVERIFY2(*epoch == *reference, qPrintable(QStringLiteral("%1 workers").arg(workers)));
        }
}

void BatchLoaderTest::epochsDifferAndRepeat()
{
    writeClassFolders(root(), 20, 20, 20);
    LoaderOptions options;
    options.shuffle = true;
    auto loader = BatchLoader::create(scanned(root()), augmentation(), options);
    TW_VERIFY(loader);
    const auto first = drain(**loader, 1), second = drain(**loader, 2), again = drain(**loader, 1);
    TW_VERIFY(first);
    TW_VERIFY(second);
    QVERIFY(first->values != second->values);
    QVERIFY(first->samples != second->samples);
    QVERIFY(*first == *again);
}

// The gray path gives what the same pictures give as RGB files.
void BatchLoaderTest::idxGivesGrayFast()
{
    const ManifestPtr idx = scanned(writeIdxPair(root() / "idx", 12, 28, 28));
    QVERIFY(idx);
    const auto reader = ImageReader::open(idx);
    TW_VERIFY(reader);
    for (int i = 0; i < 12; ++i) {
        auto image = (*reader)->read(std::size_t(i));
        TW_VERIFY(image);
        QCOMPARE(image->width, 28);
        writeBytes(root() / "files" / "a" / (std::string(1, char('a' + i)) + ".ppm"), ppmOf(*image));
    }
    LoaderOptions options;
    for (const int channels : {1, 3}) {
        options.channels = channels;
        auto gray = BatchLoader::create(idx, augmentation(), options);
        auto rgb = BatchLoader::create(scanned(root() / "files"), augmentation(), options);
        TW_VERIFY(gray);
        TW_VERIFY(rgb);
        const auto fromIdx = drain(**gray, 1), fromFiles = drain(**rgb, 1);
        TW_VERIFY(fromIdx);
        TW_VERIFY(fromFiles);
        QCOMPARE(fromIdx->values, fromFiles->values);
    }
}

void BatchLoaderTest::lastBatch_data()
{
    QTest::addColumn<int>("images");
    QTest::addColumn<bool>("drop");
    QTest::addColumn<QList<int>>("counts");
    QTest::newRow("whole") << 8 << true << QList<int>{4, 4};
    QTest::newRow("short") << 6 << true << QList<int>{4, 2};
    QTest::newRow("single kept") << 9 << false << QList<int>{4, 4, 1};
    QTest::newRow("single dropped") << 9 << true << QList<int>{4, 4};
    QTest::newRow("never no batch") << 1 << true << QList<int>{1};
}

void BatchLoaderTest::lastBatch()
{
    QFETCH(const int, images);
    QFETCH(const bool, drop);
    QFETCH(const QList<int>, counts);
    LoaderOptions options;
    options.batchSize = 4;
    options.dropSingleLast = drop;
    auto loader = BatchLoader::create(scanned(writeIdxPair(root(), images, 4, 4)), {}, options);
    TW_VERIFY(loader);
    QCOMPARE((*loader)->batchesPerEpoch(), std::size_t(counts.size()));
    const auto epoch = drain(**loader, 1);
    TW_VERIFY(epoch);
    QCOMPARE(QList<int>(epoch->counts.begin(), epoch->counts.end()), counts);
    const auto end = (*loader)->next();
    TW_VERIFY(end);
    QVERIFY(!end->has_value());
}

void BatchLoaderTest::restartInTheMiddle()
{
    writeClassFolders(root(), 60, 16, 16);
    LoaderOptions options;
    options.batchSize = 4;
    options.shuffle = true;
    auto loader = BatchLoader::create(scanned(root()), {}, options);
    TW_VERIFY(loader);
    const auto whole = drain(**loader, 2);
    for (int round = 0; round < 20; ++round) {
        (*loader)->startEpoch(1);
        TW_VERIFY((*loader)->next());
        const auto again = drain(**loader, 2);
        TW_VERIFY(again);
        QVERIFY(*again == *whole);
    }
}

void BatchLoaderTest::skipsUnreadable()
{
    writeClassFolders(root(), 30, 8, 8);
    writeBytes(root() / "b" / "4.ppm", "P6\n8 8\n255\nshort");
    for (const int workers : {0, 2}) {
        LoaderOptions options;
        options.numWorkers = workers;
        options.batchSize = 5;
        auto loader = BatchLoader::create(scanned(root()), {}, options);
        TW_VERIFY(loader);
        for (const std::uint32_t number : {1U, 2U}) {
            const auto epoch = drain(**loader, number);
            TW_VERIFY(epoch);
            QCOMPARE(epoch->labels.size(), std::size_t(29));
            QCOMPARE(std::count(epoch->counts.begin(), epoch->counts.end(), 4), 1);
            QCOMPARE(epoch->values.size(), std::size_t(29 * 3 * 64));
            const auto skipped = (*loader)->takeSkipped();
            QCOMPARE(skipped.size(), std::size_t(number == 1 ? 1 : 0));
            if (number == 1)
                QVERIFY(skipped[0].second.contains(QStringLiteral("b/4.ppm"))
                        && skipped[0].second.contains(QStringLiteral("cut")));
        }
    }
}

void BatchLoaderTest::failsOnUnreadable()
{
    writeClassFolders(root(), 30, 8, 8);
    writeBytes(root() / "b" / "4.ppm", "");
    LoaderOptions options;
    options.skipUnreadable = false;
    auto loader = BatchLoader::create(scanned(root()), {}, options);
    TW_VERIFY(loader);
    const auto epoch = drain(**loader, 1);
    QVERIFY(!epoch.ok());
    QCOMPARE(epoch.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY(epoch.error().sentence().contains(QStringLiteral("b/4.ppm")));
}

void BatchLoaderTest::failsWhenTooManyAreLost()
{
    writeClassFolders(root(), 20, 8, 8);
    for (const char *name : {"a/0.ppm", "b/1.ppm", "c/2.ppm"})
        writeBytes(root() / name, "nothing");
    auto loader = BatchLoader::create(scanned(root()), {}, {});
    TW_VERIFY(loader);
    const auto epoch = drain(**loader, 1);
    QVERIFY(!epoch.ok());
    QCOMPARE(epoch.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY(epoch.error().sentence().contains(QStringLiteral("3 of 20")));
}

void BatchLoaderTest::unequalSizesNameTwo()
{
    writeClassFolders(root(), 9, 8, 8);
    writeBytes(root() / "a" / "3.ppm", ppmOf(patternImage(9, 8, 1)));
    writeBytes(root() / "c" / "8.ppm", ppmOf(patternImage(8, 10, 1)));
    for (const int workers : {0, 1, 4}) {
        LoaderOptions options;
        options.numWorkers = workers;
        auto loader = BatchLoader::create(scanned(root()), {}, options);
        TW_VERIFY(loader);
        const auto epoch = drain(**loader, 1);
        QVERIFY(!epoch.ok());
        const QString sentence = epoch.error().sentence();
        QVERIFY2(sentence.contains(QStringLiteral("a/0.ppm\" has 8 × 8"))
                     && sentence.contains(QStringLiteral("a/3.ppm\" 9 × 8")),
                 qPrintable(sentence));
    }
}

void BatchLoaderTest::cropTooLarge()
{
    writeClassFolders(root(), 3, 8, 8);
    auto loader = BatchLoader::create(scanned(root()), {{Kind::CenterCrop, 9}}, {});
    TW_VERIFY(loader);
    const auto epoch = drain(**loader, 1);
    QVERIFY(!epoch.ok());
    QCOMPARE(epoch.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY(epoch.error().sentence().contains(QStringLiteral("a/0.ppm")));
}

void BatchLoaderTest::cancelWhileWaiting()
{
    writeClassFolders(root(), 40, 900, 700);
    for (const int workers : {0, 1}) {
        LoaderOptions options;
        options.numWorkers = workers;
        options.batchSize = 40;
        auto loader = BatchLoader::create(scanned(root()), {{Kind::Resize, 1000}, {Kind::CenterCrop, 900}}, options);
        TW_VERIFY(loader);
        (*loader)->startEpoch(1);
        StopToken stop;
        std::thread canceler([&stop] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            stop.cancel = true;
        });
        const auto next = (*loader)->next(&stop);
        canceler.join();
        QVERIFY(!next.ok());
        QCOMPARE(next.error().name, QLatin1String(errors::Canceled));
    }
}

void BatchLoaderTest::endsWithWorkInHand()
{
    writeClassFolders(root(), 40, 200, 200);
    for (int round = 0; round < 10; ++round) {
        LoaderOptions options;
        options.numWorkers = 4;
        options.batchSize = 8;
        auto loader = BatchLoader::create(scanned(root()), {{Kind::Resize, 300}}, options);
        TW_VERIFY(loader);
        if (round > 0)
            (*loader)->startEpoch(1);
        if (round > 4)
            TW_VERIFY((*loader)->next());
        if (round % 2 == 1) {
            (*loader)->stop();
            const auto next = (*loader)->next();
            TW_VERIFY(next);
            QVERIFY(!next->has_value());
        }
    }
}

void BatchLoaderTest::batchesOutliveTheLoader()
{
    BatchPtr kept;
    {
        auto loader = BatchLoader::create(scanned(writeIdxPair(root(), 10, 6, 6)), {}, {});
        TW_VERIFY(loader);
        (*loader)->startEpoch(1);
        auto next = (*loader)->next();
        TW_VERIFY(next);
        kept = **next;
    }
    QCOMPARE(kept->count, 10);
    QCOMPARE(reinterpret_cast<std::uintptr_t>(kept->data) % 64, std::uintptr_t(0));
    const float gray = float(patternImage(6, 6, 0).pixels[0]);
    QCOMPARE(kept->data[0], (gray / 255.0F - 0.485F) / 0.229F);
}

void BatchLoaderTest::datasetNormalizationIsExact()
{
    writeBytes(root() / "a" / "0.ppm", QByteArray("P6\n2 1\n255\n")
                                           + QByteArray::fromHex("00ff33"
                                                                 "ff0033"));
    for (const int workers : {1, 3}) {
        const auto measured = datasetNormalization(scanned(root()), {}, workers, nullptr);
        TW_VERIFY(measured);
        QCOMPARE(measured->mean[0], 0.5F);
        QCOMPARE(measured->std[0], 0.5F);
        QCOMPARE(measured->mean[2], 0.2F);
        QCOMPARE(measured->std[2], 1.0F);
    }
}

void BatchLoaderTest::refusesBadOptions()
{
    const ManifestPtr manifest = scanned(writeIdxPair(root(), 4, 4, 4));
    LoaderOptions options;
    options.batchSize = 0;
    QCOMPARE(BatchLoader::create(manifest, {}, options).error().name, QLatin1String(errors::NotInRangeValue));
    options = {};
    options.channels = 2;
    QCOMPARE(BatchLoader::create(manifest, {}, options).error().name, QLatin1String(errors::NotInRangeValue));
    QCOMPARE(BatchLoader::create(std::make_shared<ImageManifest>(), {}, {}).error().name,
             QLatin1String(errors::InvalidDataset));
    fs::remove(manifest->root);
    QCOMPARE(BatchLoader::create(manifest, {}, {}).error().name, QLatin1String(errors::InvalidDataset));
}

QTEST_GUILESS_MAIN(BatchLoaderTest)
#include "tst_batchloader.moc"

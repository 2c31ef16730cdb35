// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/batchloader.h"
#include "core/data/datasetscan.h"
#include "core/data/randomerasing.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <cstdlib>
#include <new>

using namespace tw;
using namespace tw::test;
using Kind = TransformOp::Kind;

// Every allocation of this program is counted.
static std::atomic<std::size_t> allocations{0};

// NOLINTBEGIN: replaced on purpose
void *operator new(std::size_t size)
{
    ++allocations;
    if (void *memory = std::malloc(size ? size : 1))
        return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept
{
    std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}
// NOLINTEND

namespace {

/// Every operation that keeps or fixes the size, with a chance of 1 where it has one.
TransformList everything(int size)
{
    TransformList list;
    for (int kind = 0; kind <= int(Kind::RandomErasing); ++kind) {
        TransformOp op = defaultOp(Kind(kind));
        op.p = 1;
        op.size = op.kind == Kind::Pad ? 2 : size;
        op.hue = op.kind == Kind::ColorJitter ? 0.3 : 0;
        op.shear = op.kind == Kind::RandomAffine ? 5 : 0;
        op.translate = op.kind == Kind::RandomAffine ? 0.2 : 0;
        list.push_back(op);
    }
    return list;
}

QByteArray bytesOf(const PixelView &view)
{
    const ImageBuffer image = bufferOf(view);
    return {reinterpret_cast<const char *>(image.pixels.data()), qsizetype(image.pixels.size())};
}

SampleRandom randomOf(std::uint32_t sample)
{
    return {1, RandomPurpose::Augment, 1, sample};
}

using Batches = std::vector<std::vector<float>>;

} // namespace

/// The whole list as the loader's threads run it.
class TransformLoadingTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void everyOperationOnAnySize_data();
    void everyOperationOnAnySize();
    void grayEqualsThreeChannels();
    void nothingIsAllocatedPerPicture();
    void erasingBlanksBothOrders();
    void erasedBatchesDoNotDependOnWorkers_data();
    void erasedBatchesDoNotDependOnWorkers();

private:
    Batches load(const TransformList &list, MemoryOrder order, int channels, int workers) const;

    QTemporaryDir m_folder;
    ManifestPtr m_manifest;
};

void TransformLoadingTest::initTestCase()
{
    const fs::path root = fs::path(m_folder.path().toStdString());
    writeClassFolders(root, 24, 30, 20);
    auto scan = scanDataset(root, {});
    TW_VERIFY(scan);
    m_manifest = std::make_shared<const ImageManifest>(std::move(scan->manifest));
}

void TransformLoadingTest::everyOperationOnAnySize_data()
{
    QTest::addColumn<QSize>("size");
    for (const QSize size : {QSize(1, 1), QSize(1, 300), QSize(300, 1), QSize(2, 3), QSize(40, 30)})
        QTest::addRow("%d x %d", size.width(), size.height()) << size;
}

void TransformLoadingTest::everyOperationOnAnySize()
{
    QFETCH(const QSize, size);
    const ImageBuffer image = patternImage(size.width(), size.height(), 3);
    TransformScratch scratch;
    for (std::uint32_t sample = 0; sample < 200; ++sample) {
        SampleRandom random = randomOf(sample);
        const auto all = transformView(viewOf(image), everything(8), random, "x", scratch);
        TW_VERIFY(all);
        QCOMPARE(QSize(all->width, all->height), QSize(8, 8));
        for (const Kind kind : {Kind::RandomRotation, Kind::RandomAffine, Kind::RandomPerspective, Kind::TrivialAugment,
                                Kind::RandAugment, Kind::ColorJitter}) {
            TransformOp op = defaultOp(kind);
            op.p = op.distortion = 1;
            op.hue = 0.5;
            const auto one = transformView(viewOf(image), {op}, random, "x", scratch);
            TW_VERIFY(one);
            QCOMPARE(QSize(one->width, one->height), size);
        }
    }
}

void TransformLoadingTest::grayEqualsThreeChannels()
{
    ImageBuffer gray = patternImage(31, 23, 5);
    const PixelView single{gray.pixels.data(), 31, 23, 1, 31};
    const ImageBuffer triple = bufferOf(single);
    TransformScratch one, three;
    for (std::uint32_t sample = 0; sample < 300; ++sample) {
        SampleRandom first = randomOf(sample), second = randomOf(sample);
        const auto fromGray = transformView(single, everything(16), first, "x", one);
        const auto fromRgb = transformView(viewOf(triple), everything(16), second, "x", three);
        TW_VERIFY(fromGray);
        TW_VERIFY(fromRgb);
        QCOMPARE(fromGray->channels, 1);
        QCOMPARE(bytesOf(*fromGray), bytesOf(*fromRgb));
    }
}

void TransformLoadingTest::nothingIsAllocatedPerPicture()
{
    const ImageBuffer image = patternImage(120, 90, 3);
    const TransformList list = everything(64);
    const std::string name = "x";
    TransformScratch scratch;
    const auto run = [&](std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t sample = from; sample < to; ++sample) {
            SampleRandom random = randomOf(sample);
            const auto out = transformView(viewOf(image), list, random, name, scratch);
            if (!out.ok())
                qFatal("not transformed");
        }
    };
    run(0, 400); // the buffers grow to what the largest picture needs
    const std::size_t before = allocations;
    run(400, 600);
    QCOMPARE(allocations.load() - before, std::size_t(0));
}

void TransformLoadingTest::erasingBlanksBothOrders()
{
    const int width = 7, height = 5;
    const EraseRegion region{2, 1, 3, 4};
    for (const int channels : {1, 3})
        for (const MemoryOrder order : {MemoryOrder::ChannelsFirst, MemoryOrder::ChannelsLast}) {
            std::vector<float> pixels(std::size_t(width * height * channels), 2.0F);
            eraseRegion(region, width, height, channels, order, pixels.data());
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x)
                    for (int c = 0; c < channels; ++c) {
                        const bool first = order == MemoryOrder::ChannelsFirst;
                        const int place = first ? (c * height + y) * width + x : (y * width + x) * channels + c;
                        const bool inside = x >= 2 && x < 5 && y >= 1;
                        QCOMPARE(pixels[std::size_t(place)], inside ? 0.0F : 2.0F);
                    }
        }
}

Batches TransformLoadingTest::load(const TransformList &list, MemoryOrder order, int channels, int workers) const
{
    LoaderOptions options;
    options.batchSize = 6;
    options.numWorkers = workers;
    options.order = order;
    options.channels = channels;
    auto loader = BatchLoader::create(m_manifest, list, options);
    Batches out;
    (*loader)->startEpoch(1);
    while (true) {
        const auto batch = (*loader)->next();
        if (!batch.ok() || !*batch)
            return out;
        const Batch &b = ***batch;
        out.emplace_back(b.data, b.data + b.count * b.channels * b.height * b.width);
    }
}

void TransformLoadingTest::erasedBatchesDoNotDependOnWorkers_data()
{
    QTest::addColumn<bool>("last");
    QTest::addColumn<int>("channels");
    QTest::newRow("NCHW") << false << 3;
    QTest::newRow("NHWC") << true << 3;
    QTest::newRow("gray") << false << 1;
}

void TransformLoadingTest::erasedBatchesDoNotDependOnWorkers()
{
    QFETCH(const bool, last);
    QFETCH(const int, channels);
    const MemoryOrder order = last ? MemoryOrder::ChannelsLast : MemoryOrder::ChannelsFirst;
    TransformOp erasing = defaultOp(Kind::RandomErasing);
    erasing.p = 1;
    const Batches plain = load({defaultOp(Kind::RandomAffine)}, order, channels, 0);
    const Batches erased = load({defaultOp(Kind::RandomAffine), erasing}, order, channels, 0);
    QCOMPARE(plain.size(), std::size_t(4));
    QVERIFY(erased == load({defaultOp(Kind::RandomAffine), erasing}, order, channels, 3));
    std::size_t blanked = 0, other = 0;
    for (std::size_t b = 0; b < plain.size(); ++b)
        for (std::size_t i = 0; i < plain[b].size(); ++i)
            if (plain[b][i] != erased[b][i])
                ++(erased[b][i] == 0.0F ? blanked : other);
    QCOMPARE(other, std::size_t(0)); // what is not blanked stays as it was
    const double share = double(blanked) / double(plain.size() * plain[0].size());
    QVERIFY2(share > 0.05 && share < 0.33, qPrintable(QString::number(share)));
}

QTEST_GUILESS_MAIN(TransformLoadingTest)
#include "tst_transformloading.moc"

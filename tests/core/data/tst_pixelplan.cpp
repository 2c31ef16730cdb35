// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/batchloader.h"
#include "core/data/datasetscan.h"
#include "core/data/normalize.h"
#include "core/data/pixelplan.h"
#include "tests/core/data/datasamples.h"
#include "tests/core/data/jpegsamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace tw;
using namespace tw::test;
using Kind = TransformOp::Kind;

Q_DECLARE_METATYPE(TransformList)

/// Steps taken together give the pixels of the steps one by one; the fast path stays near them.
class PixelPlanTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void samePixels_data();
    void samePixels();
    void readsLittle();
    void reduce_data();
    void reduce();
    void bicubicIsAlwaysExact();
    void fastStaysNear_data();
    void fastStaysNear();
    void fastIsTheSameWithAnyWorkers();
};

namespace {

TransformOp sized(Kind kind, int size)
{
    TransformOp op = defaultOp(kind);
    op.size = size;
    return op;
}

TransformOp bicubic(Kind kind, int size)
{
    TransformOp op = sized(kind, size);
    op.interpolation = Interpolation::Bicubic;
    return op;
}

TransformOp flip(Kind kind, double p = 0.5)
{
    TransformOp op = defaultOp(kind);
    op.p = p;
    return op;
}

std::vector<float> normalised(const PlannedPixels &pixels, MemoryOrder order)
{
    std::vector<float> out(std::size_t(pixels.view.width) * std::size_t(pixels.view.height) * 3);
    Normalizer({}, 3, order).run(pixels, out.data());
    return out;
}

/// A photo-like picture: slow and quick waves, edges and a little grain.
ImageBuffer sceneOf(int width, int height)
{
    ImageBuffer image{width, height, {}};
    image.pixels.resize(std::size_t(width) * std::size_t(height) * 3);
    std::uint32_t noise = 1;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int c = 0; c < 3; ++c) {
                noise = noise * 1664525U + 1013904223U;
                const double wave =
                    60 * std::sin(x * 0.02 + c) + 40 * std::cos(y * 0.03 - c) + 15 * std::sin((x + y) * 0.3);
                const double edge = (x / 90 + y / 70) % 2 ? 25 : -25;
                const double value = 128 + wave + edge + double(noise >> 29) - 3.5;
                image.row(y)[3 * x + c] = std::uint8_t(std::clamp(value, 0.0, 255.0));
            }
    return image;
}

Result<std::vector<float>> epochOf(const fs::path &root, const TransformList &list, PixelPath path, int workers,
                                   MemoryOrder order)
{
    TW_ASSIGN(scan, scanDataset(root, {}));
    LoaderOptions options;
    options.pixelPath = path;
    options.numWorkers = workers;
    options.order = order;
    options.normalization = {{0, 0, 0}, {1 / 255.0F, 1 / 255.0F, 1 / 255.0F}}; // levels
    TW_ASSIGN(loader,
              BatchLoader::create(std::make_shared<const ImageManifest>(std::move(scan.manifest)), list, options));
    std::vector<float> values;
    for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
        loader->startEpoch(epoch);
        while (true) {
            TW_ASSIGN(batch, loader->next());
            if (!batch)
                break;
            const Batch &b = **batch;
            values.insert(values.end(), b.data, b.data + std::size_t(b.count) * 3 * std::size_t(b.height * b.width));
        }
    }
    return values;
}

} // namespace

void PixelPlanTest::samePixels_data()
{
    QTest::addColumn<TransformList>("list");
    const auto row = [](const char *name, const TransformList &list) { QTest::newRow(name) << list; };
    row("nothing", {});
    row("crop, flip", {sized(Kind::RandomResizedCrop, 24), flip(Kind::RandomHorizontalFlip)});
    row("resize, center", {sized(Kind::Resize, 32), sized(Kind::CenterCrop, 24)});
    row("resize only", {sized(Kind::Resize, 19)});
    row("resize, center, bicubic", {bicubic(Kind::Resize, 32), sized(Kind::CenterCrop, 24)});
    row("crop, flip, bicubic", {bicubic(Kind::RandomResizedCrop, 24), flip(Kind::RandomHorizontalFlip)});
    row("resized twice, bicubic first", {bicubic(Kind::Resize, 40), sized(Kind::RandomResizedCrop, 20)});
    row("resized twice, bicubic last", {sized(Kind::Resize, 40), bicubic(Kind::RandomResizedCrop, 20)});
    row("enlarged", {sized(Kind::Resize, 150), sized(Kind::CenterCrop, 140), flip(Kind::RandomVerticalFlip, 1)});
    row("crops in crops", {sized(Kind::Resize, 40), sized(Kind::RandomCrop, 30), sized(Kind::CenterCrop, 21),
                           flip(Kind::RandomHorizontalFlip, 1), flip(Kind::RandomVerticalFlip, 1)});
    row("resized twice", {sized(Kind::Resize, 40), sized(Kind::CenterCrop, 36), sized(Kind::RandomResizedCrop, 20)});
    row("pad before", {sized(Kind::Pad, 3), sized(Kind::RandomResizedCrop, 20), flip(Kind::RandomHorizontalFlip)});
    row("colours between",
        {sized(Kind::RandomResizedCrop, 24), defaultOp(Kind::ColorJitter), flip(Kind::RandomHorizontalFlip, 1),
         defaultOp(Kind::RandomRotation), flip(Kind::RandomVerticalFlip, 1)});
    row("flip between",
        {flip(Kind::RandomHorizontalFlip, 1), defaultOp(Kind::RandomGrayscale), flip(Kind::RandomHorizontalFlip, 1)});
}

void PixelPlanTest::samePixels()
{
    QFETCH(const TransformList, list);
    for (const auto &[width, height] : {std::pair(61, 47), std::pair(40, 200), std::pair(24, 24), std::pair(150, 31)}) {
        const ImageBuffer image = patternImage(width, height, 9);
        for (std::uint32_t sample = 0; sample < 25; ++sample) {
            SampleRandom random(5, RandomPurpose::Augment, 1, sample);
            std::vector<PixelStep> steps;
            if (!drawTransforms(list, width, height, random, "x", steps).ok())
                continue; // a crop that does not fit
            TransformScratch one, other;
            PixelView expected = viewOf(image);
            for (const PixelStep &step : steps)
                expected = applyStep(expected, step, one);
            const PixelPlan plan = planPixels(steps, {width, height});
            const PlannedPixels found = runPlan(plan, viewOf(image).region(plan.neededRegion()), other);
            for (const MemoryOrder order : {MemoryOrder::ChannelsFirst, MemoryOrder::ChannelsLast})
                QVERIFY(normalised(found, order) == normalised({expected}, order));
        }
    }
}

void PixelPlanTest::readsLittle()
{
    PixelStep crop;
    crop.kind = PixelStep::Kind::ResizedCrop;
    crop.x = 10;
    crop.y = 20;
    crop.width = 50;
    crop.height = 40;
    crop.size = 8;
    const std::vector<PixelStep> steps{crop};
    const PixelPlan plan = planPixels(steps, {500, 400});
    QCOMPARE(plan.neededRegion(), (PixelRegion{10, 20, 50, 40}));
    PixelStep resize, center;
    resize.kind = PixelStep::Kind::Resize;
    resize.width = 100;
    resize.height = 80;
    center.kind = PixelStep::Kind::Crop;
    center.x = 40;
    center.y = 30;
    center.width = center.height = 20;
    const std::vector<PixelStep> two{resize, center};
    const PixelPlan middle = planPixels(two, {500, 400});
    QVERIFY(middle.middle.empty());
    // 5 source pixels an output pixel, and half a filter more on each side
    QCOMPARE(middle.neededRegion(), (PixelRegion{198, 148, 105, 105}));
}

void PixelPlanTest::reduce_data()
{
    QTest::addColumn<int>("edge");
    QTest::addColumn<int>("size");
    QTest::addColumn<int>("reduce");
    QTest::newRow("smaller than four times") << 399 << 100 << 1;
    QTest::newRow("four times") << 400 << 100 << 2;
    QTest::newRow("eight times") << 800 << 100 << 4;
    QTest::newRow("sixteen times and more") << 5000 << 100 << 8;
    QTest::newRow("not resized") << 100 << 100 << 1;
}

void PixelPlanTest::reduce()
{
    QFETCH(const int, edge);
    QFETCH(const int, size);
    QFETCH(const int, reduce);
    PixelStep step;
    step.kind = PixelStep::Kind::Resize;
    step.width = step.height = size;
    const std::vector<PixelStep> steps{step};
    QCOMPARE(planPixels(steps, {edge, edge}).largestReduce(), reduce);
    QCOMPARE(planPixels(steps, {edge, 2 * edge}).largestReduce(), reduce);
    const std::vector<PixelStep> bicubic{[&] {
        PixelStep other = step;
        other.interpolation = Interpolation::Bicubic;
        return other;
    }()};
    QCOMPARE(planPixels(bicubic, {edge, edge}).largestReduce(), 1);
}

/// The fast path has no bicubic: what comes out is the exact path's, bit for bit.
void PixelPlanTest::bicubicIsAlwaysExact()
{
    const QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    writeBytes(root / "a" / "1.jpg", jpegOf(sceneOf(1203, 900)));
    writeBytes(root / "a" / "2.ppm", ppmOf(sceneOf(150, 110)));
    for (const TransformList &list : {TransformList{bicubic(Kind::Resize, 72), sized(Kind::CenterCrop, 64)},
                                      TransformList{bicubic(Kind::RandomResizedCrop, 64)}}) {
        const auto exact = epochOf(root, list, PixelPath::Exact, 2, MemoryOrder::ChannelsFirst);
        const auto fast = epochOf(root, list, PixelPath::Fast, 2, MemoryOrder::ChannelsFirst);
        TransformList bilinear = list;
        bilinear.front().interpolation = Interpolation::Bilinear;
        const auto other = epochOf(root, bilinear, PixelPath::Exact, 2, MemoryOrder::ChannelsFirst);
        TW_VERIFY(exact);
        TW_VERIFY(fast);
        TW_VERIFY(other);
        QVERIFY(*fast == *exact);
        QCOMPARE(other->size(), exact->size());
        QVERIFY(*other != *exact);
    }
}

void PixelPlanTest::fastStaysNear_data()
{
    QTest::addColumn<TransformList>("list");
    QTest::addColumn<int>("width");
    QTest::addColumn<double>("leastPsnr");
    const TransformList crop{sized(Kind::RandomResizedCrop, 64), flip(Kind::RandomHorizontalFlip)};
    const TransformList center{sized(Kind::Resize, 72), sized(Kind::CenterCrop, 64)};
    QTest::newRow("crop") << crop << 150 << 55.0;
    QTest::newRow("crop, enlarged") << crop << 50 << 55.0;
    QTest::newRow("center") << center << 150 << 55.0;
    QTest::newRow("center, decoded smaller") << center << 1203 << 53.0;
    QTest::newRow("crop, decoded smaller") << crop << 1203 << 53.0;
}

void PixelPlanTest::fastStaysNear()
{
    QFETCH(const TransformList, list);
    QFETCH(const int, width);
    QFETCH(const double, leastPsnr);
    const QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    writeBytes(root / "a" / "1.jpg", jpegOf(sceneOf(width, width * 3 / 4)));
    writeBytes(root / "a" / "2.jpg", jpegOf(sceneOf(width * 3 / 4, width), {2, 1}));
    writeBytes(root / "a" / "3.ppm", ppmOf(sceneOf(width, width)));
    for (const MemoryOrder order : {MemoryOrder::ChannelsFirst, MemoryOrder::ChannelsLast}) {
        const auto exact = epochOf(root, list, PixelPath::Exact, 2, order);
        const auto fast = epochOf(root, list, PixelPath::Fast, 2, order);
        TW_VERIFY(exact);
        TW_VERIFY(fast);
        QCOMPARE(fast->size(), exact->size());
        double sum = 0, largest = 0;
        for (std::size_t i = 0; i < exact->size(); ++i) {
            const double difference = std::abs(double((*exact)[i]) - double((*fast)[i]));
            sum += difference * difference;
            largest = std::max(largest, difference);
        }
        const double psnr = 10 * std::log10(255.0 * 255.0 / (sum / double(exact->size())));
        QVERIFY2(psnr >= leastPsnr, qPrintable(QString::number(psnr)));
        if (width < 1000)
            QVERIFY2(largest <= 1.0, qPrintable(QString::number(largest)));
    }
}

void PixelPlanTest::fastIsTheSameWithAnyWorkers()
{
    const QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    for (int i = 0; i < 12; ++i)
        writeBytes(root / "a" / (std::to_string(i) + ".jpg"), jpegOf(patternImage(300 + i, 280, unsigned(i))));
    const TransformList list{sized(Kind::RandomResizedCrop, 24), defaultOp(Kind::ColorJitter),
                             flip(Kind::RandomHorizontalFlip)};
    const auto alone = epochOf(root, list, PixelPath::Fast, 0, MemoryOrder::ChannelsFirst);
    TW_VERIFY(alone);
    for (const int workers : {1, 3}) {
        const auto found = epochOf(root, list, PixelPath::Fast, workers, MemoryOrder::ChannelsFirst);
        TW_VERIFY(found);
        QVERIFY(*found == *alone);
    }
}

QTEST_GUILESS_MAIN(PixelPlanTest)
#include "tst_pixelplan.moc"

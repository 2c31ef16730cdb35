// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/batchloader.h"
#include "core/data/datasetscan.h"
#include "core/data/jpegdecoder.h"
#include "tests/core/data/datasamples.h"
#include "tests/core/data/jpegsamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <random>

using namespace tw;
using namespace tw::test;

/// Parts of JPEG pictures: the pixels are those of the whole.
class JpegRegionTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void regions_data();
    void regions();
    void reduced_data() { regions_data(); }
    void reduced();
    void oneDecoderForMany();
    void throughTheReader_data();
    void throughTheReader();
    void cutBelowTheRegion_data();
    void cutBelowTheRegion();

private:
    static Bytes bytesOf(const QByteArray &file)
    {
        return {reinterpret_cast<const std::uint8_t *>(file.constData()), std::size_t(file.size())};
    }
};

namespace {

PixelRegion randomRegion(std::mt19937 &random, ImageSize size)
{
    const auto below = [&](int n) { return int(random() % unsigned(n)); };
    PixelRegion out;
    out.x = below(size.width);
    out.y = below(size.height);
    out.width = 1 + below(size.width - out.x);
    out.height = 1 + below(size.height - out.y);
    return out;
}

/// The corners and edges first, where interpolation and rounding differ.
std::vector<PixelRegion> manyRegions(ImageSize size)
{
    std::vector<PixelRegion> out{
        {0, 0, size.width, size.height},         {0, 0, 1, 1},
        {size.width - 1, size.height - 1, 1, 1}, {size.width - 1, 0, 1, size.height},
        {0, size.height - 1, size.width, 1},     {size.width / 2, size.height / 2, size.width - size.width / 2, 1}};
    std::mt19937 random(7);
    for (int i = 0; i < 25; ++i)
        out.push_back(randomRegion(random, size));
    return out;
}

} // namespace

void JpegRegionTest::regions_data()
{
    QTest::addColumn<JpegForm>("form");
    QTest::addColumn<int>("width");
    QTest::addColumn<int>("height");
    for (const auto &[across, down] :
         {std::pair(1, 1), std::pair(2, 1), std::pair(1, 2), std::pair(2, 2), std::pair(4, 1)})
        for (const bool progressive : {false, true})
            for (const auto &[width, height] :
                 {std::pair(131, 97), std::pair(160, 96), std::pair(7, 61), std::pair(61, 3)})
                QTest::addRow("%dx%d %s %dx%d", across, down, progressive ? "progressive" : "baseline", width, height)
                    << JpegForm{across, down, progressive} << width << height;
    QTest::newRow("gray") << JpegForm{1, 1, false, true} << 131 << 97;
    QTest::newRow("restarts") << JpegForm{2, 2, false, false, 1} << 131 << 97;
}

void JpegRegionTest::regions()
{
    QFETCH(const JpegForm, form);
    QFETCH(const int, width);
    QFETCH(const int, height);
    const QByteArray file = jpegOf(patternImage(width, height, 3), form);
    const auto whole = decodeImage(bytesOf(file), "whole", {});
    TW_VERIFY(whole);
    JpegDecoder decoder;
    ImageBuffer memory;
    for (const PixelRegion &region : manyRegions({width, height}))
        for (const bool toTheEnd : {true, false}) {
            TW_VERIFY(decoder.open(bytesOf(file), "part", {}));
            const auto part = decoder.decode({1, region, toTheEnd}, memory);
            TW_VERIFY(part);
            QVERIFY2(
                bufferOf(*part) == bufferOf(viewOf(*whole).region(region)),
                qPrintable(
                    QStringLiteral("%1,%2 %3×%4").arg(region.x).arg(region.y).arg(region.width).arg(region.height)));
        }
}

void JpegRegionTest::reduced()
{
    QFETCH(const JpegForm, form);
    QFETCH(const int, width);
    QFETCH(const int, height);
    const QByteArray file = jpegOf(patternImage(width, height, 3), form);
    JpegDecoder decoder;
    ImageBuffer memory, whole;
    for (const int reduce : {2, 4, 8}) {
        const ImageSize size = reducedSize({width, height}, reduce);
        TW_VERIFY(decoder.open(bytesOf(file), "whole", {}));
        const auto all = decoder.decode({reduce, {0, 0, size.width, size.height}, true}, whole);
        TW_VERIFY(all);
        for (const PixelRegion &region : manyRegions(size)) {
            TW_VERIFY(decoder.open(bytesOf(file), "part", {}));
            const auto part = decoder.decode({reduce, region, false}, memory);
            TW_VERIFY(part);
            QVERIFY2(bufferOf(*part) == bufferOf(all->region(region)), qPrintable(QStringLiteral("1/%1: %2,%3 %4×%5")
                                                                                      .arg(reduce)
                                                                                      .arg(region.x)
                                                                                      .arg(region.y)
                                                                                      .arg(region.width)
                                                                                      .arg(region.height)));
        }
    }
}

void JpegRegionTest::oneDecoderForMany()
{
    const QByteArray good = jpegOf(patternImage(90, 70, 1)), other = jpegOf(patternImage(40, 200, 2), {1, 1, true});
    JpegDecoder decoder;
    ImageBuffer memory;
    for (const QByteArray &file : {good, good.left(good.size() / 2), other, QByteArray("\xff\xd8\xff\xe0"), good}) {
        const auto expected = decodeImage(bytesOf(file), "one", {});
        const auto stored = decoder.open(bytesOf(file), "one", {});
        if (!stored.ok()) {
            QCOMPARE(stored.error().sentence(), expected.error().sentence());
            continue;
        }
        const auto found = decoder.decode({1, {0, 0, stored->width, stored->height}, true}, memory);
        QCOMPARE(found.ok(), expected.ok());
        if (found.ok())
            QVERIFY(bufferOf(*found) == *expected);
        else
            QCOMPARE(found.error().sentence(), expected.error().sentence());
    }
}

void JpegRegionTest::throughTheReader_data()
{
    QTest::addColumn<int>("orientation");
    for (int orientation = 1; orientation <= 8; ++orientation)
        QTest::addRow("orientation %d", orientation) << orientation;
}

void JpegRegionTest::throughTheReader()
{
    QFETCH(const int, orientation);
    const QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    writeBytes(root / "a" / "1.jpg", jpegOf(patternImage(96, 64, 5), {2, 2, false, false, 0, orientation}));
    auto scan = scanDataset(root, {});
    TW_VERIFY(scan);
    const auto reader = ImageReader::open(std::make_shared<const ImageManifest>(std::move(scan->manifest)));
    TW_VERIFY(reader);
    const auto whole = (*reader)->read(0);
    TW_VERIFY(whole);
    ReadScratch scratch;
    for (const PixelRegion &region : manyRegions({whole->width, whole->height})) {
        const auto size = (*reader)->begin(0, scratch);
        TW_VERIFY(size);
        QCOMPARE(*size, (ImageSize{whole->width, whole->height}));
        const auto part = (*reader)->pixels(0, region, 1, scratch);
        TW_VERIFY(part);
        QCOMPARE(part->reduce, 1);
        QVERIFY(bufferOf(part->view) == bufferOf(viewOf(*whole).region(region)));
        TW_VERIFY((*reader)->begin(0, scratch));
        const auto small = (*reader)->pixels(0, region, 4, scratch);
        TW_VERIFY(small);
        QCOMPARE(small->reduce, 4);
        QCOMPARE(small->view.width, (region.x + region.width + 3) / 4 - region.x / 4);
        QCOMPARE(small->view.height, (region.y + region.height + 3) / 4 - region.y / 4);
    }
}

void JpegRegionTest::cutBelowTheRegion_data()
{
    QTest::addColumn<bool>("isVerified");
    QTest::newRow("never decoded whole") << false;
    QTest::newRow("changed after it was decoded whole") << true;
}

// A crop from the upper half must not hide that the lower half is missing.
void JpegRegionTest::cutBelowTheRegion()
{
    QFETCH(const bool, isVerified);
    const QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "a" / "1.jpg";
    const QByteArray good = jpegOf(patternImage(96, 64, 5));
    writeBytes(file, isVerified ? good : good.left(good.size() * 3 / 4));
    auto scan = scanDataset(folder.path().toStdString(), {});
    TW_VERIFY(scan);
    const auto manifest = std::make_shared<const ImageManifest>(std::move(scan->manifest));
    const auto reader = ImageReader::open(manifest);
    TW_VERIFY(reader);
    ReadScratch scratch;
    if (isVerified) {
        TW_VERIFY((*reader)->view(0, scratch));
        writeBytes(file, good.left(good.size() * 3 / 4));
    }
    TW_VERIFY((*reader)->begin(0, scratch));
    const auto part = (*reader)->pixels(0, {0, 0, 96, 8}, 1, scratch);
    QVERIFY(!part.ok());
    QVERIFY2(part.error().sentence().contains(QLatin1String("cut short")), qPrintable(part.error().sentence()));
}

QTEST_GUILESS_MAIN(JpegRegionTest)
#include "tst_jpegregion.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetscan.h"
#include "core/data/imagereader.h"
#include "core/data/imagesizes.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace tw;
using namespace tw::test;
using Kind = TransformOp::Kind;

/// Whether a list's results have one size is known before an image is decoded.
class ImageSizesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void outputSizes_data();
    void outputSizes();
    void namesTheFirstTwoThatDiffer();
    void equalResultsAreFine();
    void fixedListsOpenNothing();
    void cropsMustFit();
    void oneSizeMayNotMatter();
    void headersBeyondTheFirstBytes();
    void idxPairs();
    void stopsWhenCanceled();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()) / "set"; }
    ImageManifest scanned(const fs::path &path) const;
    static SizeCheck check(int workers = 2) { return {QStringLiteral("validation"), true, workers, nullptr, {}}; }
    std::unique_ptr<QTemporaryDir> m_folder;
};

ImageManifest ImageSizesTest::scanned(const fs::path &path) const
{
    auto scan = scanDataset(path, {});
    if (!scan.ok())
        qFatal("%s", qPrintable(scan.error().toString()));
    return std::move(scan->manifest);
}

void ImageSizesTest::outputSizes_data()
{
    QTest::addColumn<int>("kinds");
    QTest::newRow("resize") << 0;
    QTest::newRow("resize, pad") << 1;
    QTest::newRow("pad, center crop") << 2;
    QTest::newRow("random crops and flips") << 3;
    QTest::newRow("nothing") << 4;
}

void ImageSizesTest::outputSizes()
{
    QFETCH(int, kinds);
    const std::vector<TransformList> lists{
        {{Kind::Resize, 7}},
        {{Kind::Resize, 9}, {Kind::Pad, 3}, {Kind::Grayscale}},
        {{Kind::Pad, 4}, {Kind::CenterCrop, 14}},
        {{Kind::RandomResizedCrop, 12}, {Kind::RandomHorizontalFlip}, {Kind::RandomCrop, 5}},
        {}};
    const TransformList &list = lists[std::size_t(kinds)];
    for (const auto &[width, height] : {std::pair(13, 10), std::pair(10, 13), std::pair(40, 7)}) {
        SampleRandom random(1, RandomPurpose::Augment, 1, 1);
        const auto image = applyTransforms(patternImage(width, height, 1), list, random, "x");
        TW_VERIFY(image);
        const auto size = outputSize(list, width, height, "x");
        TW_VERIFY(size);
        QCOMPARE(*size, std::pair(image->width, image->height));
    }
}

void ImageSizesTest::namesTheFirstTwoThatDiffer()
{
    writeClassFolders(root(), 12, 8, 10);
    writeBytes(root() / "b" / "4.ppm", ppmOf(patternImage(9, 10, 1)));
    writeBytes(root() / "c" / "8.ppm", ppmOf(patternImage(8, 11, 1)));
    for (const int workers : {1, 4}) {
        const auto outcome = checkImageSizes(scanned(root()), {}, check(workers));
        QVERIFY(!outcome.ok());
        QCOMPARE(outcome.error().name, QLatin1String(errors::InvalidDataset));
        const QString sentence = outcome.error().sentence();
        for (const char *part : {"validation", "a/0.ppm\" with 8 × 10", "b/4.ppm\" with 9 × 10"})
            QVERIFY2(sentence.contains(QString::fromUtf8(part)), qPrintable(sentence));
        QVERIFY(!outcome.error().hint.isEmpty());
    }
}

void ImageSizesTest::equalResultsAreFine()
{
    writeBytes(root() / "a" / "1.ppm", ppmOf(patternImage(8, 16, 1)));
    writeBytes(root() / "a" / "2.ppm", ppmOf(patternImage(20, 40, 2)));
    writeBytes(root() / "b" / "3.ppm", "no picture: the loader names it");
    TW_VERIFY(checkImageSizes(scanned(root()), {{Kind::Resize, 8}}, check()));
    QVERIFY(!checkImageSizes(scanned(root()), {}, check()).ok());
}

void ImageSizesTest::fixedListsOpenNothing()
{
    ImageManifest manifest;
    manifest.root = "/no/such/folder";
    manifest.categories = {"a"};
    manifest.add("a/1.png", 0, 1, 1);
    int asked = 0;
    SizeCheck counted = check();
    counted.progress = [&](std::int64_t, std::int64_t) { ++asked; };
    TW_VERIFY(checkImageSizes(manifest, {{Kind::Resize, 9}, {Kind::CenterCrop, 8}}, counted));
    TW_VERIFY(checkImageSizes(manifest, {{Kind::RandomResizedCrop, 8}}, counted));
    QCOMPARE(asked, 0);
    TW_VERIFY(checkImageSizes(manifest, {{Kind::Resize, 9}}, counted));
    QCOMPARE(asked, 1);
}

void ImageSizesTest::cropsMustFit()
{
    writeClassFolders(root(), 6, 12, 12);
    writeBytes(root() / "c" / "5.ppm", ppmOf(patternImage(12, 7, 1)));
    TW_VERIFY(checkImageSizes(scanned(root()), {{Kind::CenterCrop, 7}}, check()));
    const auto outcome = checkImageSizes(scanned(root()), {{Kind::CenterCrop, 8}}, check());
    QVERIFY(!outcome.ok());
    QCOMPARE(outcome.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(outcome.error().sentence().contains(QStringLiteral("c/5.ppm\" of 12 × 7")),
             qPrintable(outcome.error().sentence()));
}

void ImageSizesTest::oneSizeMayNotMatter()
{
    writeBytes(root() / "a" / "1.ppm", ppmOf(patternImage(8, 16, 1)));
    writeBytes(root() / "b" / "2.ppm", ppmOf(patternImage(9, 16, 1)));
    SizeCheck any = check();
    any.oneSize = false;
    TW_VERIFY(checkImageSizes(scanned(root()), {}, any));
    QVERIFY(!checkImageSizes(scanned(root()), {{Kind::CenterCrop, 9}}, any).ok());
}

void ImageSizesTest::headersBeyondTheFirstBytes()
{
    // A comment longer than what is read at first, then the size.
    const QByteArray start = "P6\n#" + QByteArray(100 << 10, 'x') + '\n';
    const QByteArray plain = ppmOf(patternImage(6, 4, 1));
    writeBytes(root() / "long.ppm", start + plain.mid(3));
    std::vector<std::uint8_t> bytes;
    const auto header = readPictureHeader((root() / "long.ppm").native(), bytes);
    TW_VERIFY(header);
    QCOMPARE(std::pair(header->width, header->height), std::pair(6, 4));
    // Of a large file only the start is read.
    writeBytes(root() / "large.ppm", ppmOf(patternImage(400, 300, 1)));
    TW_VERIFY(readPictureHeader((root() / "large.ppm").native(), bytes));
    QVERIFY(bytes.size() < (400 * 300 * 3) / 2);
    const auto missing = readPictureHeader((root() / "none.ppm").native(), bytes);
    QCOMPARE(missing.error().name, QLatin1String(errors::InvalidImage));
}

void ImageSizesTest::idxPairs()
{
    const ImageManifest manifest = scanned(writeIdxPair(root(), 6, 9, 8));
    TW_VERIFY(checkImageSizes(manifest, {}, check()));
    TW_VERIFY(checkImageSizes(manifest, {{Kind::CenterCrop, 8}}, check()));
    const auto outcome = checkImageSizes(manifest, {{Kind::CenterCrop, 9}}, check());
    QVERIFY(!outcome.ok());
    QVERIFY2(outcome.error().sentence().contains(QStringLiteral("8 × 9")), qPrintable(outcome.error().sentence()));
}

void ImageSizesTest::stopsWhenCanceled()
{
    writeClassFolders(root(), 6, 8, 8);
    StopToken stop;
    stop.cancel = true;
    SizeCheck canceled = check();
    canceled.stop = &stop;
    const auto outcome = checkImageSizes(scanned(root()), {}, canceled);
    QVERIFY(!outcome.ok());
    QCOMPARE(outcome.error().name, QLatin1String(errors::Canceled));
}

QTEST_GUILESS_MAIN(ImageSizesTest)
#include "tst_imagesizes.moc"

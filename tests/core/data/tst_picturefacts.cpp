// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/data/batchloader.h"
#include "core/data/datasetreport.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

#include <chrono>
#include <cmath>
#include <fstream>

using namespace tw;
using namespace tw::test;

namespace {

struct Golden
{
    std::array<int, 4> shape;
    std::uint64_t code, check;
    bool known;
};
const Golden goldens[] = {
#include "tests/data/hash_goldens.inc"
};

ImageBuffer enlarged(const ImageBuffer &image, int width, int height)
{
    ImageBuffer out{width, height, std::vector<std::uint8_t>(std::size_t(width) * std::size_t(height) * 3)};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            std::copy_n(image.row((2 * y + 1) * image.height / (2 * height))
                            + (2 * x + 1) * image.width / (2 * width) * 3,
                        3, out.row(y) + x * 3);
    return out;
}

PictureFacts measured(const ImageBuffer &image)
{
    return PictureMeasurer().measure(viewOf(image), ImageFormat::Png);
}

} // namespace

class PictureFactsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void hashes_data();
    void hashes();
    void sumsAreExact_data();
    void sumsAreExact();
    void grayCountsForAll();
    void turnedIsAnother();
    void recordIsGolden();
    void fileRoundTrip();
    void badFiles_data();
    void badFiles();
    void manifestCarriesThem();
    void rememberedWithTheKey();
    void headersGiveSizes();
    void idxPictures();
    void meanIsThatOfNormalization();

private:
    fs::path root() const { return m_folder->path().toStdString(); }
    ScanResult verified(VerifyMode mode = VerifyMode::Full)
    {
        auto scan = scanDataset(root() / "set", {});
        if (!scan.ok() || !verifyImages(*scan, mode, true, 2, nullptr, {}, root() / "files.db").ok())
            qFatal("the sample cannot be read");
        return std::move(*scan);
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void PictureFactsTest::hashes_data()
{
    QTest::addColumn<int>("place");
    for (int i = 0; i < int(std::size(goldens)); ++i)
        QTest::addRow("%d × %d", goldens[i].shape[2], goldens[i].shape[3]) << i;
}

void PictureFactsTest::hashes()
{
    QFETCH(int, place);
    const Golden &golden = goldens[place];
    const ImageBuffer image =
        enlarged(patternImage(golden.shape[0], golden.shape[1], 7), golden.shape[2], golden.shape[3]);
    const PerceptualHash hash = measured(image).hash;
    QCOMPARE(hash.known, golden.known);
    QCOMPARE(hash.code, golden.code);
    QCOMPARE(hash.check, golden.check);
}

void PictureFactsTest::sumsAreExact_data()
{
    QTest::addColumn<int>("width");
    QTest::addColumn<int>("height");
    for (const auto &[width, height] : {std::pair(1, 1), {1, 300}, {400, 1}, {33, 31}, {17, 9001}, {640, 480}})
        QTest::addRow("%d × %d", width, height) << width << height;
}

void PictureFactsTest::sumsAreExact()
{
    QFETCH(int, width);
    QFETCH(int, height);
    ImageBuffer image = patternImage(width, height, 3);
    std::fill(image.pixels.begin() + std::ptrdiff_t(image.pixels.size() / 2), image.pixels.end(), std::uint8_t(255));
    const PictureFacts facts = measured(image);
    PictureFacts expected = facts;
    expected.sums = expected.squares = {};
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
        expected.sums[i % 3] += image.pixels[i];
        expected.squares[i % 3] += std::uint64_t(image.pixels[i]) * image.pixels[i];
    }
    QVERIFY(facts.sums == expected.sums);
    QVERIFY(facts.squares == expected.squares);
    QCOMPARE(int(facts.width), width);
    QCOMPARE(int(facts.height), height);
    QVERIFY(facts.hasPixels && facts.format == ImageFormat::Png);
}

void PictureFactsTest::grayCountsForAll()
{
    ImageBuffer image = enlarged(patternImage(9, 7, 5), 90, 70);
    std::vector<std::uint8_t> gray;
    for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
        image.pixels[i + 1] = image.pixels[i + 2] = image.pixels[i];
        gray.push_back(image.pixels[i]);
    }
    const PictureFacts one = PictureMeasurer().measure({gray.data(), 90, 70, 1, 90}, ImageFormat::Png);
    QVERIFY(one == measured(image));
    QVERIFY(one.hash.known);
}

void PictureFactsTest::turnedIsAnother()
{
    ImageBuffer image = enlarged(patternImage(9, 9, 5), 90, 90);
    const PictureFacts upright = measured(image);
    std::reverse(image.pixels.begin(), image.pixels.end());
    QVERIFY(std::popcount(upright.hash.code ^ measured(image).hash.code) > 16);
}

void PictureFactsTest::recordIsGolden()
{
    PictureFacts facts;
    facts.width = 0x01020304;
    facts.height = 5;
    facts.format = ImageFormat::WebP;
    facts.hasPixels = facts.hash.known = true;
    facts.sums = {1, 2, 3};
    facts.squares = {4, 5, 0x0102030405060708};
    facts.hash.code = 0xfedcba9876543210;
    facts.hash.check = 9;
    const std::string bytes = packedFacts(facts);
    QCOMPARE(QByteArray::fromStdString(bytes).toHex(), QByteArray("040302010500000063"
                                                                  "010000000000000002000000000000000300000000000000"
                                                                  "040000000000000005000000000000000807060504030201"
                                                                  "1032547698badcfe0900000000000000"));
    QVERIFY(unpackedFacts(bytes) == facts);
    QVERIFY(unpackedFacts(bytes.substr(1)) == PictureFacts());
}

void PictureFactsTest::fileRoundTrip()
{
    std::vector<PictureFacts> facts;
    for (unsigned i = 0; i < 5; ++i)
        facts.push_back(measured(enlarged(patternImage(8, 8, i), 40, 40 + int(i))));
    facts.push_back({});
    TW_VERIFY(writePictureFacts(root(), facts));
    const auto file = readFile(root() / "picture_facts.bin", errors::InvalidDataset);
    QCOMPARE(file->left(24).toHex(), QByteArray("5457504943464143"
                                                "0100000049000000"
                                                "0600000000000000"));
    const auto back = readPictureFacts(root(), 6);
    TW_VERIFY(back);
    QVERIFY(**back == facts);
    QVERIFY(!*readPictureFacts(root() / "nowhere", 6));
}

void PictureFactsTest::badFiles_data()
{
    QTest::addColumn<int>("place");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("said");
    QTest::newRow("another file") << 0 << QByteArray("X") << "no table";
    QTest::newRow("newer") << 8 << QByteArray("\2") << "version is 2";
    QTest::newRow("other records") << 12 << QByteArray("\1") << "for 2 images";
    QTest::newRow("other count") << 16 << QByteArray("\3") << "3 records";
    QTest::newRow("cut") << -1 << QByteArray() << "for 2 images";
}

void PictureFactsTest::badFiles()
{
    QFETCH(int, place);
    QFETCH(QByteArray, bytes);
    QFETCH(QString, said);
    TW_VERIFY(writePictureFacts(root(), std::vector<PictureFacts>(2)));
    QByteArray file = *readFile(root() / "picture_facts.bin", errors::InvalidDataset);
    file = place < 0 ? file.chopped(1) : file.replace(place, bytes.size(), bytes);
    writeBytes(root() / "picture_facts.bin", file);
    const auto read = readPictureFacts(root(), 2);
    QVERIFY(!read.ok());
    QCOMPARE(read.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(read.error().sentence().contains(said), qPrintable(read.error().sentence()));
}

void PictureFactsTest::manifestCarriesThem()
{
    writeClassFolders(root() / "set", 6, 20, 12);
    const ScanResult scan = verified();
    QCOMPARE(scan.manifest.facts->size(), std::size_t(6));
    const ImageManifest half = scan.manifest.subset({4, 1});
    QVERIFY((*half.facts)[0] == (*scan.manifest.facts)[4] && (*half.facts)[1] == (*scan.manifest.facts)[1]);
    TW_VERIFY(half.write(root() / "out"));
    const auto read = ImageManifest::read(root() / "out");
    TW_VERIFY(read);
    QVERIFY(*read->facts == *half.facts);
    fs::remove(root() / "out" / "picture_facts.bin");
    QVERIFY(!ImageManifest::read(root() / "out")->facts);
}

void PictureFactsTest::rememberedWithTheKey()
{
    writeClassFolders(root() / "set", 3, 20, 12);
    const fs::path file = root() / "set" / "a" / "0.ppm";
    const auto before = fs::file_time_type::clock::now() - std::chrono::hours(1);
    fs::last_write_time(file, before);
    const ScanResult first = verified();
    std::fstream(file, std::ios::in | std::ios::out).write("broken", 6); // it would be seen if it were decoded
    fs::last_write_time(file, before);
    const ScanResult second = verified();
    QCOMPARE(second.manifest.size(), std::size_t(3));
    QVERIFY((*second.manifest.facts)[0] == (*first.manifest.facts)[0]);
    QVERIFY((*second.manifest.facts)[0].hasPixels);
}

void PictureFactsTest::headersGiveSizes()
{
    writeClassFolders(root() / "set", 3, 20, 12);
    const ScanResult scan = verified(VerifyMode::Header);
    const PictureFacts &one = (*scan.manifest.facts)[1];
    QVERIFY(one.width == 20 && one.height == 12 && one.format == ImageFormat::Pnm && !one.hasPixels);
    const DatasetStatistics statistics = statisticsOf(scan.manifest);
    QCOMPARE(statistics.measured, 3);
    QVERIFY(!statistics.mean);
}

void PictureFactsTest::idxPictures()
{
    const fs::path images = writeIdxPair(root(), 7, 28, 28);
    auto scan = scanDataset(images, {});
    TW_VERIFY(verifyImages(*scan, VerifyMode::Full, true, 2, nullptr, {}));
    QCOMPARE((*scan->manifest.facts)[6].width, 28U);
    QCOMPARE(scan->manifest.key(6).size(), ImageManifest::KeyBytes);
    const auto report = DatasetReport::of(std::make_shared<const ImageManifest>(scan->manifest));
    QCOMPARE(report->parts()[0].statistics.formats[0].first, QStringLiteral("IDX"));
}

void PictureFactsTest::meanIsThatOfNormalization()
{
    writeClassFolders(root() / "set", 7, 21, 13);
    const auto manifest = std::make_shared<const ImageManifest>(verified().manifest);
    const DatasetStatistics statistics = statisticsOf(*manifest);
    const auto expected = datasetNormalization(manifest, {}, 2, nullptr);
    TW_VERIFY(expected);
    for (std::size_t c = 0; c < 3; ++c) {
        QCOMPARE(float((*statistics.mean)[c]), expected->mean[c]);
        QCOMPARE(float((*statistics.deviation)[c]), expected->std[c]);
    }
}

QTEST_GUILESS_MAIN(PictureFactsTest)
#include "tst_picturefacts.moc"

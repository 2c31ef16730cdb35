// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/data/decode.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <cmath>
#include <fstream>

using namespace tw;
using namespace tw::test;

namespace {

std::vector<std::uint8_t> bytesOf(const QByteArray &bytes)
{
    return {bytes.begin(), bytes.end()};
}

std::vector<std::uint8_t> fileBytes(const fs::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

Result<ImageBuffer> decodeText(const QByteArray &bytes)
{
    return decodeImage(bytesOf(bytes), "pictures/one.img");
}

std::array<double, 3> meanOf(const ImageBuffer &image)
{
    std::array<double, 3> sums{};
    for (std::size_t i = 0; i < image.pixels.size(); ++i)
        sums[i % 3] += image.pixels[i];
    for (double &sum : sums)
        sum /= double(image.width) * image.height;
    return sums;
}

QString differenceFrom(const ImageBuffer &image, const QJsonObject &expect, double tolMean, double tolProbe)
{
    const QJsonArray size = expect[QStringLiteral("size")].toArray();
    if (image.width != size[0].toInt() || image.height != size[1].toInt())
        return QStringLiteral("size %1×%2").arg(image.width).arg(image.height);
    const QJsonArray mean = expect[QStringLiteral("mean_rgb")].toArray();
    const std::array<double, 3> found = meanOf(image);
    for (int c = 0; c < 3; ++c)
        if (std::abs(found[std::size_t(c)] - mean[c].toDouble()) > tolMean)
            return QStringLiteral("mean %1 %2 %3").arg(found[0]).arg(found[1]).arg(found[2]);
    for (const QJsonValue &value : expect[QStringLiteral("probe")].toArray()) {
        const QJsonArray probe = value.toArray(), rgb = probe[2].toArray();
        const std::uint8_t *pixel = image.row(probe[1].toInt()) + probe[0].toInt() * 3;
        for (int c = 0; c < 3; ++c)
            if (std::abs(pixel[c] - rgb[c].toDouble()) > tolProbe)
                return QStringLiteral("probe at %1,%2: %3 %4 %5")
                    .arg(probe[0].toInt())
                    .arg(probe[1].toInt())
                    .arg(pixel[0])
                    .arg(pixel[1])
                    .arg(pixel[2]);
    }
    return {};
}

} // namespace

class DecodeTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void sharedCases_data();
    void sharedCases();
    void endpointBodies_data();
    void endpointBodies();
    void pnmForms_data();
    void pnmForms();
    void bmpForms_data();
    void bmpForms();
    void refuses_data();
    void refuses();
    void pixelLimit();
    void cutAnywhereIsAnError();
    void headerEqualsDecoded();
};

void DecodeTest::sharedCases_data()
{
    const auto folder = casesFolder();
    if (!folder)
        QSKIP("not found: the shared cases");
    QTest::addColumn<QJsonObject>("item");
    const auto text = readFile(*folder / "expected.json", errors::InvalidDataset);
    TW_VERIFY(text);
    for (const QJsonValue &value : QJsonDocument::fromJson(*text).object()[QStringLiteral("cases")].toArray())
        if (value[QStringLiteral("kind")].toString() == QLatin1String("decode"))
            QTest::newRow(qPrintable(value[QStringLiteral("id")].toString())) << value.toObject();
}

void DecodeTest::sharedCases()
{
    QFETCH(const QJsonObject, item);
    const fs::path file = *casesFolder() / item[QStringLiteral("path")].toString().toStdString();
    if (!fs::exists(file) && item.contains(QStringLiteral("requires")))
        QSKIP("not found: a file that not every file system can hold");
    const std::vector<std::uint8_t> bytes = fileBytes(file);
    const QJsonObject expect = item[QStringLiteral("expect")].toObject();
    const QString outcome = expect[QStringLiteral("outcome")].toString();
    const auto image = decodeImage(bytes, file.native());
    if (!image.ok()) {
        QCOMPARE(image.error().name, QLatin1String(errors::InvalidImage));
        QVERIFY(image.error().sentence().contains(displayPath(file)));
        QVERIFY2(outcome != QLatin1String("accept"), qPrintable(image.error().sentence()));
        return;
    }
    QVERIFY2(outcome != QLatin1String("reject"), "decoded what must be refused");
    const QJsonObject pixels =
        outcome == QLatin1String("accept") ? expect : expect[QStringLiteral("if_accepted")].toObject();
    if (pixels.isEmpty())
        return;
    const QString difference = differenceFrom(*image, pixels, expect[QStringLiteral("tol_mean")].toDouble(1),
                                              expect[QStringLiteral("tol_probe")].toDouble(6));
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
}

void DecodeTest::endpointBodies_data()
{
    const auto folder = casesFolder();
    if (!folder)
        QSKIP("not found: the shared cases");
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("status");
    const auto text = readFile(*folder / "expected.json", errors::InvalidDataset);
    TW_VERIFY(text);
    for (const QJsonValue &value : QJsonDocument::fromJson(*text).object()[QStringLiteral("cases")].toArray()) {
        const QString file = value[QStringLiteral("path")].toString();
        if (value[QStringLiteral("kind")].toString() == QLatin1String("endpoint") && file.endsWith(u".bin"))
            QTest::newRow(qPrintable(value[QStringLiteral("id")].toString()))
                << file << value[QStringLiteral("expect")][QStringLiteral("status")].toString();
    }
}

// What a request's body holds, given to the decoder as it is: a bare picture is read, and a form,
// JSON, nothing, a cut picture or a bomb has a named reason.
void DecodeTest::endpointBodies()
{
    QFETCH(const QString, file);
    QFETCH(const QString, status);
    const std::vector<std::uint8_t> bytes = fileBytes(*casesFolder() / file.toStdString());
    const auto image = decodeImage(bytes, "body");
    const bool isBare = detectFormat(bytes) != ImageFormat::Unknown;
    QCOMPARE(image.ok(), isBare && status == QLatin1String("2xx"));
    if (image.ok())
        return;
    QCOMPARE(image.error().name, QLatin1String(errors::InvalidImage));
    QVERIFY(!image.error().hint.isEmpty());
}

void DecodeTest::pnmForms_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("first"); // channel values in hex
    QTest::newRow("plain bitmap") << QByteArray("P1\n# c\n3 1\n101") << QByteArray("000000ffffff000000");
    QTest::newRow("plain gray") << QByteArray("P2 3 1 100\n0 50 # half\n100") << QByteArray("000000808080ffffff");
    QTest::newRow("plain rgb") << QByteArray("P3 1 1 5 0 1 5") << QByteArray("0033ff");
    QTest::newRow("bitmap") << QByteArray("P4 10 1\n\xaa\x40")
                            << QByteArray("000000ffffff").repeated(4) + "ffffff000000";
    QTest::newRow("gray") << QByteArray("P5 2 1 255\n\x01\xff", 13) << QByteArray("010101ffffff");
    QTest::newRow("gray of maximum 3") << QByteArray("P5 2 1 3\n\x01\x03", 11) << QByteArray("555555ffffff");
    QTest::newRow("16 bit") << QByteArray("P5 2 1 65535\n\x80\x00\xff\xff", 17) << QByteArray("808080ffffff");
    QTest::newRow("12 bit") << QByteArray("P6 1 1 4095\n\x0f\xff\x00\x00\x08\x00", 18) << QByteArray("ff0080");
}

void DecodeTest::pnmForms()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const QByteArray, first);
    const auto image = decodeText(bytes);
    TW_VERIFY(image);
    const QByteArray found(reinterpret_cast<const char *>(image->pixels.data()), qsizetype(image->pixels.size()));
    QCOMPARE(found.toHex(), first);
}

// A 40-byte header of 2 × 1 pixels, `masks` in hex, then one row.
static QByteArray bmp(int bits, int compression, const char *masks, const char *row, int height = 1)
{
    const QByteArray maskBytes = QByteArray::fromHex(masks), rowBytes = QByteArray::fromHex(row);
    const auto number = [](qsizetype value, int count) {
        QByteArray out;
        for (int i = 0; i < count; ++i)
            out.append(char(value >> (8 * i)));
        return out;
    };
    const qsizetype pixelsAt = 54 + maskBytes.size();
    return "BM" + number(pixelsAt + rowBytes.size(), 4) + number(0, 4) + number(pixelsAt, 4) + number(40, 4)
           + number(2, 4) + number(height, 4) + number(1, 2) + number(bits, 2) + number(compression, 4)
           + number(rowBytes.size(), 4) + number(2835, 4) + number(2835, 4)
           + number(bits <= 8 ? maskBytes.size() / 4 : 0, 4) + number(0, 4) + maskBytes + rowBytes;
}

void DecodeTest::bmpForms_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("pixels");
    QTest::newRow("24 bit") << bmp(24, 0, "", "0102030405060000") << QByteArray("030201060504");
    QTest::newRow("555") << bmp(16, 0, "", "007c1f00") << QByteArray("ff00000000ff");
    QTest::newRow("565") << bmp(16, 3, "00f80000e00700001f000000", "e0070a84") << QByteArray("00ff00838152");
    QTest::newRow("BGRX") << bmp(32, 0, "", "0102030080ff0000") << QByteArray("03020100ff80");
    QTest::newRow("RGBX by masks") << bmp(32, 3, "000000ff0000ff0000ff0000", "0001020300102030")
                                   << QByteArray("030201302010");
    QTest::newRow("10 bits a level") << bmp(32, 3, "0000f03f00fc0f00ff030000", "ffffff3f00000000")
                                     << QByteArray("ffffff000000");
    QTest::newRow("palette") << bmp(8, 0, "0102030004050600", "01000000") << QByteArray("060504030201");
    QTest::newRow("rows from the top") << bmp(32, 0, "", "01000000010000000200000002000000", -2)
                                       << QByteArray("000001000001000002000002");
    QTest::newRow("rows from below") << bmp(32, 0, "", "01000000010000000200000002000000", 2)
                                     << QByteArray("000002000002000001000001");
}

void DecodeTest::bmpForms()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const QByteArray, pixels);
    const auto image = decodeText(bytes);
    TW_VERIFY(image);
    const QByteArray found(reinterpret_cast<const char *>(image->pixels.data()), qsizetype(image->pixels.size()));
    QCOMPARE(found.toHex(), pixels);
    QVERIFY(!decodeText(bytes.chopped(1)).ok());
}

void DecodeTest::refuses_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("reason");
    QTest::newRow("empty") << QByteArray() << QStringLiteral("empty");
    QTest::newRow("text") << QByteArray("just a note") << QStringLiteral("text");
    QTest::newRow("html") << QByteArray("\n <!DOCTYPE html><html>") << QStringLiteral("web page");
    QTest::newRow("heic") << QByteArray("\0\0\0\x18"
                                        "ftypheic\0\0\0\0",
                                        16)
                          << QStringLiteral("HEIC");
    QTest::newRow("pdf") << QByteArray("%PDF-1.4\n\x80\x80") << QStringLiteral("PDF");
    QTest::newRow("tiff") << QByteArray("II*\0\x08\0\0\0", 8) << QStringLiteral("cut short");
    QTest::newRow("webp") << QByteArray("RIFF\x10\0\0\0WEBPVP8 ", 16) << QStringLiteral("cut short");
    QTest::newRow("gif") << QByteArray("GIF89a\1\0\1\0") << QStringLiteral("cut short");
    QTest::newRow("jpeg start only") << QByteArray("\xff\xd8\xff\xe0") << QStringLiteral("cut short");
    QTest::newRow("png start only") << QByteArray("\x89PNG\r\n\x1a\n") << QStringLiteral("cut short");
    QTest::newRow("pnm short") << QByteArray("P5 4 4 255\n123") << QStringLiteral("cut short");
    QTest::newRow("pnm of size 0") << QByteArray("P5 0 4 255\n123") << QStringLiteral("size of 0");
    QTest::newRow("pnm of maximum 0") << QByteArray("P5 1 1 0\n1") << QStringLiteral("maximum");
    QTest::newRow("pnm with letters") << QByteArray("P2 2 2 9 1 2 x 4") << QStringLiteral("else than numbers");
    QTest::newRow("pnm bomb") << QByteArray("P5 13000 13000 255\n1") << QStringLiteral("cut short");
    QTest::newRow("bmp start only") << QByteArray("BM") + QByteArray(30, '\0') << QStringLiteral("size of 0");
}

void DecodeTest::refuses()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const QString, reason);
    const auto image = decodeText(bytes);
    QVERIFY(!image.ok());
    QCOMPARE(image.error().name, QLatin1String(errors::InvalidImage));
    QVERIFY2(image.error().sentence().contains(reason), qPrintable(image.error().sentence()));
    QVERIFY(image.error().sentence().contains(QStringLiteral("pictures/one.img")));
}

void DecodeTest::pixelLimit()
{
    const auto bytes = bytesOf(ppmOf(patternImage(10, 10, 1)));
    QVERIFY(!decodeImage(bytes, "a", DecodeOptions{99}).ok());
    TW_VERIFY(decodeImage(bytes, "a", DecodeOptions{100}));
    TW_VERIFY(decodeImage(bytes, "a", DecodeOptions{0}));
}

// Every beginning of a sound picture is refused, and none of them crashes.
void DecodeTest::cutAnywhereIsAnError()
{
    const auto folder = casesFolder();
    if (!folder)
        QSKIP("not found: the shared cases");
    for (const char *name : {"decode/exif1.jpg", "decode/cmyk.jpg", "decode/gray16.png", "decode/palette.png",
                             "decode/bmp32.bmp", "decode/max100.pgm", "b/decode/max200.ppm", "decode/rgba.tif",
                             "decode/cmyk.tif", "decode/lossy.webp", "b/decode/rgba.webp"}) {
        const std::vector<std::uint8_t> whole = fileBytes(*folder / name);
        QVERIFY2(!whole.empty(), name);
        for (std::size_t count = 0; count < whole.size(); count += 1 + whole.size() / 150) {
            const auto image = decodeImage(std::span(whole).first(count), name);
            QVERIFY2(
                !image.ok(),
                qPrintable(QStringLiteral("%1 cut to %2 of %3").arg(QLatin1String(name)).arg(count).arg(whole.size())));
        }
    }
}

void DecodeTest::headerEqualsDecoded()
{
    const auto folder = casesFolder();
    if (!folder)
        QSKIP("not found: the shared cases");
    int checked = 0;
    for (const char *part : {"decode", "b/decode"})
        for (const auto &entry : fs::directory_iterator(*folder / part)) {
            if (!entry.is_regular_file())
                continue;
            const std::vector<std::uint8_t> bytes = fileBytes(entry.path());
            const auto image = decodeImage(bytes, "x");
            if (!image.ok())
                continue;
            const auto header = readImageHeader(bytes, "x");
            TW_VERIFY(header);
            QCOMPARE(header->width, image->width);
            QCOMPARE(header->height, image->height);
            ++checked;
        }
    QVERIFY(checked > 60);
}

QTEST_GUILESS_MAIN(DecodeTest)
#include "tst_decode.moc"

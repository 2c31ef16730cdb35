// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/decode.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QtTest>

#include <random>

using namespace tw;
using namespace tw::test;

namespace {

struct PictureSample
{
    const char *name;
    int width, height, tolerance; // the largest difference of a level that is right
    const char *file, *pixels;    // of qCompress, in base64
};

constexpr PictureSample Samples[] = {
#include "tests/data/picture_samples.inc"
};

using Data = std::vector<std::uint8_t>;

Data unpacked(const char *text)
{
    const QByteArray bytes = qUncompress(QByteArray::fromBase64(text));
    return {bytes.begin(), bytes.end()};
}

const PictureSample &sampleNamed(const QByteArray &name)
{
    return *std::find_if(std::begin(Samples), std::end(Samples),
                         [&](const PictureSample &sample) { return name == sample.name; });
}

Data fileOf(const char *name)
{
    return unpacked(sampleNamed(name).file);
}

int largestDifference(const Data &a, const Data &b)
{
    int largest = a.size() == b.size() ? 0 : 999;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        largest = std::max(largest, std::abs(int(a[i]) - int(b[i])));
    return largest;
}

QString reasonOf(std::span<const std::uint8_t> bytes)
{
    const auto image = decodeImage(bytes, "pictures/one.img");
    if (image.ok())
        return {};
    const bool isNamed = image.error().name == QLatin1String(errors::InvalidImage)
                         && image.error().sentence().contains(QStringLiteral("pictures/one.img"))
                         && !image.error().hint.isEmpty();
    return isNamed ? image.error().sentence() : QStringLiteral("not named: ") + image.error().sentence();
}

/// The little-endian TIFF `file` with the 16- or 32-bit value of `tag` replaced, or with another tag in its place.
Data withTag(Data file, unsigned tag, std::uint32_t value, unsigned instead = 0)
{
    const auto number = [&](std::size_t at, std::size_t count) {
        std::uint32_t out = 0;
        for (std::size_t i = count; i-- > 0;)
            out = out << 8 | file[at + i];
        return out;
    };
    const std::size_t directory = number(4, 4);
    for (std::uint32_t i = 0; i < number(directory, 2); ++i) {
        const std::size_t entry = directory + 2 + std::size_t(i) * 12;
        if (number(entry, 2) != tag)
            continue;
        const unsigned name = instead ? instead : tag;
        file[entry] = std::uint8_t(name);
        file[entry + 1] = std::uint8_t(name >> 8);
        file[entry + 2] = 4; // LONG, one of it
        file[entry + 3] = 0;
        for (std::size_t b = 0; b < 4; ++b) {
            file[entry + 4 + b] = b == 0;
            file[entry + 8 + b] = std::uint8_t(value >> (8 * b));
        }
    }
    return file;
}

} // namespace

class PictureFormatsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void samples_data();
    void samples();
    void cutAnywhere_data();
    void cutAnywhere();
    void mutated_data();
    void mutated();
    void refuses_data();
    void refuses();
    void guesses_data();
    void guesses();
    void pixelLimit();
};

void PictureFormatsTest::samples_data()
{
    QTest::addColumn<int>("index");
    for (int i = 0; i < int(std::size(Samples)); ++i)
        QTest::newRow(Samples[i].name) << i;
}

void PictureFormatsTest::samples()
{
    QFETCH(const int, index);
    const PictureSample &sample = Samples[index];
    const Data file = unpacked(sample.file);
    const auto image = decodeImage(file, "x");
    TW_VERIFY(image);
    QCOMPARE(image->width, sample.width);
    QCOMPARE(image->height, sample.height);
    const int difference = largestDifference({image->pixels.begin(), image->pixels.end()}, unpacked(sample.pixels));
    QVERIFY2(difference <= sample.tolerance, qPrintable(QString::number(difference)));
    const auto header = readImageHeader(file, "x");
    TW_VERIFY(header);
    QCOMPARE(header->width, sample.width);
    QCOMPARE(header->height, sample.height);
}

void PictureFormatsTest::cutAnywhere_data()
{
    samples_data();
}

// A beginning is refused with the reason or, where only what follows the first frame is gone, gives
// the whole picture.
void PictureFormatsTest::cutAnywhere()
{
    QFETCH(const int, index);
    const PictureSample &sample = Samples[index];
    const Data file = unpacked(sample.file), whole = unpacked(sample.pixels);
    for (std::size_t count = 0; count < file.size(); count += 1 + file.size() / 60) {
        const std::span<const std::uint8_t> start = std::span(file).first(count);
        const auto image = decodeImage(start, "x");
        const QByteArray place = QByteArray::number(qulonglong(count)) + " of " + QByteArray::number(file.size());
        if (image.ok()) {
            QVERIFY2(count * 4 > file.size(), place.constData());
            QVERIFY2(largestDifference({image->pixels.begin(), image->pixels.end()}, whole) <= sample.tolerance,
                     place.constData());
        } else if (count > 0) {
            const QString reason = reasonOf(start);
            QVERIFY2(reason.contains(QStringLiteral("cut short")) || count < 12, qPrintable(place + ": " + reason));
        }
    }
}

void PictureFormatsTest::mutated_data()
{
    samples_data();
}

// Damaged bytes end in a picture within the limits or in a named reason; also for the header alone.
void PictureFormatsTest::mutated()
{
    QFETCH(const int, index);
    const Data file = unpacked(Samples[index].file);
    constexpr std::int64_t Limit = 200'000;
    std::mt19937 random(std::uint32_t(index) + 1);
    for (int round = 0; round < 60; ++round) {
        Data bytes = file;
        const std::uint32_t changes = 1 + random() % 4;
        // the header says most, and lies best
        const std::size_t span = round % 2 ? bytes.size() : std::min<std::size_t>(bytes.size(), 64);
        const bool fromEnd = round % 4 == 0 && index % 2;
        for (std::uint32_t i = 0; i < changes; ++i) {
            std::size_t at = random() % span;
            at = fromEnd ? bytes.size() - 1 - at : at;
            bytes[at] = random() % 3 ? std::uint8_t(random()) : std::uint8_t(bytes[at] ^ (1U << (random() % 8)));
        }
        if (round % 10 == 9)
            bytes.resize(random() % bytes.size());
        const auto image = decodeImage(bytes, "pictures/one.img", DecodeOptions{Limit});
        (void)readImageHeader(bytes, "pictures/one.img", DecodeOptions{Limit});
        if (!image.ok()) {
            QCOMPARE(image.error().name, QLatin1String(errors::InvalidImage));
            QVERIFY(!image.error().hint.isEmpty());
            continue;
        }
        QVERIFY(image->width > 0 && image->height > 0);
        QVERIFY(std::int64_t(image->width) * image->height <= Limit);
        QCOMPARE(image->pixels.size(), std::size_t(image->width) * std::size_t(image->height) * 3);
    }
}

void PictureFormatsTest::refuses_data()
{
    QTest::addColumn<Data>("bytes");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char *name, Data bytes, const char *reason) {
        QTest::newRow(name) << std::move(bytes) << QString::fromUtf8(reason);
    };
    const Data rgb = fileOf("tiff rgb little");
    row("32 bit tiff", withTag(fileOf("tiff gray"), 258, 32), "32 bits a channel");
    row("signed tiff", withTag(rgb, 284, 2, 339), "signed");
    row("float tiff of 16 bits", withTag(fileOf("tiff rgb 16 little"), 284, 3, 339), "16-bit floating-point");
    row("complex tiff", withTag(rgb, 284, 6, 339), "complex");
    row("tiff of L*a*b*", withTag(rgb, 262, 8), "L*a*b*");
    row("raw camera tiff", withTag(rgb, 262, 32803), "raw camera");
    row("tiff of unknown colours", withTag(rgb, 262, 77), "photometric interpretation 77");
    row("tiff of unknown compression", withTag(rgb, 259, 34712), "compression (number 34712)");
    row("tiff without a palette", withTag(fileOf("tiff gray 4 bit"), 262, 3), "olormap");
    row("tiff with too few channels", withTag(fileOf("tiff gray"), 262, 2), "channels");
    row("tiff bomb", withTag(withTag(rgb, 256, 60000), 257, 60000), "decompression bomb");
    row("tiff with no pixels", withTag(withTag(rgb, 256, 10000), 257, 10000), "cut short");
    row("tiff of huge tiles", withTag(withTag(fileOf("tiff one large tile"), 322, 65536), 323, 65536), "larger than");
    row("webp start only", {'R', 'I', 'F', 'F', 16, 0, 0, 0, 'W', 'E', 'B', 'P', 'V', 'P', '8', ' '}, "cut short");
    row("gif without frames", {'G', 'I', 'F', '8', '9', 'a', 1, 0, 1, 0, 0, 0, 0, ';'}, "holds no picture");
    Data gif = fileOf("gif no table");
    gif[6] = gif[7] = gif[8] = gif[9] = 0xff; // the screen
    row("gif bomb", gif, "decompression bomb");
    Data webp = fileOf("webp lossless");
    std::fill(webp.begin() + 26, webp.end() - 4, std::uint8_t(0xa5));
    row("webp garbage", webp, "broken");
}

void PictureFormatsTest::refuses()
{
    QFETCH(const Data, bytes);
    QFETCH(const QString, reason);
    const QString found = reasonOf(bytes);
    QVERIFY(!found.isEmpty());
    QVERIFY2(found.contains(reason) && !found.startsWith(QStringLiteral("not named")), qPrintable(found));
}

void PictureFormatsTest::guesses_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("guess");
    const auto row = [](const char *guess, QByteArray bytes) {
        QTest::newRow(guess) << bytes.append(QByteArray(40, '\0')) << QString::fromUtf8(guess);
    };
    row("HEIC", QByteArray("\0\0\0\x18", 4) + "ftypheic");
    row("AVIF", QByteArray("\0\0\0\x18", 4) + "ftypavif");
    row("a video file", QByteArray("\0\0\0\x18", 4) + "ftypisom");
    row("a Canon raw file", QByteArray("\0\0\0\x18", 4) + "ftypcrx ");
    row("a video file (Matroska or WebM)", "\x1a\x45\xdf\xa3");
    row("a video file (AVI)", "RIFF....AVI LIST");
    row("a sound file", "RIFF....WAVEfmt ");
    row("PDF", "%PDF-1.7");
    row("SVG", "<?xml version='1.0'?><svg xmlns='a'>");
    row("a web page (HTML or XML)", "<html>");
    row("JPEG 2000", QByteArray("\0\0\0\x0cjP  \r\n\x87\n", 12));
    row("JPEG XL", "\xff\x0a");
    row("a Photoshop document", "8BPS");
    row("an icon (ICO)", QByteArray("\0\0\1\0\1\0", 6));
    row("OpenEXR", "\x76\x2f\x31\x01");
    row("DICOM", QByteArray(128, '\0') + "DICM");
    row("a zip archive", "PK\x03\x04");
    row("a NumPy array", "\x93NUMPY");
}

void PictureFormatsTest::guesses()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const QString, guess);
    const auto image = decodeImage(Data(bytes.begin(), bytes.end()), "a");
    QVERIFY(!image.ok());
    QVERIFY2(image.error().sentence().contains(QStringLiteral("looks like %1, which").arg(guess)),
             qPrintable(image.error().sentence()));
    QVERIFY(image.error().hint.contains(QStringLiteral("PNG")));
}

void PictureFormatsTest::pixelLimit()
{
    for (const char *name : {"tiff tiff_lzw", "gif", "webp lossless"}) {
        const PictureSample &sample = sampleNamed(name);
        const Data file = unpacked(sample.file);
        const std::int64_t pixels = std::int64_t(sample.width) * sample.height;
        QVERIFY(!decodeImage(file, "a", DecodeOptions{pixels - 1}).ok());
        TW_VERIFY(decodeImage(file, "a", DecodeOptions{pixels}));
    }
}

QTEST_GUILESS_MAIN(PictureFormatsTest)
#include "tst_pictureformats.moc"

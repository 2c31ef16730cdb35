// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/data/resize.h"
#include "core/data/resizekernels.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace tw;
using namespace tw::test;

namespace {

struct Shape
{
    int width, height, toWidth, toHeight;
};
const std::vector<Shape> Shapes{
    {1, 1, 1, 1},         {1, 1, 7, 5},         {5, 1, 3, 4},       {1, 9, 2, 3},       {2, 2, 1, 1},
    {28, 28, 32, 32},     {28, 28, 224, 224},   {97, 61, 20, 48},   {97, 61, 97, 20},   {97, 61, 20, 61},
    {500, 375, 341, 256}, {375, 500, 256, 341}, {640, 480, 64, 48}, {33, 17, 100, 100}, {1000, 3, 10, 300},
    {300, 200, 299, 199}, {16, 16, 15, 17},     {1024, 768, 1, 1},  {1, 40, 1, 7},      {40, 1, 90, 1},
    {2, 2, 50, 50},       {3, 200, 3, 7},       {200, 3, 7, 3},
};

// Goldens are BLAKE2b keys of the pixels that Pillow gives, made by
// tests/data/make_resize_goldens.py.
struct Golden
{
    Shape shape;
    Interpolation interpolation;
    const char *key;
};
const std::vector<Golden> Goldens{
#include "tests/data/resize_goldens.inc"
};

QByteArray keyOf(const ImageBuffer &image)
{
    return blake2b(QByteArray(reinterpret_cast<const char *>(image.pixels.data()), qsizetype(image.pixels.size())));
}

/// A pattern of 1 or 3 channels, and the netpbm file of it.
struct Pixels
{
    int width, height, channels;
    std::vector<std::uint8_t> bytes;

    PixelView view() const
    {
        return {bytes.data(), width, height, channels, std::size_t(width) * std::size_t(channels)};
    }
    QByteArray file() const
    {
        return (channels == 1 ? "P5\n" : "P6\n") + QByteArray::number(width) + ' ' + QByteArray::number(height)
               + "\n255\n" + QByteArray(reinterpret_cast<const char *>(bytes.data()), qsizetype(bytes.size()));
    }
};

Pixels pixelsOf(int width, int height, int channels, unsigned seed)
{
    Pixels out{width, height, channels, patternImage(width, height, seed).pixels};
    out.bytes.resize(std::size_t(width) * std::size_t(height) * std::size_t(channels));
    return out;
}

} // namespace

class ResizeTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void equalsPillowGoldens_data();
    void equalsPillowGoldens();
    void equalsInstalledPillow_data();
    void equalsInstalledPillow();
    void sameSizeIsACopy();
    void regionIsCutFirst_data();
    void regionIsCutFirst();
    void windowIsAPart();
    void bicubicOvershootIsCut();
    void kernelsAgree();
    void grayEqualsRgb();
};

void ResizeTest::equalsPillowGoldens_data()
{
    QTest::addColumn<int>("index");
    QVERIFY(!Goldens.empty());
    for (int i = 0; i < int(Goldens.size()); ++i) {
        const auto &[shape, interpolation, key] = Goldens[std::size_t(i)];
        QTest::addRow("%s %dx%d to %dx%d", interpolationId(interpolation), shape.width, shape.height, shape.toWidth,
                      shape.toHeight)
            << i;
    }
}

void ResizeTest::equalsPillowGoldens()
{
    QFETCH(const int, index);
    const auto &[shape, interpolation, key] = Goldens[std::size_t(index)];
    const ImageBuffer image = patternImage(shape.width, shape.height, 7);
    QCOMPARE(keyOf(resizeExact(image, shape.toWidth, shape.toHeight, interpolation)), QByteArray(key));
}

// Where Python and Pillow are installed: many more sizes, pixel by pixel, colour and gray.
void ResizeTest::equalsInstalledPillow_data()
{
    QTest::addColumn<Interpolation>("interpolation");
    QTest::addColumn<int>("channels");
    for (const Interpolation interpolation : {Interpolation::Bilinear, Interpolation::Bicubic})
        for (const int channels : {1, 3})
            QTest::addRow("%s, %d", interpolationId(interpolation), channels) << interpolation << channels;
}

void ResizeTest::equalsInstalledPillow()
{
    QFETCH(const Interpolation, interpolation);
    QFETCH(const int, channels);
    const fs::path script = sourceFolder() / "tests/data/pillow_resize.py";
    const QString python = QStringLiteral("/usr/bin/python3");
    if (runProcess(python, {QStringLiteral("-c"), QStringLiteral("import PIL")}).exitCode != 0)
        QSKIP("Pillow not found");
    QTemporaryDir folder;
    const fs::path root(folder.path().toStdString());
    std::vector<Shape> shapes = Shapes;
    for (unsigned i = 1; i <= 60; ++i)
        shapes.push_back({int(i * 37 % 211 + 1), int(i * 53 % 173 + 1), int(i * 71 % 190 + 1), int(i * 29 % 150 + 1)});
    QByteArray jobs;
    QList<QByteArray> expected;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const Shape &shape = shapes[i];
        const Pixels image = pixelsOf(shape.width, shape.height, channels, unsigned(i));
        writeBytes(root / (std::to_string(i) + ".ppm"), image.file());
        jobs += QByteArray::number(shape.toWidth) + ' ' + QByteArray::number(shape.toHeight) + ' '
                + interpolationId(interpolation) + '\n';
        TransformScratch scratch;
        QByteArray out(qsizetype(shape.toWidth) * shape.toHeight * channels, 0);
        resizeView(image.view(), shape.toWidth, shape.toHeight, interpolation, scratch,
                   reinterpret_cast<std::uint8_t *>(out.data()));
        expected.append(blake2b(out));
    }
    const auto outcome = runProcess(python, {displayPath(script), folder.path()}, 60000, jobs);
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    const QList<QByteArray> keys = outcome.out.trimmed().split('\n');
    QCOMPARE(keys.size(), expected.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const Shape &shape = shapes[i];
        QVERIFY2(keys[qsizetype(i)] == expected[qsizetype(i)], qPrintable(QStringLiteral("%1×%2 → %3×%4")
                                                                              .arg(shape.width)
                                                                              .arg(shape.height)
                                                                              .arg(shape.toWidth)
                                                                              .arg(shape.toHeight)));
    }
}

void ResizeTest::sameSizeIsACopy()
{
    const ImageBuffer image = patternImage(13, 11, 3);
    QVERIFY(resizeExact(image, 13, 11) == image);
}

void ResizeTest::regionIsCutFirst_data()
{
    QTest::addColumn<Interpolation>("interpolation");
    QTest::newRow("bilinear") << Interpolation::Bilinear;
    QTest::newRow("bicubic") << Interpolation::Bicubic;
}

void ResizeTest::regionIsCutFirst()
{
    QFETCH(const Interpolation, interpolation);
    const ImageBuffer image = patternImage(50, 40, 3);
    ImageBuffer cut{20, 10, std::vector<std::uint8_t>(600)};
    for (int y = 0; y < 10; ++y)
        std::copy_n(image.row(y + 7) + 15, 60, cut.row(y));
    QVERIFY(resizedCropExact(image, 5, 7, 20, 10, 33, 21, interpolation) == resizeExact(cut, 33, 21, interpolation));
}

/// A window of what comes out, from no more pixels than it is made of, is that part of the whole.
void ResizeTest::windowIsAPart()
{
    for (const Interpolation interpolation : {Interpolation::Bilinear, Interpolation::Bicubic})
        for (const ImageSize to : {ImageSize{20, 90}, ImageSize{120, 13}, ImageSize{57, 43}, ImageSize{57, 20}}) {
            const ImageBuffer image = patternImage(57, 43, 3);
            const ImageBuffer whole = resizeExact(image, to.width, to.height, interpolation);
            const PixelRegion window{to.width / 3, to.height / 4, to.width / 2, to.height / 2};
            const Resample resample{{57, 43}, to, window, interpolation};
            TransformScratch scratch;
            std::vector<std::uint8_t> out(std::size_t(window.width) * std::size_t(window.height) * 3);
            resampleExact(viewOf(image).region(sourceOf(resample)), resample, scratch, out.data());
            QVERIFY(bufferOf(viewOf(whole).region(window)).pixels == out);
        }
}

/// An edge from black to white: the filter's negative parts would give less than 0 and more than 255.
void ResizeTest::bicubicOvershootIsCut()
{
    ImageBuffer edge{8, 8, std::vector<std::uint8_t>(8 * 8 * 3)};
    for (int y = 0; y < 8; ++y)
        std::fill_n(edge.row(y) + 12, 12, std::uint8_t(255));
    const ImageBuffer large = resizeExact(edge, 32, 32, Interpolation::Bicubic);
    for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 32; ++x)
            if (x < 14 || x >= 18)
                QCOMPARE(int(large.row(y)[3 * x]), x < 14 ? 0 : 255);
    QVERIFY(large.row(5)[3 * 15] < resizeExact(edge, 32, 32).row(5)[3 * 15]); // and is steeper
}

/// Whatever instructions this machine has, the sums are the same; lengths and counts that leave rests.
void ResizeTest::kernelsAgree()
{
    constexpr int Most = 9, Positions = 40, LowerMask = (1 << PartBits) - 1;
    std::uint32_t state = 1;
    const auto next = [&state] { return (state = state * 1664525U + 1013904223U) >> 8; };
    std::vector<int> bounds, coefficients, pairs;
    for (int i = 0; i < Positions; ++i) {
        const int count = 1 + i % Most;
        bounds.insert(bounds.end(), {int(next() % 20), count});
        std::array<int, Most + 1> values{};
        for (int k = 0; k < count; ++k)
            values[std::size_t(k)] = int(next() % (1U << 20)) - (1 << 19);
        coefficients.insert(coefficients.end(), values.begin(), values.begin() + Most);
        for (std::size_t k = 0; k < values.size(); k += 2)
            for (const int shift : {0, PartBits}) {
                const auto part = [&](int value) { return unsigned(shift ? value >> PartBits : value & LowerMask); };
                pairs.push_back(int((part(values[k + 1]) << 16) | (part(values[k]) & 0xFFFFU)));
            }
    }
    const Taps taps{bounds.data(), coefficients.data(), pairs.data(), Most};
    std::vector<std::uint8_t> in(30 * 3 * Lanes);
    for (std::uint8_t &value : in)
        value = std::uint8_t(next());
    for (const std::size_t length : {1, 31, 32, 33, 63, 64, 65, 100, 160})
        for (int y = 0; y < Positions; ++y) {
            std::vector<std::uint8_t> found(length), expected(length);
            resizeKernels().lines(in.data(), 160, taps, y, length, found.data());
            plainResizeKernels().lines(in.data(), 160, taps, y, length, expected.data());
            QVERIFY(found == expected);
        }
    for (const int channels : {1, 3}) {
        std::vector<std::uint8_t> found(std::size_t(Positions * channels * Lanes)), expected(found.size());
        resizeKernels().columns(in.data(), 0, taps, Positions, channels, found.data());
        plainResizeKernels().columns(in.data(), 0, taps, Positions, channels, expected.data());
        QVERIFY(found == expected);
        QVERIFY(std::count(found.begin(), found.end(), 0) < std::ptrdiff_t(found.size()));
    }
}

void ResizeTest::grayEqualsRgb()
{
    const ImageBuffer image = patternImage(41, 37, 9);
    std::vector<std::uint8_t> gray(41 * 37);
    for (std::size_t i = 0; i < gray.size(); ++i)
        gray[i] = image.pixels[3 * i];
    const PixelView view{gray.data(), 41, 37, 1, 41};
    const TransformList list{{TransformOp::Kind::Resize, 64}, {TransformOp::Kind::CenterCrop, 50}};
    SampleRandom random(1, RandomPurpose::Augment, 1, 1);
    TransformScratch scratch;
    const auto fromGray = transformView(view, list, random, "gray", scratch);
    const auto fromRgb = applyTransforms(bufferOf(view), list, random, "rgb");
    TW_VERIFY(fromGray);
    TW_VERIFY(fromRgb);
    QVERIFY(bufferOf(*fromGray) == *fromRgb);
}

QTEST_GUILESS_MAIN(ResizeTest)
#include "tst_resize.moc"

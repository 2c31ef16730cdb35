// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/data/transforms.h"
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
    {300, 200, 299, 199}, {16, 16, 15, 17},     {1024, 768, 1, 1},
};

// Goldens are BLAKE2b keys of the pixels that Pillow gives, made by
// tests/data/make_resize_goldens.py.
struct Golden
{
    Shape shape;
    const char *key;
};
const std::vector<Golden> Goldens{
#include "tests/data/resize_goldens.inc"
};

QByteArray keyOf(const ImageBuffer &image)
{
    return blake2b(QByteArray(reinterpret_cast<const char *>(image.pixels.data()), qsizetype(image.pixels.size())));
}

} // namespace

class ResizeTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void equalsPillowGoldens_data();
    void equalsPillowGoldens();
    void equalsInstalledPillow();
    void sameSizeIsACopy();
    void regionIsCutFirst();
    void grayEqualsRgb();
};

void ResizeTest::equalsPillowGoldens_data()
{
    QTest::addColumn<int>("index");
    QVERIFY(!Goldens.empty());
    for (int i = 0; i < int(Goldens.size()); ++i) {
        const Shape &shape = Goldens[std::size_t(i)].shape;
        QTest::addRow("%dx%d to %dx%d", shape.width, shape.height, shape.toWidth, shape.toHeight) << i;
    }
}

void ResizeTest::equalsPillowGoldens()
{
    QFETCH(const int, index);
    const auto &[shape, key] = Goldens[std::size_t(index)];
    const ImageBuffer image = patternImage(shape.width, shape.height, 7);
    QCOMPARE(keyOf(resizeExact(image, shape.toWidth, shape.toHeight)), QByteArray(key));
}

// Where Python and Pillow are installed: many more sizes, pixel by pixel.
void ResizeTest::equalsInstalledPillow()
{
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
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        writeBytes(root / (std::to_string(i) + ".ppm"),
                   ppmOf(patternImage(shapes[i].width, shapes[i].height, unsigned(i))));
        jobs += QByteArray::number(shapes[i].toWidth) + ' ' + QByteArray::number(shapes[i].toHeight) + '\n';
    }
    const auto outcome = runProcess(python, {displayPath(script), folder.path()}, 60000, jobs);
    QCOMPARE(outcome.exitCode, 0);
    const QList<QByteArray> keys = outcome.out.trimmed().split('\n');
    QCOMPARE(std::size_t(keys.size()), shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const Shape &shape = shapes[i];
        const ImageBuffer image = patternImage(shape.width, shape.height, unsigned(i));
        const QByteArray key = keyOf(resizeExact(image, shape.toWidth, shape.toHeight));
        QVERIFY2(key == keys[qsizetype(i)], qPrintable(QStringLiteral("%1×%2 → %3×%4")
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

void ResizeTest::regionIsCutFirst()
{
    const ImageBuffer image = patternImage(50, 40, 3);
    ImageBuffer cut{20, 10, std::vector<std::uint8_t>(600)};
    for (int y = 0; y < 10; ++y)
        std::copy_n(image.row(y + 7) + 15, 60, cut.row(y));
    QVERIFY(resizedCropExact(image, 5, 7, 20, 10, 33, 21) == resizeExact(cut, 33, 21));
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

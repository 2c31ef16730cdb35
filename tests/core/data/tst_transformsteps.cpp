// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/data/augmentpolicies.h"
#include "core/data/geometry.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace tw;
using namespace tw::test;
using Step = PixelStep::Kind;

// The .inc files are made by tests/data/make_transform_goldens.py.
namespace {

struct Golden
{
    PixelStep step;
    const char *key;
};
const std::vector<Golden> Goldens{
#include "tests/data/transform_goldens.inc"
};

struct Magnitudes
{
    const char *policy;
    AugmentKind kind;
    int width, height;
    bool isSigned;
    std::vector<double> values;
};
const std::vector<Magnitudes> MagnitudeRows{
#include "tests/data/transform_magnitudes.inc"
};

struct Perspective
{
    std::array<int, 8> corners;
    const char *pixels;
};
const std::vector<Perspective> Perspectives{
#include "tests/data/transform_perspectives.inc"
};

/// A picture of 1 or 3 channels with its pixels.
struct Picture
{
    int width, height, channels;
    std::vector<std::uint8_t> pixels;
    PixelView view() const
    {
        return {pixels.data(), width, height, channels, std::size_t(width) * std::size_t(channels)};
    }
};

Picture noise(int width, int height, int channels, bool narrow)
{
    ImageBuffer made = patternImage(width, height, 7);
    made.pixels.resize(std::size_t(width) * std::size_t(height) * std::size_t(channels));
    if (narrow)
        for (std::uint8_t &value : made.pixels)
            value = std::uint8_t(40 + (value >> 2));
    return {width, height, channels, made.pixels};
}

Picture hues(int width, int height)
{
    Picture picture{width, height, 3, {}};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (const int value : {x * 5, y * 8, x * 3 + y * 11})
                picture.pixels.push_back(std::uint8_t(value % 256));
    return picture;
}

/// PICTURES of the script.
std::vector<Picture> goldenPictures()
{
    return {noise(20, 17, 3, false), noise(33, 33, 3, true), noise(20, 17, 1, false),
            noise(1, 1, 3, false),   noise(2, 5, 3, false),  noise(64, 7, 3, false),
            noise(3, 3, 3, true),    noise(16, 16, 1, true), hues(48, 32)};
}

QByteArray bytesOf(const PixelView &view)
{
    const ImageBuffer image = bufferOf(view);
    return {reinterpret_cast<const char *>(image.pixels.data()), qsizetype(image.pixels.size())};
}

Picture threeChannels(const Picture &gray)
{
    return {gray.width, gray.height, 3, bufferOf(gray.view()).pixels};
}

QString nameOf(std::size_t index)
{
    return QStringLiteral("%1: step %2, value %3, size %4")
        .arg(index)
        .arg(int(Goldens[index].step.kind))
        .arg(Goldens[index].step.value)
        .arg(Goldens[index].step.size);
}

} // namespace

/// Steps with given parameters against Pillow and torchvision.
class TransformStepsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void equalsPillow_data();
    void equalsPillow();
    void perspectiveNearTorchvision();
    void perspectiveThatDoesNotExist();
    void policyMagnitudes();
    void grayEqualsThreeChannels();
    void identitiesLeaveThePicture();
    void regionsOfLargerPictures();
    void anyMatrixIsSafe();
};

void TransformStepsTest::equalsPillow_data()
{
    QTest::addColumn<int>("index");
    QVERIFY(Goldens.size() > 100);
    for (std::size_t i = 0; i < Goldens.size(); ++i)
        QTest::newRow(qPrintable(nameOf(i))) << int(i);
}

void TransformStepsTest::equalsPillow()
{
    QFETCH(const int, index);
    const Golden &golden = Goldens[std::size_t(index)];
    TransformScratch scratch;
    QByteArray results;
    for (const Picture &picture : goldenPictures())
        results += bytesOf(applyStep(picture.view(), golden.step, scratch));
    QCOMPARE(blake2b(results), QByteArray(golden.key));
}

// torchvision 0.14 solves the corners in float32: a level up or down, and a few pixels at the rim
// that fall inside or outside.
void TransformStepsTest::perspectiveNearTorchvision()
{
    const Picture picture = noise(20, 17, 3, false);
    TransformScratch scratch;
    QVERIFY(!Perspectives.empty());
    for (const Perspective &golden : Perspectives) {
        const PixelStep step{.kind = Step::Perspective, .corners = golden.corners};
        const QByteArray ours = bytesOf(applyStep(picture.view(), step, scratch));
        const QByteArray expected = QByteArray::fromHex(golden.pixels);
        QCOMPARE(ours.size(), expected.size());
        int apart = 0;
        for (qsizetype i = 0; i < ours.size(); ++i)
            apart += std::abs(int(std::uint8_t(ours[i])) - int(std::uint8_t(expected[i]))) > 1 ? 1 : 0;
        QVERIFY2(apart <= 9, qPrintable(QString::number(apart)));
    }
}

void TransformStepsTest::perspectiveThatDoesNotExist()
{
    TransformScratch scratch;
    const Picture picture = noise(20, 17, 3, false);
    for (const std::array<int, 8> &corners :
         {std::array{5, 5, 5, 5, 19, 16, 0, 16}, std::array{0, 0, 5, 0, 10, 0, 0, 16},
          std::array{3, 3, 3, 3, 3, 3, 3, 3}}) {
        QVERIFY(!perspectiveCoefficients(corners, 20, 17));
        const PixelStep step{.kind = Step::Perspective, .corners = corners};
        QCOMPARE(bytesOf(applyStep(picture.view(), step, scratch)), bytesOf(picture.view()));
    }
    QVERIFY(perspectiveCoefficients({0, 0, 19, 0, 19, 16, 0, 16}, 20, 17));
    QVERIFY(perspectiveCoefficients({2000, 1500, 2100, 1400, 3999, 2999, 0, 2999}, 4000, 3000));
}

// The last bit of torch.linspace goes by the machine's instruction set.
void TransformStepsTest::policyMagnitudes()
{
    QCOMPARE(MagnitudeRows.size(), std::size_t(3 * AugmentKindCount));
    int place = 0;
    for (const Magnitudes &row : MagnitudeRows) {
        QCOMPARE(int(row.kind), place++ % AugmentKindCount);
        QCOMPARE(hasSign(row.kind), row.isSigned);
        QCOMPARE(hasMagnitude(row.kind), !row.values.empty());
        for (std::size_t bin = 0; bin < row.values.size(); ++bin) {
            const bool trivial = QByteArray(row.policy) == "trivial";
            const double ours = trivial ? trivialMagnitude(row.kind, int(bin))
                                        : randMagnitude(row.kind, int(bin), row.width, row.height);
            const double torch = row.values[bin];
            const bool equal = std::abs(ours - torch) <= 2e-7 * std::abs(torch) && int(ours) == int(torch);
            QVERIFY2(equal, qPrintable(QStringLiteral("%1 %2 bin %3: %4, torch has %5")
                                           .arg(QLatin1String(row.policy))
                                           .arg(int(row.kind))
                                           .arg(bin)
                                           .arg(ours, 0, 'g', 17)
                                           .arg(torch, 0, 'g', 17)));
        }
    }
}

void TransformStepsTest::grayEqualsThreeChannels()
{
    TransformScratch scratch;
    for (const bool narrow : {false, true})
        for (const int width : {1, 2, 21}) {
            const Picture gray = noise(width, 18, 1, narrow), colour = threeChannels(gray);
            for (const Golden &golden : Goldens)
                QCOMPARE(bytesOf(applyStep(gray.view(), golden.step, scratch)),
                         bytesOf(applyStep(colour.view(), golden.step, scratch)));
        }
}

void TransformStepsTest::identitiesLeaveThePicture()
{
    TransformScratch scratch;
    const Picture picture = noise(20, 17, 3, false);
    for (const PixelStep &step :
         {PixelStep{.kind = Step::Rotate, .value = 360}, PixelStep{.kind = Step::Affine},
          PixelStep{.kind = Step::Brightness, .value = 1}, PixelStep{.kind = Step::Contrast, .value = 1},
          PixelStep{.kind = Step::Saturation, .value = 1}, PixelStep{.kind = Step::Sharpness, .value = 1},
          PixelStep{.kind = Step::Posterize, .size = 8}, PixelStep{.kind = Step::Solarize, .value = 256},
          PixelStep{.kind = Step::Resize, .width = 20, .height = 17}})
        QCOMPARE(bytesOf(applyStep(picture.view(), step, scratch)), bytesOf(picture.view()));
}

// A view whose rows lie further apart than they are long, as a crop gives it.
void TransformStepsTest::regionsOfLargerPictures()
{
    TransformScratch scratch;
    const Picture large = noise(64, 40, 3, false);
    const PixelView region{large.view().row(5) + 3 * 9, 20, 17, 3, large.view().stride};
    const ImageBuffer alone = bufferOf(region);
    for (const Golden &golden : Goldens)
        QCOMPARE(bytesOf(applyStep(region, golden.step, scratch)),
                 bytesOf(applyStep(viewOf(alone), golden.step, scratch)));
}

// Whatever is drawn, nothing outside the picture is read (the sanitizers watch).
void TransformStepsTest::anyMatrixIsSafe()
{
    TransformScratch scratch;
    SampleRandom random(3, RandomPurpose::Augment, 1, 1);
    const auto wild = [&] { return random.uniform(-1, 1) * std::pow(10.0, random.uniform(-8, 8)); };
    for (const auto &[width, height] : {std::pair(1, 1), std::pair(1, 40), std::pair(31, 2), std::pair(9, 9)}) {
        const Picture picture = noise(width, height, 3, false);
        for (int i = 0; i < 2000; ++i) {
            Coefficients matrix;
            for (double &entry : matrix)
                entry = random.below(8) == 0 ? 0 : wild();
            const PixelView nearest = affineNearest(picture.view(), matrix, scratch);
            QCOMPARE(nearest.width, width);
            perspectiveBilinear(picture.view(), matrix, scratch);
        }
        const double infinite = std::numeric_limits<double>::infinity();
        for (const double bad : {infinite, -infinite, std::nan("")}) {
            const QByteArray black(qsizetype(width) * height * 3, '\0');
            QCOMPARE(bytesOf(affineNearest(picture.view(), {bad, 0, bad, 0, bad, bad, 0, 0}, scratch)), black);
            QCOMPARE(bytesOf(affineNearest(picture.view(), {bad, 1, bad, 1, bad, bad, 0, 0}, scratch)), black);
            QCOMPARE(bytesOf(perspectiveBilinear(picture.view(), {1, 0, bad, 0, 1, bad, 0, 0}, scratch)), black);
        }
    }
}

QTEST_GUILESS_MAIN(TransformStepsTest)
#include "tst_transformsteps.moc"

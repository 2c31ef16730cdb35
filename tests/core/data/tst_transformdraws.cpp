// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/randomerasing.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QtTest>

#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>

using namespace tw;
using namespace tw::test;
using Kind = TransformOp::Kind;
using Step = PixelStep::Kind;

namespace {

constexpr std::uint32_t Draws = 20000;

using Steps = std::vector<PixelStep>;

SampleRandom randomOf(std::uint32_t sample, std::uint64_t seed = 1)
{
    return {seed, RandomPurpose::Augment, 1, sample};
}

Steps drawn(const TransformList &list, int width, int height, std::uint32_t sample)
{
    SampleRandom random = randomOf(sample);
    Steps steps;
    const auto outcome = drawTransforms(list, width, height, random, "x", steps);
    if (!outcome.ok())
        qFatal("%s", qPrintable(outcome.error().toString()));
    return steps;
}

/// Numbers of all draws: what matters of a distribution.
struct Spread
{
    double lowest = 1e300, highest = -1e300, sum = 0, squares = 0;
    std::size_t count = 0;
    void add(double value)
    {
        lowest = std::min(lowest, value);
        highest = std::max(highest, value);
        sum += value;
        squares += value * value;
        ++count;
    }
    double mean() const { return sum / double(count); }
    double deviation() const { return std::sqrt(squares / double(count) - mean() * mean()); }
    /// Whether the numbers look drawn evenly from [low, high].
    bool isUniform(double low, double high) const
    {
        const double width = high - low, tolerance = 0.02 * width;
        return lowest >= low && highest <= high && lowest < low + 0.01 * width && highest > high - 0.01 * width
               && std::abs(mean() - (low + high) / 2) < tolerance
               && std::abs(deviation() - width / std::sqrt(12.0)) < tolerance;
    }
    QByteArray text() const
    {
        return QStringLiteral("%1 to %2, mean %3, deviation %4, %5 draws")
            .arg(lowest)
            .arg(highest)
            .arg(mean())
            .arg(deviation())
            .arg(count)
            .toUtf8();
    }
};

#define VERIFY_UNIFORM(spread, low, high) QVERIFY2((spread).isUniform(low, high), (spread).text().constData())

template <typename Number> Spread spreadOf(const TransformOp &op, Number number, int width = 64, int height = 48)
{
    Spread spread;
    for (std::uint32_t i = 0; i < Draws; ++i)
        for (const PixelStep &step : drawn({op}, width, height, i))
            if (const std::optional<double> value = number(step))
                spread.add(*value);
    return spread;
}

auto valueOf(Step kind)
{
    return [kind](const PixelStep &step) { return step.kind == kind ? std::optional(step.value) : std::nullopt; };
}

struct Moments
{
    Kind kind;
    int width, height;
    std::array<double, 5> means; // x, y, width, height, area
};
const std::vector<Moments> TorchMoments{
#include "tests/data/transform_moments.inc"
};

/// What random erasing of the whole range would blank; the whole picture stands for nothing.
EraseRegion erasedOrAll(const TransformOp &op, int width, int height, std::uint32_t sample)
{
    SampleRandom random = randomOf(sample);
    return drawErasing({op}, width, height, random).value_or(EraseRegion{0, 0, width, height});
}

EraseRegion regionOf(const TransformOp &op, int width, int height, std::uint32_t sample)
{
    if (op.kind == Kind::RandomErasing)
        return erasedOrAll(op, width, height, sample);
    const PixelStep step = drawn({op}, width, height, sample).at(0);
    return {step.x, step.y, step.width, step.height};
}

} // namespace

/// What is drawn follows torchvision's distributions, by seed and sample alone.
class TransformDrawsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void chances_data();
    void chances();
    void rotation();
    void affine();
    void affineNearZero();
    void colorJitterFactors();
    void colorJitterOrder();
    void perspectiveCorners();
    void trivialAugment();
    void randAugment();
    void regionsAsTorchvision();
    void erasingStaysInside();
    void sameSeedSameSteps();
};

void TransformDrawsTest::chances_data()
{
    QTest::addColumn<int>("kind");
    for (const Kind kind : {Kind::RandomHorizontalFlip, Kind::RandomVerticalFlip, Kind::RandomGrayscale,
                            Kind::RandomPerspective, Kind::RandomErasing})
        QTest::addRow("kind %d", int(kind)) << int(kind);
}

void TransformDrawsTest::chances()
{
    QFETCH(const int, kind);
    TransformOp op = defaultOp(Kind(kind));
    for (const double p : {0.0, 0.1, 0.5, 0.9, 1.0}) {
        op.p = p;
        int count = 0;
        for (std::uint32_t i = 0; i < Draws; ++i) {
            SampleRandom random = randomOf(i);
            if (op.kind == Kind::RandomErasing)
                count += drawErasing({op}, 1000, 1000, random) ? 1 : 0;
            else
                count += int(drawn({op}, 64, 48, i).size());
        }
        const double share = double(count) / Draws;
        const bool exact = p == 0 || p == 1;
        QVERIFY2(exact ? share == p : std::abs(share - p) < 0.012, qPrintable(QString::number(share)));
    }
}

void TransformDrawsTest::rotation()
{
    TransformOp op = defaultOp(Kind::RandomRotation);
    for (const double degrees : {15.0, 180.0, 0.5}) {
        op.degrees = degrees;
        const Spread angles = spreadOf(op, valueOf(Step::Rotate));
        QCOMPARE(angles.count, std::size_t(Draws));
        VERIFY_UNIFORM(angles, -degrees, degrees);
    }
    op.degrees = 0;
    const Spread none = spreadOf(op, valueOf(Step::Rotate));
    QCOMPARE(std::pair(none.lowest, none.highest), std::pair(0.0, 0.0));
}

void TransformDrawsTest::affine()
{
    TransformOp op = defaultOp(Kind::RandomAffine);
    op.degrees = 40;
    op.translate = 0.25;
    op.scaleLow = 0.5;
    op.scaleHigh = 2;
    op.shear = 12;
    const auto field = [&](auto get) {
        return spreadOf(
            op, [get](const PixelStep &step) { return std::optional(double(get(step.affine))); }, 64, 40);
    };
    VERIFY_UNIFORM(field([](const AffineArguments &a) { return a.angle; }), -40, 40);
    VERIFY_UNIFORM(field([](const AffineArguments &a) { return a.scale; }), 0.5, 2);
    VERIFY_UNIFORM(field([](const AffineArguments &a) { return a.shearX; }), -12, 12);
    VERIFY_UNIFORM(field([](const AffineArguments &a) { return a.translateX; }), -16, 16);
    VERIFY_UNIFORM(field([](const AffineArguments &a) { return a.translateY; }), -10, 10);
    const Spread unused = field([](const AffineArguments &a) { return a.shearY + (a.aboutOrigin ? 1 : 0); });
    QCOMPARE(std::pair(unused.lowest, unused.highest), std::pair(0.0, 0.0));
}

void TransformDrawsTest::affineNearZero()
{
    TransformOp op = defaultOp(Kind::RandomAffine);
    op.degrees = 0;
    for (std::uint32_t i = 0; i < 100; ++i)
        QVERIFY(drawn({op}, 64, 48, i).at(0) == PixelStep{.kind = Step::Affine});
}

void TransformDrawsTest::colorJitterFactors()
{
    TransformOp op = defaultOp(Kind::ColorJitter);
    op.hue = 0.1;
    op.contrast = 0.4;
    op.brightness = 3; // not below 0
    VERIFY_UNIFORM(spreadOf(op, valueOf(Step::Brightness)), 0, 4);
    VERIFY_UNIFORM(spreadOf(op, valueOf(Step::Contrast)), 0.6, 1.4);
    VERIFY_UNIFORM(spreadOf(op, valueOf(Step::Saturation)), 0.8, 1.2);
    VERIFY_UNIFORM(spreadOf(op, valueOf(Step::Hue)), -0.1, 0.1);
    // One that is 0 is no step at all.
    op.contrast = op.hue = 0;
    QCOMPARE(drawn({op}, 8, 8, 1).size(), std::size_t(2));
    QCOMPARE(spreadOf(op, valueOf(Step::Contrast)).count, std::size_t(0));
    QCOMPARE(spreadOf(op, valueOf(Step::Hue)).count, std::size_t(0));
}

void TransformDrawsTest::colorJitterOrder()
{
    TransformOp op = defaultOp(Kind::ColorJitter);
    op.hue = 0.1;
    std::map<std::vector<int>, int> orders;
    for (std::uint32_t i = 0; i < Draws; ++i) {
        std::vector<int> order;
        for (const PixelStep &step : drawn({op}, 8, 8, i))
            order.push_back(int(step.kind));
        ++orders[order];
    }
    QCOMPARE(orders.size(), std::size_t(24));
    for (const auto &[order, count] : orders)
        QVERIFY2(std::abs(count - int(Draws) / 24) < 130, qPrintable(QString::number(count)));
}

void TransformDrawsTest::perspectiveCorners()
{
    TransformOp op = defaultOp(Kind::RandomPerspective);
    op.p = 1;
    const int width = 101, height = 60; // corners move by up to 25 and 15
    const std::array<std::pair<int, int>, 8> ranges{
        {{0, 25}, {0, 15}, {75, 100}, {0, 15}, {75, 100}, {44, 59}, {0, 25}, {44, 59}}};
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const Spread places = spreadOf(
            op, [i](const PixelStep &step) { return std::optional(double(step.corners[i])); }, width, height);
        const auto [low, high] = ranges[i];
        QCOMPARE(std::pair(int(places.lowest), int(places.highest)), ranges[i]);
        QVERIFY2(std::abs(places.mean() - (low + high) / 2.0) < 0.2, places.text().constData());
    }
    op.distortion = 0;
    QVERIFY(drawn({op}, width, height, 1).at(0).corners == (std::array{0, 0, 100, 0, 100, 59, 0, 59}));
}

void TransformDrawsTest::trivialAugment()
{
    const TransformOp op = defaultOp(Kind::TrivialAugment);
    std::map<int, int> counts; // -1: identity
    Spread angles, factors, shears, bits, thresholds;
    for (std::uint32_t i = 0; i < Draws; ++i) {
        const Steps steps = drawn({op}, 64, 48, i);
        QVERIFY(steps.size() <= 1);
        ++counts[steps.empty() ? -1 : int(steps[0].kind)];
        if (steps.empty())
            continue;
        const PixelStep &step = steps[0];
        if (step.kind == Step::Rotate)
            angles.add(step.value);
        if (step.kind == Step::Sharpness)
            factors.add(step.value);
        if (step.kind == Step::Posterize)
            bits.add(step.size);
        if (step.kind == Step::Solarize)
            thresholds.add(step.value);
        if (step.kind == Step::Affine && step.affine.aboutOrigin && step.affine.shearY == 0)
            shears.add(std::tan(step.affine.shearX * std::numbers::pi / 180));
    }
    QCOMPARE(counts.size(), std::size_t(11)); // shears and translations are all affine
    for (const auto &[kind, count] : counts)
        QVERIFY2(std::abs(count / double(Draws) - (kind == int(Step::Affine) ? 4 : 1) / 14.0) < 0.012,
                 qPrintable(QStringLiteral("%1: %2").arg(kind).arg(count)));
    for (const auto &[spread, most] : {std::pair(angles, 135.0), std::pair(shears, 0.99)}) {
        QVERIFY2(std::abs(spread.lowest + most) < 1e-5 && std::abs(spread.highest - most) < 1e-5,
                 spread.text().constData());
        QVERIFY2(std::abs(spread.mean()) < 0.06 * most, spread.text().constData());
    }
    QVERIFY(std::abs(factors.lowest - 0.01) < 1e-6 && std::abs(factors.highest - 1.99) < 1e-6);
    QCOMPARE(std::pair(bits.lowest, bits.highest), std::pair(2.0, 8.0));
    QCOMPARE(std::pair(thresholds.lowest, thresholds.highest), std::pair(0.0, 255.0));
}

void TransformDrawsTest::randAugment()
{
    TransformOp op = defaultOp(Kind::RandAugment);
    std::set<double> angles, factors, thresholds;
    std::set<int> bits, shiftsX, shiftsY;
    std::size_t steps = 0;
    const auto draw = [&](std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            for (const PixelStep &step : drawn({op}, 331, 662, i)) {
                ++steps;
                if (step.kind == Step::Rotate)
                    angles.insert(step.value);
                if (step.kind == Step::Contrast)
                    factors.insert(step.value);
                if (step.kind == Step::Posterize)
                    bits.insert(step.size);
                if (step.kind == Step::Solarize)
                    thresholds.insert(step.value);
                if (step.kind == Step::Affine && step.affine.translateX != 0)
                    shiftsX.insert(step.affine.translateX);
                if (step.kind == Step::Affine && step.affine.translateY != 0)
                    shiftsY.insert(step.affine.translateY);
            }
    };
    draw(Draws);
    QVERIFY(std::abs(double(steps) / Draws - 2 * 13 / 14.0) < 0.02); // the identity is no step
    QVERIFY(angles == (std::set<double>{-9, 9}));
    QCOMPARE(factors.size(), std::size_t(2));
    QVERIFY(std::abs(*factors.begin() - 0.73) < 1e-6 && std::abs(*factors.rbegin() - 1.27) < 1e-6);
    QVERIFY(bits == std::set<int>{7} && thresholds == std::set<double>{178.5});
    QVERIFY(shiftsX == (std::set<int>{-45, 45}) && shiftsY == (std::set<int>{-90, 90}));
    steps = 0;
    op.numOps = 5;
    op.magnitude = 30;
    draw(4000);
    QVERIFY(std::abs(double(steps) / 4000 - 5 * 13 / 14.0) < 0.06);
    QVERIFY(angles == (std::set<double>{-30, -9, 9, 30}) && bits == (std::set<int>{4, 7}));
}

void TransformDrawsTest::regionsAsTorchvision()
{
    for (const Moments &torch : TorchMoments) {
        TransformOp op = defaultOp(torch.kind);
        op.p = 1;
        std::array<Spread, 5> ours;
        for (std::uint32_t i = 0; i < Draws; ++i) {
            const EraseRegion region = regionOf(op, torch.width, torch.height, i);
            const std::array<int, 5> numbers{region.x, region.y, region.width, region.height,
                                             region.width * region.height};
            for (std::size_t k = 0; k < numbers.size(); ++k)
                ours[k].add(numbers[k]);
        }
        for (std::size_t k = 0; k < ours.size(); ++k) {
            const double error = ours[k].deviation() / std::sqrt(double(Draws));
            QVERIFY2(std::abs(ours[k].mean() - torch.means[k]) < 4.5 * error, ours[k].text().constData());
        }
    }
}

void TransformDrawsTest::erasingStaysInside()
{
    TransformOp op = defaultOp(Kind::RandomErasing);
    op.p = 1;
    for (const auto &[width, height] : {std::pair(1, 1), std::pair(1, 50), std::pair(3, 2), std::pair(224, 224)})
        for (std::uint32_t i = 0; i < 2000; ++i) {
            SampleRandom random = randomOf(i);
            const auto region = drawErasing({op}, width, height, random);
            if (!region)
                continue;
            QVERIFY(region->x >= 0 && region->y >= 0 && region->width < width && region->height < height);
            QVERIFY(region->x + region->width <= width && region->y + region->height <= height);
        }
    SampleRandom random = randomOf(1);
    QVERIFY(!drawErasing({}, 9, 9, random));
    QVERIFY(!drawErasing({defaultOp(Kind::TrivialAugment)}, 9, 9, random));
}

void TransformDrawsTest::sameSeedSameSteps()
{
    const TransformList list{defaultOp(Kind::ColorJitter), defaultOp(Kind::RandomAffine),
                             defaultOp(Kind::TrivialAugment), defaultOp(Kind::RandAugment)};
    QVERIFY(drawn(list, 64, 48, 5) == drawn(list, 64, 48, 5));
    QVERIFY(drawn(list, 64, 48, 5) != drawn(list, 64, 48, 6));
    Steps other;
    SampleRandom random = randomOf(5, 2);
    TW_VERIFY(drawTransforms(list, 64, 48, random, "x", other));
    QVERIFY(drawn(list, 64, 48, 5) != other);
}

QTEST_GUILESS_MAIN(TransformDrawsTest)
#include "tst_transformdraws.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/augmentpolicies.h"

#include <cmath>
#include <numbers>

namespace tw {

namespace {

using Kind = AugmentKind;
using Step = PixelStep::Kind;

constexpr double DegreesPerRadian = 180.0 / std::numbers::pi;

// The float32 nearest to what torch.linspace stands for; torch itself is a last bit off here and there,
// and not the same on every processor.
double linspace(double start, double end, int bin)
{
    return double(float(start + (end - start) * bin / (MagnitudeBins - 1)));
}

double posterizeBits(int bin, double bitsLost)
{
    const auto divisor = float((MagnitudeBins - 1) / bitsLost);
    return 8.0 - double(std::nearbyint(float(bin) / divisor));
}

struct Ranges
{
    double shear, translateX, translateY, rotate, factor, bitsLost;
};

double magnitudeIn(const Ranges &ranges, Kind kind, int bin)
{
    switch (kind) {
    case Kind::ShearX:
    case Kind::ShearY:
        return linspace(0, ranges.shear, bin);
    case Kind::TranslateX:
        return linspace(0, ranges.translateX, bin);
    case Kind::TranslateY:
        return linspace(0, ranges.translateY, bin);
    case Kind::Rotate:
        return linspace(0, ranges.rotate, bin);
    case Kind::Brightness:
    case Kind::Color:
    case Kind::Contrast:
    case Kind::Sharpness:
        return linspace(0, ranges.factor, bin);
    case Kind::Posterize:
        return posterizeBits(bin, ranges.bitsLost);
    case Kind::Solarize:
        return linspace(255, 0, bin);
    case Kind::Identity:
    case Kind::AutoContrast:
    case Kind::Equalize:
        break;
    }
    return 0;
}

PixelStep withValue(Step kind, double value)
{
    PixelStep step;
    step.kind = kind;
    step.value = value;
    return step;
}

PixelStep withAffine(const AffineArguments &arguments)
{
    PixelStep step;
    step.kind = Step::Affine;
    step.affine = arguments;
    return step;
}

// The magnitude is the tangent of the shear; about the upper left corner.
PixelStep sheared(double tangentX, double tangentY)
{
    AffineArguments arguments;
    arguments.shearX = std::atan(tangentX) * DegreesPerRadian;
    arguments.shearY = std::atan(tangentY) * DegreesPerRadian;
    arguments.aboutOrigin = true;
    return withAffine(arguments);
}

PixelStep translated(int x, int y)
{
    AffineArguments arguments;
    arguments.translateX = x;
    arguments.translateY = y;
    return withAffine(arguments);
}

AugmentKind drawKind(SampleRandom &random)
{
    return AugmentKind(random.below(AugmentKindCount));
}

void drawSignAndAdd(Kind kind, double magnitude, SampleRandom &random, std::vector<PixelStep> &steps)
{
    if (hasSign(kind) && random.below(2) == 1)
        magnitude = -magnitude;
    if (const auto step = augmentStep(kind, magnitude))
        steps.push_back(*step);
}

} // namespace

bool hasMagnitude(AugmentKind kind)
{
    return kind != Kind::Identity && kind != Kind::AutoContrast && kind != Kind::Equalize;
}

bool hasSign(AugmentKind kind)
{
    return hasMagnitude(kind) && kind != Kind::Posterize && kind != Kind::Solarize;
}

double trivialMagnitude(AugmentKind kind, int bin)
{
    return magnitudeIn({0.99, 32, 32, 135, 0.99, 6}, kind, bin);
}

double randMagnitude(AugmentKind kind, int bin, int width, int height)
{
    return magnitudeIn({0.3, 150.0 / 331.0 * width, 150.0 / 331.0 * height, 30, 0.9, 4}, kind, bin);
}

std::optional<PixelStep> augmentStep(AugmentKind kind, double magnitude)
{
    PixelStep step;
    switch (kind) {
    case Kind::Identity:
        return std::nullopt;
    case Kind::ShearX:
        return sheared(magnitude, 0);
    case Kind::ShearY:
        return sheared(0, magnitude);
    case Kind::TranslateX:
        return translated(int(magnitude), 0);
    case Kind::TranslateY:
        return translated(0, int(magnitude));
    case Kind::Rotate:
        return withValue(Step::Rotate, magnitude);
    case Kind::Brightness:
        return withValue(Step::Brightness, 1.0 + magnitude);
    case Kind::Color:
        return withValue(Step::Saturation, 1.0 + magnitude);
    case Kind::Contrast:
        return withValue(Step::Contrast, 1.0 + magnitude);
    case Kind::Sharpness:
        return withValue(Step::Sharpness, 1.0 + magnitude);
    case Kind::Posterize:
        step.kind = Step::Posterize;
        step.size = int(magnitude);
        return step;
    case Kind::Solarize:
        return withValue(Step::Solarize, magnitude);
    case Kind::AutoContrast:
        return withValue(Step::AutoContrast, 0);
    case Kind::Equalize:
        return withValue(Step::Equalize, 0);
    }
    return std::nullopt;
}

void drawTrivialAugment(SampleRandom &random, std::vector<PixelStep> &steps)
{
    const AugmentKind kind = drawKind(random);
    const int bin = hasMagnitude(kind) ? int(random.below(MagnitudeBins)) : 0;
    drawSignAndAdd(kind, trivialMagnitude(kind, bin), random, steps);
}

void drawRandAugment(const TransformOp &op, int width, int height, SampleRandom &random, std::vector<PixelStep> &steps)
{
    for (int i = 0; i < op.numOps; ++i) {
        const AugmentKind kind = drawKind(random);
        drawSignAndAdd(kind, randMagnitude(kind, op.magnitude, width, height), random, steps);
    }
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/transformdraws.h"

#include "core/data/augmentpolicies.h"

#include <QCoreApplication>
#include <QString>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw {

namespace {

using Kind = TransformOp::Kind;
using Step = PixelStep::Kind;

// A picture of one by a hundred thousand pixels would ask for gigabytes.
constexpr std::int64_t MostPixels = 178'956'970;

// torchvision rounds offsets and sizes as Python does: half to even.
int roundHalfEven(double value)
{
    return int(std::nearbyint(value));
}

PixelStep withValue(Step kind, double value)
{
    PixelStep step;
    step.kind = kind;
    step.value = value;
    return step;
}

struct Region
{
    int x, y, width, height;
};

PixelStep withRegion(Step kind, const Region &region, int size = 0)
{
    PixelStep step;
    step.kind = kind;
    step.x = region.x;
    step.y = region.y;
    step.width = region.width;
    step.height = region.height;
    step.size = size;
    return step;
}

PixelStep resizing(const TransformOp &op, PixelStep step)
{
    step.interpolation = op.interpolation;
    return step;
}

// torchvision's RandomResizedCrop.get_params: ten tries, then the largest centred region in range.
Region randomRegion(const TransformOp &op, ImageSize image, SampleRandom &random)
{
    const double area = double(image.width) * image.height;
    for (int attempt = 0; attempt < 10; ++attempt) {
        const double target = area * random.uniform(op.scaleLow, op.scaleHigh);
        const double aspect = std::exp(random.uniform(std::log(op.ratioLow), std::log(op.ratioHigh)));
        const double width = std::nearbyint(std::sqrt(target * aspect));
        const double height = std::nearbyint(std::sqrt(target / aspect));
        if (!(width > 0 && width <= image.width && height > 0 && height <= image.height))
            continue;
        const auto y = int(random.below(std::uint32_t(image.height - int(height) + 1)));
        const auto x = int(random.below(std::uint32_t(image.width - int(width) + 1)));
        return {x, y, int(width), int(height)};
    }
    const double ratio = double(image.width) / image.height;
    int width = image.width, height = image.height;
    if (ratio < op.ratioLow)
        height = std::clamp(roundHalfEven(width / op.ratioLow), 1, image.height);
    else if (ratio > op.ratioHigh)
        width = std::clamp(roundHalfEven(height * op.ratioHigh), 1, image.width);
    return {(image.width - width) / 2, (image.height - height) / 2, width, height};
}

Region cropRegion(const TransformOp &op, ImageSize image, SampleRandom &random)
{
    const int freeX = image.width - op.size, freeY = image.height - op.size;
    if (op.kind == Kind::CenterCrop)
        return {roundHalfEven(freeX / 2.0), roundHalfEven(freeY / 2.0), op.size, op.size};
    if (freeX == 0 && freeY == 0)
        return {0, 0, op.size, op.size};
    const auto y = int(random.below(std::uint32_t(freeY + 1)));
    const auto x = int(random.below(std::uint32_t(freeX + 1)));
    return {x, y, op.size, op.size};
}

// The order of the four first, then the factors, as torchvision draws them; one that is switched
// off by 0 draws nothing.
void drawColorJitter(const TransformOp &op, SampleRandom &random, std::vector<PixelStep> &steps)
{
    std::array<int, 4> order{0, 1, 2, 3};
    for (std::uint32_t i = 4; i > 1; --i)
        std::swap(order[i - 1], order[random.below(i)]);
    const auto factor = [&](double spread) { return random.uniform(std::max(0.0, 1.0 - spread), 1.0 + spread); };
    std::array<std::optional<PixelStep>, 4> drawn;
    if (op.brightness > 0)
        drawn[0] = withValue(Step::Brightness, factor(op.brightness));
    if (op.contrast > 0)
        drawn[1] = withValue(Step::Contrast, factor(op.contrast));
    if (op.saturation > 0)
        drawn[2] = withValue(Step::Saturation, factor(op.saturation));
    if (op.hue > 0)
        drawn[3] = withValue(Step::Hue, random.uniform(-op.hue, op.hue));
    for (const int place : order)
        if (const auto &step = drawn[std::size_t(place)])
            steps.push_back(*step);
}

PixelStep drawAffine(const TransformOp &op, ImageSize image, SampleRandom &random)
{
    PixelStep step;
    step.kind = Step::Affine;
    step.affine.angle = random.uniform(-op.degrees, op.degrees);
    if (op.translate > 0) {
        const double mostX = op.translate * image.width, mostY = op.translate * image.height;
        step.affine.translateX = roundHalfEven(random.uniform(-mostX, mostX));
        step.affine.translateY = roundHalfEven(random.uniform(-mostY, mostY));
    }
    step.affine.scale = random.uniform(op.scaleLow, op.scaleHigh);
    if (op.shear > 0)
        step.affine.shearX = random.uniform(-op.shear, op.shear);
    return step;
}

PixelStep drawPerspective(const TransformOp &op, ImageSize image, SampleRandom &random)
{
    const int mostX = int(op.distortion * (image.width / 2)), mostY = int(op.distortion * (image.height / 2));
    const auto near = [&](int most) { return int(random.below(std::uint32_t(most + 1))); };
    const auto far = [&](int size, int most) { return size - most - 1 + near(most); };
    PixelStep step;
    step.kind = Step::Perspective;
    auto &corners = step.corners;
    corners[0] = near(mostX);
    corners[1] = near(mostY);
    corners[2] = far(image.width, mostX);
    corners[3] = near(mostY);
    corners[4] = far(image.width, mostX);
    corners[5] = far(image.height, mostY);
    corners[6] = near(mostX);
    corners[7] = far(image.height, mostY);
    return step;
}

// An operation that happens with a chance.
void drawWithChance(const TransformOp &op, ImageSize image, SampleRandom &random, std::vector<PixelStep> &steps)
{
    if (!(random.uniform() < op.p))
        return;
    if (op.kind == Kind::RandomPerspective)
        steps.push_back(drawPerspective(op, image, random));
    else if (op.kind == Kind::RandomGrayscale)
        steps.push_back(withValue(Step::Grayscale, 0));
    else
        steps.push_back(
            withValue(op.kind == Kind::RandomHorizontalFlip ? Step::FlipHorizontally : Step::FlipVertically, 0));
}

Error cropTooLarge(const TransformOp &op, ImageSize image, const std::string &name)
{
    return makeError(
        errors::InvalidDataset,
        QT_TRANSLATE_NOOP("Error", "The crop of %1 × %1 pixels is larger than the image \"%2\" of %3 × %4 pixels."),
        {QString::number(op.size), QString::fromStdString(name), QString::number(image.width),
         QString::number(image.height)},
        QT_TRANSLATE_NOOP("Error", "Make the crop smaller, or resize or pad the images before it."));
}

const char *tooLargeText(Kind kind)
{
    if (kind == Kind::Pad)
        return QT_TRANSLATE_NOOP("Error", "Padding the image \"%2\" of %3 × %4 pixels by %1 would give more than "
                                          "178,956,970 pixels.");
    if (kind == Kind::RandomResizedCrop)
        return QT_TRANSLATE_NOOP("Error", "Resizing a part of the image \"%2\" of %3 × %4 pixels to %1 × %1 would "
                                          "give more than 178,956,970 pixels.");
    return QT_TRANSLATE_NOOP("Error", "Resizing the shorter edge of the image \"%2\" of %3 × %4 pixels to %1 would "
                                      "give more than 178,956,970 pixels.");
}

Error resultTooLarge(const TransformOp &op, ImageSize image, const std::string &name)
{
    return makeError(
        errors::InvalidDataset, tooLargeText(op.kind),
        {QString::number(op.size), QString::fromStdString(name), QString::number(image.width),
         QString::number(image.height)},
        QT_TRANSLATE_NOOP("Error", "Give the operation a smaller size, leave this image out, or crop before it."));
}

} // namespace

ImageSize shorterEdgeSize(ImageSize image, int size)
{
    const double shorter = std::min(image.width, image.height);
    const double exact = double(size) * std::max(image.width, image.height) / shorter;
    const int longer = int(std::clamp(exact, 1.0, double(std::numeric_limits<int>::max())));
    return image.width <= image.height ? ImageSize{size, longer} : ImageSize{longer, size};
}

Result<ImageSize> sizeAfter(const TransformOp &op, ImageSize image, const std::string &name)
{
    ImageSize out = image;
    switch (op.kind) {
    case Kind::CenterCrop:
    case Kind::RandomCrop:
        if (std::min(image.width, image.height) < op.size)
            return cropTooLarge(op, image, name);
        return ImageSize{op.size, op.size};
    case Kind::Resize:
        out = shorterEdgeSize(image, op.size);
        break;
    case Kind::RandomResizedCrop:
        out = {op.size, op.size};
        break;
    case Kind::Pad:
        out = {image.width + 2 * op.size, image.height + 2 * op.size};
        break;
    default:
        return image;
    }
    if (std::int64_t(out.width) * out.height > MostPixels)
        return resultTooLarge(op, image, name);
    return out;
}

void drawOp(const TransformOp &op, ImageSize image, SampleRandom &random, std::vector<PixelStep> &steps)
{
    switch (op.kind) {
    case Kind::Resize: {
        const ImageSize size = shorterEdgeSize(image, op.size);
        return steps.push_back(resizing(op, withRegion(Step::Resize, {0, 0, size.width, size.height})));
    }
    case Kind::CenterCrop:
    case Kind::RandomCrop:
        return steps.push_back(withRegion(Step::Crop, cropRegion(op, image, random)));
    case Kind::Pad:
        return steps.push_back(withRegion(Step::Pad, {}, op.size));
    case Kind::ColorJitter:
        return drawColorJitter(op, random, steps);
    case Kind::Grayscale:
        return steps.push_back(withValue(Step::Grayscale, 0));
    case Kind::RandomResizedCrop:
        return steps.push_back(resizing(op, withRegion(Step::ResizedCrop, randomRegion(op, image, random), op.size)));
    case Kind::RandomRotation:
        return steps.push_back(withValue(Step::Rotate, random.uniform(-op.degrees, op.degrees)));
    case Kind::RandomAffine:
        return steps.push_back(drawAffine(op, image, random));
    case Kind::RandomHorizontalFlip:
    case Kind::RandomVerticalFlip:
    case Kind::RandomGrayscale:
    case Kind::RandomPerspective:
        return drawWithChance(op, image, random, steps);
    case Kind::TrivialAugment:
        return drawTrivialAugment(random, steps);
    case Kind::RandAugment:
        return drawRandAugment(op, image.width, image.height, random, steps);
    case Kind::RandomErasing:
        return;
    }
}

Result<void> drawTransforms(const TransformList &list, int width, int height, SampleRandom &random,
                            const std::string &name, std::vector<PixelStep> &steps)
{
    ImageSize size{width, height};
    for (const TransformOp &op : list) {
        TW_ASSIGN(next, sizeAfter(op, size, name));
        drawOp(op, size, random, steps);
        size = next;
    }
    return {};
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/transforms.h"

#include "core/data/resize.h"

#include <QCoreApplication>
#include <QString>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tw {

namespace {

using Kind = TransformOp::Kind;

// torchvision rounds offsets and sizes as Python does: half to even.
int roundHalfEven(double value)
{
    return int(std::nearbyint(value));
}

PixelView crop(const PixelView &image, int x, int y, int width, int height)
{
    return {image.row(y) + std::size_t(x) * std::size_t(image.channels), width, height, image.channels, image.stride};
}

// Two buffers in turn: an operation never writes where its input lies.
PixelView newStage(TransformScratch &scratch, int width, int height, int channels)
{
    scratch.turn ^= 1;
    std::vector<std::uint8_t> &stage = scratch.stages[std::size_t(scratch.turn)];
    const std::size_t stride = std::size_t(width) * std::size_t(channels);
    if (stage.size() < stride * std::size_t(height))
        stage.resize(stride * std::size_t(height));
    return {stage.data(), width, height, channels, stride};
}

std::uint8_t *pixelsOf(TransformScratch &scratch)
{
    return scratch.stages[std::size_t(scratch.turn)].data();
}

PixelView resized(const PixelView &image, int width, int height, TransformScratch &scratch)
{
    if (width == image.width && height == image.height)
        return image;
    const PixelView out = newStage(scratch, width, height, image.channels);
    resizeView(image, width, height, scratch, pixelsOf(scratch));
    return out;
}

std::pair<int, int> shorterEdgeSize(int width, int height, int size)
{
    const double shorter = std::min(width, height);
    const double exact = double(size) * std::max(width, height) / shorter;
    const int longer = int(std::clamp(exact, 1.0, double(std::numeric_limits<int>::max())));
    return width <= height ? std::pair(size, longer) : std::pair(longer, size);
}

PixelView padded(const PixelView &image, int border, TransformScratch &scratch)
{
    if (border == 0)
        return image;
    const PixelView out = newStage(scratch, image.width + 2 * border, image.height + 2 * border, image.channels);
    std::uint8_t *to = pixelsOf(scratch);
    std::memset(to, 0, out.stride * std::size_t(out.height));
    to += std::size_t(border) * out.stride + std::size_t(border) * std::size_t(image.channels);
    for (int y = 0; y < image.height; ++y)
        std::memcpy(to + std::size_t(y) * out.stride, image.row(y), image.rowBytes());
    return out;
}

// Pillow's L: fixed-point ITU-R 601-2, rounded. The identity where all channels are equal.
PixelView grayscale(const PixelView &image, TransformScratch &scratch)
{
    if (image.channels == 1)
        return image;
    const PixelView out = newStage(scratch, image.width, image.height, 3);
    std::uint8_t *to = pixelsOf(scratch);
    for (int y = 0; y < image.height; ++y) {
        const std::uint8_t *in = image.row(y);
        for (int x = 0; x < image.width; ++x, in += 3, to += 3)
            to[0] = to[1] = to[2] = luma(in);
    }
    return out;
}

PixelView flippedHorizontally(const PixelView &image, TransformScratch &scratch)
{
    const PixelView out = newStage(scratch, image.width, image.height, image.channels);
    std::uint8_t *to = pixelsOf(scratch);
    for (int y = 0; y < image.height; ++y, to += out.stride) {
        const std::uint8_t *in = image.row(y);
        if (image.channels == 1) {
            std::reverse_copy(in, in + image.width, to);
            continue;
        }
        const std::uint8_t *from = in + image.rowBytes();
        for (int x = 0; x < image.width; ++x) {
            from -= 3;
            to[3 * x] = from[0];
            to[3 * x + 1] = from[1];
            to[3 * x + 2] = from[2];
        }
    }
    return out;
}

PixelView flippedVertically(const PixelView &image, TransformScratch &scratch)
{
    const PixelView out = newStage(scratch, image.width, image.height, image.channels);
    std::uint8_t *to = pixelsOf(scratch);
    for (int y = 0; y < image.height; ++y)
        std::memcpy(to + std::size_t(y) * out.stride, image.row(image.height - 1 - y), image.rowBytes());
    return out;
}

struct Region
{
    int x, y, width, height;
};

// torchvision's RandomResizedCrop.get_params: ten tries, then the largest centred region in range.
Region randomRegion(const PixelView &image, const TransformOp &op, SampleRandom &random)
{
    const double area = double(image.width) * image.height;
    for (int attempt = 0; attempt < 10; ++attempt) {
        const double target = area * random.uniform(op.scaleLow, op.scaleHigh);
        const double aspect = std::exp(random.uniform(std::log(op.ratioLow), std::log(op.ratioHigh)));
        const int width = roundHalfEven(std::sqrt(target * aspect));
        const int height = roundHalfEven(std::sqrt(target / aspect));
        if (width <= 0 || width > image.width || height <= 0 || height > image.height)
            continue;
        const auto y = int(random.below(std::uint32_t(image.height - height + 1)));
        const auto x = int(random.below(std::uint32_t(image.width - width + 1)));
        return {x, y, width, height};
    }
    const double ratio = double(image.width) / image.height;
    int width = image.width, height = image.height;
    if (ratio < op.ratioLow)
        height = std::clamp(roundHalfEven(width / op.ratioLow), 1, image.height);
    else if (ratio > op.ratioHigh)
        width = std::clamp(roundHalfEven(height * op.ratioHigh), 1, image.width);
    return {(image.width - width) / 2, (image.height - height) / 2, width, height};
}

Error cropTooLarge(const TransformOp &op, const PixelView &image, const std::string &name)
{
    return makeError(
        errors::InvalidDataset,
        QT_TRANSLATE_NOOP("Error", "The crop of %1 × %1 pixels is larger than the image \"%2\" of %3 × %4 pixels."),
        {QString::number(op.size), QString::fromStdString(name), QString::number(image.width),
         QString::number(image.height)},
        QT_TRANSLATE_NOOP("Error", "Make the crop smaller, or resize or pad the images before it."));
}

// A picture of one by a hundred thousand pixels would ask for gigabytes.
constexpr std::int64_t MaxResizedPixels = 178'956'970;

Error resizeTooLarge(const TransformOp &op, const PixelView &image, const std::string &name)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error",
                                       "Resizing the shorter edge of the image \"%2\" of %3 × %4 pixels to %1 would "
                                       "give more than 178,956,970 pixels."),
                     {QString::number(op.size), QString::fromStdString(name), QString::number(image.width),
                      QString::number(image.height)},
                     QT_TRANSLATE_NOOP("Error", "Leave this image out, or crop before resizing."));
}

Result<PixelView> cropped(const PixelView &image, const TransformOp &op, SampleRandom &random, const std::string &name)
{
    const int freeX = image.width - op.size, freeY = image.height - op.size;
    if (freeX < 0 || freeY < 0)
        return cropTooLarge(op, image, name);
    if (op.kind == Kind::CenterCrop)
        return crop(image, roundHalfEven(freeX / 2.0), roundHalfEven(freeY / 2.0), op.size, op.size);
    if (freeX == 0 && freeY == 0)
        return image;
    const auto y = int(random.below(std::uint32_t(freeY + 1)));
    const auto x = int(random.below(std::uint32_t(freeX + 1)));
    return crop(image, x, y, op.size, op.size);
}

PixelView randomResizedCrop(const PixelView &image, const TransformOp &op, SampleRandom &random,
                            TransformScratch &scratch)
{
    const Region region = randomRegion(image, op, random);
    return resized(crop(image, region.x, region.y, region.width, region.height), op.size, op.size, scratch);
}

Result<PixelView> applyOne(const PixelView &image, const TransformOp &op, SampleRandom &random, const std::string &name,
                           TransformScratch &scratch)
{
    switch (op.kind) {
    case Kind::Resize: {
        const auto [width, height] = shorterEdgeSize(image.width, image.height, op.size);
        if (std::int64_t(width) * height > MaxResizedPixels)
            return resizeTooLarge(op, image, name);
        return resized(image, width, height, scratch);
    }
    case Kind::CenterCrop:
    case Kind::RandomCrop:
        return cropped(image, op, random, name);
    case Kind::Pad:
        return padded(image, op.size, scratch);
    case Kind::Grayscale:
        return grayscale(image, scratch);
    case Kind::RandomResizedCrop:
        return randomResizedCrop(image, op, random, scratch);
    case Kind::RandomHorizontalFlip:
        return random.uniform() < op.p ? flippedHorizontally(image, scratch) : image;
    case Kind::RandomVerticalFlip:
        return random.uniform() < op.p ? flippedVertically(image, scratch) : image;
    }
    return image;
}

} // namespace

bool isRandom(const TransformOp &op)
{
    return op.kind == Kind::RandomResizedCrop || op.kind == Kind::RandomCrop || op.kind == Kind::RandomHorizontalFlip
           || op.kind == Kind::RandomVerticalFlip;
}

TransformList forInference(const TransformList &list)
{
    TransformList out;
    std::copy_if(list.begin(), list.end(), std::back_inserter(out),
                 [](const TransformOp &op) { return !isRandom(op); });
    return out;
}

std::optional<std::pair<int, int>> fixedOutputSize(const TransformList &list)
{
    std::optional<std::pair<int, int>> size;
    for (const TransformOp &op : list) {
        if (op.kind == Kind::CenterCrop || op.kind == Kind::RandomCrop || op.kind == Kind::RandomResizedCrop)
            size = std::pair(op.size, op.size);
        else if (op.kind == Kind::Resize && size)
            size = shorterEdgeSize(size->first, size->second, op.size);
        else if (op.kind == Kind::Pad && size)
            size = std::pair(size->first + 2 * op.size, size->second + 2 * op.size);
    }
    return size;
}

bool fitsEveryImage(const TransformList &list)
{
    int shorter = 1;
    for (const TransformOp &op : list) {
        const bool crops = op.kind == Kind::CenterCrop || op.kind == Kind::RandomCrop;
        if (crops && op.size > shorter)
            return false;
        if (crops || op.kind == Kind::Resize || op.kind == Kind::RandomResizedCrop)
            shorter = op.size;
        else if (op.kind == Kind::Pad)
            shorter += 2 * op.size;
    }
    return true;
}

Result<std::pair<int, int>> outputSize(const TransformList &list, int width, int height, const std::string &name)
{
    PixelView size{nullptr, width, height, 1, 0};
    for (const TransformOp &op : list) {
        const bool crops = op.kind == Kind::CenterCrop || op.kind == Kind::RandomCrop;
        if (crops && std::min(size.width, size.height) < op.size)
            return cropTooLarge(op, size, name);
        if (crops || op.kind == Kind::RandomResizedCrop) {
            size.width = size.height = op.size;
        } else if (op.kind == Kind::Resize) {
            const auto [newWidth, newHeight] = shorterEdgeSize(size.width, size.height, op.size);
            if (std::int64_t(newWidth) * newHeight > MaxResizedPixels)
                return resizeTooLarge(op, size, name);
            size.width = newWidth;
            size.height = newHeight;
        } else if (op.kind == Kind::Pad) {
            size.width += 2 * op.size;
            size.height += 2 * op.size;
        }
    }
    return std::pair(size.width, size.height);
}

Result<PixelView> transformView(const PixelView &image, const TransformList &list, SampleRandom &random,
                                const std::string &name, TransformScratch &scratch)
{
    PixelView current = image;
    for (const TransformOp &op : list) {
        Result<PixelView> next = applyOne(current, op, random, name, scratch);
        if (!next.ok())
            return next;
        current = *next;
    }
    return current;
}

Result<ImageBuffer> applyTransforms(ImageBuffer image, const TransformList &list, SampleRandom &random,
                                    const std::string &name)
{
    TransformScratch scratch;
    TW_ASSIGN(view, transformView(viewOf(image), list, random, name, scratch));
    if (view.data == image.pixels.data() && view.width == image.width && view.height == image.height)
        return image;
    return bufferOf(view);
}

} // namespace tw

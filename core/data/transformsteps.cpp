// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/coloroperations.h"
#include "core/data/geometry.h"
#include "core/data/resize.h"
#include "core/data/stage.h"

#include <algorithm>
#include <cstring>

namespace tw {

namespace {

using Kind = PixelStep::Kind;

PixelView crop(const PixelView &image, const PixelStep &step)
{
    const std::uint8_t *corner = image.row(step.y) + std::size_t(step.x) * std::size_t(image.channels);
    return {corner, step.width, step.height, image.channels, image.stride};
}

PixelView resized(const PixelView &image, int width, int height, Interpolation interpolation, TransformScratch &scratch)
{
    if (width == image.width && height == image.height)
        return image;
    const Stage out = newStage(scratch, width, height, image.channels);
    resizeView(image, width, height, interpolation, scratch, out.data);
    return out.view;
}

PixelView padded(const PixelView &image, int border, TransformScratch &scratch)
{
    if (border == 0)
        return image;
    const Stage out = newStage(scratch, image.width + 2 * border, image.height + 2 * border, image.channels);
    std::memset(out.data, 0, out.view.stride * std::size_t(out.view.height));
    const std::size_t left = std::size_t(border) * std::size_t(image.channels);
    for (int y = 0; y < image.height; ++y)
        std::memcpy(out.row(border + y) + left, image.row(y), image.rowBytes());
    return out.view;
}

PixelView flippedHorizontally(const PixelView &image, TransformScratch &scratch)
{
    const Stage out = stageLike(image, scratch);
    for (int y = 0; y < image.height; ++y) {
        const std::uint8_t *in = image.row(y);
        std::uint8_t *to = out.row(y);
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
    return out.view;
}

PixelView flippedVertically(const PixelView &image, TransformScratch &scratch)
{
    const Stage out = stageLike(image, scratch);
    for (int y = 0; y < image.height; ++y)
        std::memcpy(out.row(y), image.row(image.height - 1 - y), image.rowBytes());
    return out.view;
}

PixelView affine(const PixelView &image, const PixelStep &step, TransformScratch &scratch)
{
    return affineNearest(image, affineCoefficients(step.affine, image.width, image.height), scratch);
}

PixelView perspective(const PixelView &image, const PixelStep &step, TransformScratch &scratch)
{
    const auto mapping = perspectiveCoefficients(step.corners, image.width, image.height);
    return mapping ? perspectiveBilinear(image, *mapping, scratch) : image;
}

} // namespace

PixelView applyStep(const PixelView &image, const PixelStep &step, TransformScratch &scratch)
{
    switch (step.kind) {
    case Kind::Resize:
        return resized(image, step.width, step.height, step.interpolation, scratch);
    case Kind::Crop:
        return crop(image, step);
    case Kind::ResizedCrop:
        return resized(crop(image, step), step.size, step.size, step.interpolation, scratch);
    case Kind::Pad:
        return padded(image, step.size, scratch);
    case Kind::Grayscale:
        return grayscale(image, scratch);
    case Kind::FlipHorizontally:
        return flippedHorizontally(image, scratch);
    case Kind::FlipVertically:
        return flippedVertically(image, scratch);
    case Kind::Rotate:
        return rotateNearest(image, step.value, scratch);
    case Kind::Affine:
        return affine(image, step, scratch);
    case Kind::Perspective:
        return perspective(image, step, scratch);
    case Kind::Brightness:
        return adjustBrightness(image, step.value, scratch);
    case Kind::Contrast:
        return adjustContrast(image, step.value, scratch);
    case Kind::Saturation:
        return adjustSaturation(image, step.value, scratch);
    case Kind::Hue:
        return adjustHue(image, step.value, scratch);
    case Kind::Sharpness:
        return adjustSharpness(image, step.value, scratch);
    case Kind::Posterize:
        return posterize(image, step.size, scratch);
    case Kind::Solarize:
        return solarize(image, step.value, scratch);
    case Kind::AutoContrast:
        return autoContrast(image, scratch);
    case Kind::Equalize:
        return equalize(image, scratch);
    }
    return image;
}

} // namespace tw

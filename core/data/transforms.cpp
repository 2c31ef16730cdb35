// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/transforms.h"

#include "core/data/transformdraws.h"

#include <algorithm>

namespace tw {

using Kind = TransformOp::Kind;

TransformOp defaultOp(Kind kind)
{
    TransformOp op;
    op.kind = kind;
    if (kind == Kind::ColorJitter)
        op.brightness = op.contrast = op.saturation = 0.2;
    if (kind == Kind::RandomRotation)
        op.degrees = 15;
    if (kind == Kind::RandomAffine) {
        op.degrees = 10;
        op.scaleLow = op.scaleHigh = 1;
    }
    if (kind == Kind::RandomGrayscale)
        op.p = 0.1;
    if (kind == Kind::RandomPerspective)
        op.distortion = 0.5;
    if (kind == Kind::RandomErasing) {
        op.scaleLow = 0.02;
        op.scaleHigh = 0.33;
        op.ratioLow = 0.3;
        op.ratioHigh = 3.3;
    }
    return op;
}

bool isRandom(const TransformOp &op)
{
    switch (op.kind) {
    case Kind::Resize:
    case Kind::CenterCrop:
    case Kind::Pad:
    case Kind::Grayscale:
        return false;
    default:
        return true;
    }
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
        if (op.kind == Kind::CenterCrop || op.kind == Kind::RandomCrop || op.kind == Kind::RandomResizedCrop) {
            size = std::pair(op.size, op.size);
        } else if (op.kind == Kind::Resize && size) {
            const ImageSize resized = shorterEdgeSize({size->first, size->second}, op.size);
            size = std::pair(resized.width, resized.height);
        } else if (op.kind == Kind::Pad && size) {
            size = std::pair(size->first + 2 * op.size, size->second + 2 * op.size);
        }
    }
    return size;
}

bool fitsEveryImage(const TransformList &list)
{
    std::int64_t shorter = 1;
    for (const TransformOp &op : list) {
        const bool crops = op.kind == Kind::CenterCrop || op.kind == Kind::RandomCrop;
        if (crops && op.size > shorter)
            return false;
        if (crops || op.kind == Kind::Resize || op.kind == Kind::RandomResizedCrop)
            shorter = op.size;
        else if (op.kind == Kind::Pad)
            shorter += 2 * std::int64_t(op.size);
    }
    return true;
}

Result<std::pair<int, int>> outputSize(const TransformList &list, int width, int height, const std::string &name)
{
    ImageSize size{width, height};
    for (const TransformOp &op : list) {
        TW_ASSIGN(next, sizeAfter(op, size, name));
        size = next;
    }
    return std::pair(size.width, size.height);
}

Result<PixelView> transformView(const PixelView &image, const TransformList &list, SampleRandom &random,
                                const std::string &name, TransformScratch &scratch)
{
    scratch.steps.clear();
    TW_TRY(drawTransforms(list, image.width, image.height, random, name, scratch.steps));
    PixelView current = image;
    for (const PixelStep &step : scratch.steps)
        current = applyStep(current, step, scratch);
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

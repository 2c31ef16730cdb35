// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/data/imagebuffer.h"
#include "core/data/philox.h"

#include <QJsonArray>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tw {

/// One image operation; `kind` decides which fields count. Semantics are torchvision's on PIL
/// images.
struct TransformOp
{
    enum class Kind {
        Resize,
        CenterCrop,
        Pad,
        Grayscale,
        RandomResizedCrop,
        RandomCrop,
        RandomHorizontalFlip,
        RandomVerticalFlip
    };
    Kind kind = Kind::Resize;
    int size = 0;   ///< Resize: shorter edge; crops: edge of the square; Pad: border
    double p = 0.5; ///< flips
    double scaleLow = 0.08, scaleHigh = 1.0;
    double ratioLow = 0.75, ratioHigh = 4.0 / 3.0;
    bool operator==(const TransformOp &) const = default;
};
using TransformList = std::vector<TransformOp>;

bool isRandom(const TransformOp &op);
/// The list without its random operations (For inference).
TransformList forInference(const TransformList &list);
/// [{"op":"resize","size":256}, …]
QJsonArray transformsToJson(const TransformList &list);
/// InvalidTransformationDirectoryError: unknown op, missing or out-of-range argument, with its
/// place.
Result<TransformList> transformsFromJson(const QJsonArray &json);
/// Size of what comes out, when it does not depend on the image (a crop comes last).
std::optional<std::pair<int, int>> fixedOutputSize(const TransformList &list);
/// Whether no crop of the list can be larger than what reaches it, whatever the image.
bool fitsEveryImage(const TransformList &list);
/// Width and height of what comes out of an image of this size. InvalidDatasetError as
/// applyTransforms().
Result<std::pair<int, int>> outputSize(const TransformList &list, int width, int height, const std::string &name);

/// Exact path: Pillow's 8-bit antialiased BILINEAR bit for bit (fixed-point coefficients,
/// horizontal pass first, each pass rounded). Any size from 1×1 up.
ImageBuffer resizeExact(const ImageBuffer &image, int width, int height);
/// Resize to the given size of the region (x, y, w, h) only.
ImageBuffer resizedCropExact(const ImageBuffer &image, int x, int y, int w, int h, int width, int height);
/// InvalidDatasetError naming `name` and both sizes when a crop is larger than the image.
Result<ImageBuffer> applyTransforms(ImageBuffer image, const TransformList &list, SampleRandom &random,
                                    const std::string &name);

/// What one thread keeps between pictures.
struct TransformScratch
{
    std::array<std::vector<std::uint8_t>, 2> stages; ///< results of operations, in turn
    std::vector<std::uint8_t> columns, transposed, rows;
    std::vector<int> bounds, coefficients;
    std::vector<double> weights;
    int turn = 0;
};
/// As applyTransforms() on pixels of 1 or 3 channels, bit-equal for gray pictures. The result
/// points into `image` or `scratch`.
Result<PixelView> transformView(const PixelView &image, const TransformList &list, SampleRandom &random,
                                const std::string &name, TransformScratch &scratch);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/data/imagebuffer.h"
#include "core/data/philox.h"
#include "core/data/pixelstep.h"

#include <QJsonArray>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tw {

/// One image operation; `kind` decides which fields count. Semantics are torchvision's on PIL
/// images. The order of the kinds is the order in which Init Image Transformation lists them.
struct TransformOp
{
    enum class Kind {
        Resize,
        CenterCrop,
        Pad,
        ColorJitter,
        Grayscale,
        RandomResizedCrop,
        RandomCrop,
        RandomHorizontalFlip,
        RandomVerticalFlip,
        RandomRotation,
        RandomAffine,
        RandomGrayscale,
        RandomPerspective,
        TrivialAugment,
        RandAugment,
        RandomErasing ///< acts on the normalised floats (randomerasing.h); pixels pass unchanged
    };
    Kind kind = Kind::Resize;
    int size = 0;   ///< Resize: shorter edge; crops: edge of the square; Pad: border
    double p = 0.5; ///< chance of flips, RandomGrayscale, RandomPerspective, RandomErasing
    /// RandomResizedCrop, RandomErasing: share of the area; RandomAffine: scale, > 0
    double scaleLow = 0.08, scaleHigh = 1.0;
    double ratioLow = 0.75, ratioHigh = 4.0 / 3.0;                ///< RandomResizedCrop, RandomErasing
    double degrees = 0;                                           ///< RandomRotation, RandomAffine: ±, 0 to 180
    double translate = 0;                                         ///< RandomAffine: ± share of each edge, 0 to 1
    double shear = 0;                                             ///< RandomAffine: ± degrees along x, 0 to below 90
    double distortion = 0;                                        ///< RandomPerspective: 0 to 1
    double brightness = 0, contrast = 0, saturation = 0, hue = 0; ///< ColorJitter; hue 0 to 0.5
    int numOps = 2, magnitude = 9;                                ///< RandAugment; magnitude 0 to 30
    Interpolation interpolation = Interpolation::Bilinear;        ///< Resize, RandomResizedCrop
    bool operator==(const TransformOp &) const = default;
};
using TransformList = std::vector<TransformOp>;
// Upper ends that machines set.
constexpr int LargestTransformEdge = 65'535;     ///< sizes and borders
constexpr double LargestTransformFactor = 1'000; ///< ratios, scales, brightness, contrast, saturation
constexpr int LargestAugmentCount = 100;         ///< operations of RandAugment

/// An operation with the values that Init Image Transformation gives it.
TransformOp defaultOp(TransformOp::Kind kind);
bool isRandom(const TransformOp &op);
/// The list without its random operations (For inference).
TransformList forInference(const TransformList &list);
/// [{"op":"resize","size":256}, …]; "interpolation" stands there where it is not bilinear.
QJsonArray transformsToJson(const TransformList &list);
/// InvalidTransformationDirectoryError: unknown op, missing or out-of-range argument, random
/// erasing before the end; with its place.
Result<TransformList> transformsFromJson(const QJsonArray &json);
/// Size of what comes out, when it does not depend on the image (a crop comes last).
std::optional<std::pair<int, int>> fixedOutputSize(const TransformList &list);
/// Whether no crop of the list can be larger than what reaches it, whatever the image.
bool fitsEveryImage(const TransformList &list);
/// Width and height of what comes out of an image of this size. InvalidDatasetError as
/// applyTransforms().
Result<std::pair<int, int>> outputSize(const TransformList &list, int width, int height, const std::string &name);

/// Exact path: Pillow's 8-bit antialiased BILINEAR or BICUBIC bit for bit (fixed-point coefficients,
/// horizontal pass first, each pass rounded). Any size from 1×1 up.
ImageBuffer resizeExact(const ImageBuffer &image, int width, int height,
                        Interpolation interpolation = Interpolation::Bilinear);
/// Resize to the given size of the region (x, y, w, h) only.
ImageBuffer resizedCropExact(const ImageBuffer &image, int x, int y, int w, int h, int width, int height,
                             Interpolation interpolation = Interpolation::Bilinear);
/// InvalidDatasetError naming `name` and both sizes when a crop is larger than the image, or when
/// more than 178,956,970 pixels would come out.
Result<ImageBuffer> applyTransforms(ImageBuffer image, const TransformList &list, SampleRandom &random,
                                    const std::string &name);

/// What resampleFast() keeps between pictures.
struct FastScratch
{
    std::vector<int> columnBounds, rowBounds;
    std::vector<float> columnWeights, rowWeights, line, result;
};

/// What one thread keeps between pictures.
struct TransformScratch
{
    std::array<std::vector<std::uint8_t>, 2> stages; ///< results of operations, in turn
    std::vector<std::uint8_t> columns, transposed, rows;
    std::vector<int> bounds, coefficients, coefficientPairs;
    std::vector<double> weights;
    FastScratch fast;
    std::vector<PixelStep> steps; ///< what transformView() drew last
    int turn = 0;
};
/// As applyTransforms() on pixels of 1 or 3 channels, bit-equal for gray pictures. The result
/// points into `image` or `scratch`. Random erasing draws from `random` after this.
Result<PixelView> transformView(const PixelView &image, const TransformList &list, SampleRandom &random,
                                const std::string &name, TransformScratch &scratch);

/// What the list comes down to for a picture of this size, appended to `steps`: the draws depend on
/// the size only, never on the pixels. Errors as applyTransforms().
Result<void> drawTransforms(const TransformList &list, int width, int height, SampleRandom &random,
                            const std::string &name, std::vector<PixelStep> &steps);
/// Carries out one step; the result points into `image` or `scratch`. The step fits the image.
PixelView applyStep(const PixelView &image, const PixelStep &step, TransformScratch &scratch);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/transforms.h"

namespace tw {

/// The operations that torchvision's TrivialAugmentWide and RandAugment draw from, in its order.
enum class AugmentKind {
    Identity,
    ShearX,
    ShearY,
    TranslateX,
    TranslateY,
    Rotate,
    Brightness,
    Color,
    Contrast,
    Sharpness,
    Posterize,
    Solarize,
    AutoContrast,
    Equalize
};
constexpr int AugmentKindCount = 14;
constexpr int MagnitudeBins = 31;

/// Magnitude of bin 0 to 30, evenly spaced, in float32 as torch.linspace; 0 where the operation has
/// none.
double trivialMagnitude(AugmentKind kind, int bin);
/// The same for RandAugment, whose translations go by the picture's size.
double randMagnitude(AugmentKind kind, int bin, int width, int height);
/// Whether the sign of the magnitude is drawn.
bool hasSign(AugmentKind kind);
/// Whether there is a magnitude at all.
bool hasMagnitude(AugmentKind kind);
/// What torchvision's _apply_op does; nothing for Identity.
std::optional<PixelStep> augmentStep(AugmentKind kind, double magnitude);

/// One operation, its bin and sign drawn uniformly.
void drawTrivialAugment(SampleRandom &random, std::vector<PixelStep> &steps);
/// op.numOps operations drawn uniformly, with repeats, all with magnitude bin op.magnitude.
void drawRandAugment(const TransformOp &op, int width, int height, SampleRandom &random, std::vector<PixelStep> &steps);

} // namespace tw

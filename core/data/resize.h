// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/transforms.h"

namespace tw {

/// Pillow's 8-bit antialiased BILINEAR of 1 or 3 channels. `out` holds width·height·channels bytes
/// and is none of the scratch's `columns`, `transposed`, `rows`.
void resizeView(const PixelView &image, int width, int height, TransformScratch &scratch, std::uint8_t *out);

} // namespace tw

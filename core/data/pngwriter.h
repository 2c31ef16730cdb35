// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/data/imagebuffer.h"

#include <vector>

namespace tw {

/// A PNG of 8 bits, gray for 1 channel, RGB for 3, into a buffer that keeps its memory.
/// std::bad_alloc; LibraryError with libpng's words.
Result<void> encodePng(const PixelView &image, std::vector<std::uint8_t> &bytes);
/// Encodes into `scratch` and writes a new file. FailedToWriteOutputsError naming the file; nothing
/// of it stays then.
Result<void> writePng(const fs::path &file, const PixelView &image, std::vector<std::uint8_t> &scratch);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/data/imagebuffer.h"

#include <cstdint>
#include <span>
#include <string>

namespace tw {

enum class ImageFormat { Unknown, Jpeg, Png, Bmp, Pnm, Tiff, WebP, Gif };

struct DecodeOptions
{
    /// More pixels than this are refused (decompression bomb). 0: no limit.
    std::int64_t maxPixels = 178'956'970;
};

struct ImageHeader
{
    ImageFormat format = ImageFormat::Unknown;
    int width = 0; ///< after orientation
    int height = 0;
};

/// By content, never by suffix.
ImageFormat detectFormat(std::span<const std::uint8_t> bytes);
QString imageFormatName(ImageFormat format);
/// Size and format from the header alone. InvalidImageError as decodeImage().
Result<ImageHeader> readImageHeader(std::span<const std::uint8_t> bytes, const std::string &name,
                                    const DecodeOptions &options = {});
/// What PIL's convert("RGB") gives after EXIF orientation: gray, palette, alpha (dropped),
/// CMYK/YCCK; 16 bit is scaled by (v + 128) / 257. Any thread. InvalidImageError naming `name` and
/// the reason: empty, truncated (data end before the last row of the last scan or before EOI),
/// unknown or unsupported format, too many pixels, broken.
Result<ImageBuffer> decodeImage(std::span<const std::uint8_t> bytes, const std::string &name,
                                const DecodeOptions &options = {});
/// As decodeImage(), into a buffer that keeps its memory from picture to picture. `image` is
/// unspecified after an error.
Result<void> decodeImageInto(std::span<const std::uint8_t> bytes, const std::string &name, const DecodeOptions &options,
                             ImageBuffer &image);

} // namespace tw

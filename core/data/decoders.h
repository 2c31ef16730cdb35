// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/decode.h"

namespace tw {

using Bytes = std::span<const std::uint8_t>;

/// What a decoder gives beside the pixels: they are as stored, `orientation` (EXIF, 1–8) still to
/// do.
struct StoredPicture
{
    int width = 0;
    int height = 0;
    int orientation = 1;
};

/// With `image` nullptr the header alone is read. InvalidImageError naming `name`.
Result<StoredPicture> decodeJpeg(Bytes bytes, const std::string &name, const DecodeOptions &options,
                                 ImageBuffer *image);
Result<StoredPicture> decodePng(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image);
Result<StoredPicture> decodePnm(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image);
Result<StoredPicture> decodeBmp(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image);
/// The first page. Float, signed and more than 16-bit samples are refused.
Result<StoredPicture> decodeTiff(Bytes bytes, const std::string &name, const DecodeOptions &options,
                                 ImageBuffer *image);
/// The first frame of an animation, on a black canvas.
Result<StoredPicture> decodeWebP(Bytes bytes, const std::string &name, const DecodeOptions &options,
                                 ImageBuffer *image);
/// The first frame, on a canvas of the transparent index or of index 0 that holds the screen and the frame.
Result<StoredPicture> decodeGif(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image);

/// InvalidImageError with a reason that ends a sentence ("it is cut short").
Error imageError(const std::string &name, const QString &reason);
/// Refuses sizes of 0 and more pixels than allowed, before memory is taken.
Result<void> checkSize(const std::string &name, std::int64_t width, std::int64_t height, const DecodeOptions &options);
void setSize(ImageBuffer &image, int width, int height);

/// Orientation (1–8) of a TIFF structure as EXIF holds it; 1 when it is broken or says nothing.
int exifOrientation(Bytes tiff);
/// Turns and mirrors the stored pixels. `scratch`-free for 1.
void applyOrientation(ImageBuffer &image, int orientation);
/// Size of a stored picture after its orientation.
ImageSize orientedSize(ImageSize stored, int orientation);
/// Where a region of the turned picture lies in the stored one.
PixelRegion storedRegion(const PixelRegion &region, ImageSize stored, int orientation);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/decoders.h"

#include <memory>

namespace tw {

/// What is wanted of a JPEG picture, in the pixels as stored.
struct JpegRegion
{
    /// The picture is decoded at 1/reduce of its size (1, 2, 4 or 8; each side rounded up) by the
    /// inverse DCT itself, which averages as it goes.
    int reduce = 1;
    PixelRegion region; ///< in reduced pixels
    /// Read on to the end of the file, so that one that is cut short is noticed below the region.
    bool toTheEnd = true;
};

/// Size of a picture decoded at 1/reduce.
inline ImageSize reducedSize(ImageSize size, int reduce)
{
    return {(size.width + reduce - 1) / reduce, (size.height + reduce - 1) / reduce};
}

/// One JPEG picture after another, with what libjpeg keeps between them. One thread.
class JpegDecoder
{
public:
    JpegDecoder();
    ~JpegDecoder();
    JpegDecoder(const JpegDecoder &) = delete;
    JpegDecoder &operator=(const JpegDecoder &) = delete;

    /// Reads the header. `bytes` and `name` must stay until decode() has returned. InvalidImageError
    /// as decodeImage().
    Result<StoredPicture> open(Bytes bytes, const std::string &name, const DecodeOptions &options);
    /// After open(), once. The pixels of the region are those of a whole decoding, bit for bit; the
    /// view points into `image`. InvalidImageError.
    Result<PixelView> decode(const JpegRegion &wanted, ImageBuffer &image);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace tw

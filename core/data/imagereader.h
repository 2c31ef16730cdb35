// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/decode.h"
#include "core/data/imagemanifest.h"
#include "core/data/picturebytes.h"

#include <memory>
#include <vector>

namespace tw {

class JpegDecoder;

/// What one thread keeps between pictures, so that reading allocates nothing once warm.
struct ReadScratch
{
    ReadScratch();
    ~ReadScratch();
    ReadScratch(const ReadScratch &) = delete;
    ReadScratch &operator=(const ReadScratch &) = delete;

    std::vector<std::uint8_t> file;
    std::string name; ///< of the picture in hand
    ImageBuffer image;
    std::unique_ptr<JpegDecoder> jpeg;
    ImageSize stored;             ///< size of the picture in hand, as stored
    int orientation = 1;          ///< what is still to do to it, EXIF's 1 to 8
    bool isHeaderOnly = false;    ///< its pixels are still to be decoded
    std::int64_t bytesRead = 0;   ///< sum over all reads
    PixelView held;               ///< of a cached reader: the picture in hand
    TransformScratch kept;        ///< of a cached reader's own operations
    bool transformFailed = false; ///< the last error was theirs, not the picture's
};

/// A part of a picture, decoded at 1/reduce of its size.
struct RegionPixels
{
    PixelView view;
    /// 1: `view` is the region. Else it holds the reduced pixels that the region touches: columns
    /// from x / reduce (cut) to (x + width) / reduce (rounded up), rows likewise.
    int reduce = 1;
};

/// Gives decoded pictures of a manifest by index. One instance is used by many threads at once, each
/// with a scratch of its own.
class ImageReader
{
public:
    virtual ~ImageReader() = default;
    /// Takes a picture in hand: its size after orientation. InvalidImageError naming the image.
    virtual Result<ImageSize> begin(std::size_t index, ReadScratch &scratch) const = 0;
    /// After begin(), once: the pixels of a region, the same as those of the whole picture. With
    /// `reduce` 2, 4 or 8 a reader that can do so quickly may give them smaller, averaged over
    /// reduce × reduce. The view ends with the next call with the same scratch. Storage that holds
    /// gray pictures gives one channel. InvalidImageError, also for a fault outside the region
    /// unless the picture is known to be whole.
    virtual Result<RegionPixels> pixels(std::size_t index, const PixelRegion &region, int reduce,
                                        ReadScratch &scratch) const = 0;
    /// The whole picture in one step.
    Result<PixelView> view(std::size_t index, ReadScratch &scratch) const;
    /// A copy of it.
    Result<ImageBuffer> read(std::size_t index) const;
    /// Opens the storage behind the manifest (IDX files are held in memory, shared between readers
    /// of the same file; a compressed tar is unpacked to manifest.unpacked where it is not there).
    /// InvalidDatasetError when it is gone or broken.
    static Result<std::unique_ptr<ImageReader>> open(ManifestPtr manifest, const DecodeOptions &options = {});
};

} // namespace tw

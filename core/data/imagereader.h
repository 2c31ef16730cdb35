// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/decode.h"
#include "core/data/imagemanifest.h"
#include "core/data/picturebytes.h"

#include <memory>
#include <vector>

namespace tw {

/// What one thread keeps between pictures, so that reading allocates nothing once warm.
struct ReadScratch
{
    std::vector<std::uint8_t> file;
    ImageBuffer image;
    std::int64_t bytesRead = 0;   ///< sum over all reads
    TransformScratch kept;        ///< of a cached reader's own operations
    bool transformFailed = false; ///< the last error was theirs, not the picture's
};

/// Gives decoded pictures of a manifest by index. One instance is used by many threads at once.
class ImageReader
{
public:
    virtual ~ImageReader() = default;
    /// InvalidImageError naming the image.
    Result<ImageBuffer> read(std::size_t index) const;
    /// As read(), without a copy: the view ends with the next call with the same scratch. Storage
    /// that holds gray pictures gives one channel.
    virtual Result<PixelView> view(std::size_t index, ReadScratch &scratch) const = 0;
    /// Opens the storage behind the manifest (IDX files are held in memory, shared between readers
    /// of the same file; a compressed tar is unpacked to manifest.unpacked where it is not there).
    /// InvalidDatasetError when it is gone or broken.
    static Result<std::unique_ptr<ImageReader>> open(ManifestPtr manifest, const DecodeOptions &options = {});
};

} // namespace tw

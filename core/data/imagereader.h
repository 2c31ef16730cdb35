// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/decode.h"
#include "core/data/imagemanifest.h"

#include <memory>

namespace tw {

/// Gives decoded pictures of a manifest by index. One instance is used by many threads at once.
class ImageReader
{
public:
    virtual ~ImageReader() = default;
    /// InvalidImageError naming the image.
    virtual Result<ImageBuffer> read(std::size_t index) const = 0;
    /// Opens the storage behind the manifest (IDX files are held in memory, shared between readers
    /// of the same file). InvalidDatasetError when it is gone or broken.
    static Result<std::unique_ptr<ImageReader>> open(ManifestPtr manifest, const DecodeOptions &options = {});
};

} // namespace tw

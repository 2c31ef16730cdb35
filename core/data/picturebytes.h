// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/decode.h"
#include "core/data/imagemanifest.h"

#include <memory>
#include <vector>

namespace tw {

/// Encoded pictures of a manifest of files or archive members, by index. Many threads at once.
class PictureBytes
{
public:
    virtual ~PictureBytes() = default;
    /// The whole picture, into a buffer that keeps its memory. InvalidImageError naming it;
    /// InvalidDatasetError: its archive is not what it says.
    virtual Result<void> read(std::size_t index, std::vector<std::uint8_t> &bytes) const = 0;
    /// Size and format, of the first bytes where these are enough. Errors as read().
    virtual Result<ImageHeader> header(std::size_t index, std::vector<std::uint8_t> &bytes) const = 0;
    /// `manifest` must outlive this. InvalidDatasetError: folder or archive are gone or broken, or a
    /// member is not in the archive. Not for IDX.
    static Result<std::unique_ptr<PictureBytes>> open(const ImageManifest &manifest, const StopToken *stop = nullptr);
};

/// A regular file's bytes into a buffer that keeps its memory. InvalidImageError naming the path.
Result<void> readPictureFile(const std::string &path, std::vector<std::uint8_t> &bytes);
/// Size and format, of the file's first bytes where these are enough. InvalidImageError.
Result<ImageHeader> readPictureHeader(const std::string &path, std::vector<std::uint8_t> &bytes);

} // namespace tw

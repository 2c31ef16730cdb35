// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/imagemanifest.h"

#include <array>
#include <optional>

namespace tw {

/// What an encoded picture is known by: the hash of its bytes, or of where it lies and since when.
using PictureKey = std::array<std::uint8_t, ImageManifest::KeyBytes>;

/// Keys of a manifest's pictures as they are on disk now. Any thread.
class PictureKeys
{
public:
    /// `manifest` must outlive this.
    explicit PictureKeys(const ImageManifest &manifest);
    /// One look at the file (none for members of an archive). The manifest's content key holds as long
    /// as size and modification time are the manifest's; else path, size, time and inode are the key.
    /// Nothing when the file is not there.
    std::optional<PictureKey> of(std::size_t index) const;

private:
    const ImageManifest &m_manifest;
    std::string m_base; ///< of a relative root
    bool m_isArchive;
    bool m_isThere = true;
    std::int64_t m_bytes = 0, m_mtimeNs = 0, m_inode = 0; ///< of the archive
};

} // namespace tw

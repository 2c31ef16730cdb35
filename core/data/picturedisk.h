// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/picturefile.h"

namespace tw {

/// The files of decoded pictures of one plan, <workspace>/cache/decoded/<plan>-<random>.pictures:
/// pictures are served from all of them and added to one that is mostly of this set, or to a new one.
/// So runs with partly the same pictures share them, sets go by themselves when the limit is
/// reached, and two programs that fill the same set write to files of their own.
class PictureDisk
{
public:
    struct Found
    {
        const std::uint8_t *pixels = nullptr; ///< 64-byte aligned, valid as long as this
        std::uint32_t width = 0, height = 0;
        std::uint64_t pixelSum = 0;
    };
    using TakeFound = std::function<void(std::size_t index, const Found &found)>;

    /// `keys` of the set's pictures by index (nothing: never kept). What the files hold goes to `take`.
    PictureDisk(fs::path cacheFolder, QByteArray plan, std::vector<std::optional<PictureKey>> keys, std::int64_t limit,
                const TakeFound &take);

    const std::optional<PictureKey> &key(std::size_t index) const { return m_keys[index]; }
    /// The pixels as they are kept; null with a reason when they are not. Any thread.
    const std::uint8_t *keep(std::size_t index, const PixelView &view, QString &reason);

private:
    std::vector<fs::path> candidates() const;
    void lookUp(const TakeFound &take);
    QString makeWriter();
    QString askForRoom(std::int64_t more) const;

    fs::path m_cacheFolder;
    QByteArray m_plan;
    std::vector<std::optional<PictureKey>> m_keys;
    std::int64_t m_limit;
    std::size_t m_found = 0;
    std::vector<std::unique_ptr<PictureFile>> m_files;
    std::mutex m_mutex; ///< of m_writer's making
    PictureFile *m_writer = nullptr;
};

} // namespace tw

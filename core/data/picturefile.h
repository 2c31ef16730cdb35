// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/data/imagebuffer.h"
#include "core/data/picturekeys.h"

#include <QString>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tw {

/// Finds accidental damage, 64 bits; any alignment.
std::uint64_t quickSum(const std::uint8_t *bytes, std::size_t count, std::uint64_t seed);

/// A file of decoded pictures, mapped into memory: a header, an index of fixed room, then RGB pixels
/// without row padding at multiples of 64 bytes. It is only ever added to, by one writer at a time: pixels
/// first, then the entry that names them, so that what an entry names is whole whenever the program
/// ends, and a damaged entry or pixel is seen by its sum. Pixels are written, never stored through
/// the map, so a full disk is an error and no signal. The file stays valid for those who have it open
/// when it is removed.
class PictureFile
{
public:
    /// As it lies in the file, in the machine's byte order.
    struct Entry
    {
        PictureKey key{};
        std::uint32_t width = 0, height = 0;
        std::uint64_t offset = 0;   ///< of the pixels, from the start of the file
        std::uint64_t pixelSum = 0; ///< quickSum() of the pixels, seed 0
        std::uint64_t entrySum = 0; ///< of the fields above
        std::size_t bytes() const { return std::size_t(width) * height * 3; }
    };
    /// Asked for room before the file grows: bytes more on disk. Returns a reason when there is none.
    using AskForRoom = std::function<QString(std::int64_t more)>;

    /// An existing file whose header names `plan` (32 bytes), in use from now on. Null when it is gone, foreign, of
    /// another version or damaged; then it is removed unless somebody uses it.
    static std::unique_ptr<PictureFile> open(const fs::path &file, const QByteArray &plan);
    /// A new file with room for `capacity` entries, ready for append(); null with the system's reason.
    static std::unique_ptr<PictureFile> create(const fs::path &file, const QByteArray &plan, std::size_t capacity,
                                               QString &reason);
    ~PictureFile();
    PictureFile(const PictureFile &) = delete;
    PictureFile &operator=(const PictureFile &) = delete;

    /// The sound entries at the time of open(), until becomeWriter() or forgetEntries().
    const std::vector<Entry> &entries() const { return m_entries; }
    void forgetEntries() { m_entries = {}; }
    /// Pixels of one of entries(); whether they are those that were written is for the caller to check.
    const std::uint8_t *pixels(const Entry &entry) const { return m_map + entry.offset; }
    /// This process may append(). False when another one does, the file may not be written, or the index is full.
    bool becomeWriter();
    /// Writes the picture (3 channels) and its entry; returns its pixels in the map, 64-byte aligned.
    /// Null with a reason when it was not kept; none will be from then on. Any thread, after create() or
    /// becomeWriter().
    const std::uint8_t *append(const PictureKey &key, const PixelView &view, const AskForRoom &ask, QString &reason);

private:
    explicit PictureFile(int descriptor) : m_descriptor(descriptor) {}
    bool readHeader(const QByteArray &plan);
    bool readIndex();
    bool mapAll();
    bool lockForWriting() const;
    QString grow(std::int64_t more, const AskForRoom &ask);
    const std::uint8_t *reserve(std::size_t bytes, const AskForRoom &ask, std::uint64_t &offset, QString &reason);
    bool commit(Entry entry);

    struct Segment
    {
        std::uint8_t *data;
        std::uint64_t offset, length;
    };

    int m_descriptor;
    bool m_isWriter = false;
    std::uint64_t m_seed = 0; ///< of entry sums: entries of another plan are not sound
    std::size_t m_capacity = 0;
    std::vector<Entry> m_entries;
    const std::uint8_t *m_map = nullptr;
    std::uint64_t m_mapped = 0; ///< length of m_map
    std::uint64_t m_size = 0;   ///< of the file when it was last looked at

    std::mutex m_mutex;
    bool m_isFull = false;
    std::size_t m_count = 0;     ///< places of the index that are taken
    std::size_t m_places = 0;    ///< the same with pictures that are being written
    std::uint64_t m_end = 0;     ///< of the pixels
    std::uint64_t m_granted = 0; ///< room on disk up to here
    std::vector<Segment> m_segments;
};

} // namespace tw

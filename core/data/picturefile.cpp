// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/picturefile.h"

#include "core/data/cachefolder.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

namespace {

constexpr char fileMagic[8] = {'T', 'W', 'P', 'I', 'C', 'T', 'S', '\n'};
constexpr std::uint32_t fileVersion = 1;
constexpr std::uint32_t byteOrder = 0x01020304;
constexpr std::size_t pageBytes = 4096;
constexpr std::size_t pixelAlignment = 64;
constexpr std::size_t indexPart = 8192; // entries read at once
constexpr std::uint64_t growthStep = std::uint64_t(64) << 20;
constexpr std::uint64_t segmentBytes = std::uint64_t(256) << 20;
constexpr std::size_t largestCapacity = std::size_t(1) << 32;
constexpr std::uint64_t largestPixels = 1 << 20; // edge of a picture that is believed

struct Header
{
    char magic[8];
    std::uint32_t version, order;
    std::uint8_t plan[32];
    std::uint64_t capacity;
    std::uint64_t sum; // of the fields above
};
static_assert(sizeof(PictureFile::Entry) == 64 && sizeof(Header) == 64);

std::uint64_t roundedUp(std::uint64_t value, std::uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

std::uint64_t pixelStart(std::size_t capacity)
{
    return pageBytes + roundedUp(std::uint64_t(capacity) * sizeof(PictureFile::Entry), pageBytes);
}

const std::uint8_t *bytesOf(const void *object)
{
    return static_cast<const std::uint8_t *>(object);
}

std::uint64_t sumOf(const Header &header)
{
    return quickSum(bytesOf(&header), offsetof(Header, sum), 0);
}

std::uint64_t sumOf(const PictureFile::Entry &entry, std::uint64_t seed)
{
    return quickSum(bytesOf(&entry), offsetof(PictureFile::Entry, entrySum), seed);
}

bool readAll(int descriptor, void *to, std::size_t bytes, std::uint64_t offset)
{
    auto *at = static_cast<char *>(to);
    while (bytes > 0) {
        const ssize_t got = ::pread(descriptor, at, bytes, off_t(offset));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        bytes -= std::size_t(got);
        offset += std::uint64_t(got);
    }
    return true;
}

bool writeAll(int descriptor, const void *from, std::size_t bytes, std::uint64_t offset)
{
    const auto *at = static_cast<const char *>(from);
    while (bytes > 0) {
        const ssize_t wrote = ::pwrite(descriptor, at, bytes, off_t(offset));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        at += wrote;
        bytes -= std::size_t(wrote);
        offset += std::uint64_t(wrote);
    }
    return true;
}

/// Beyond this the system would send a signal, not only an error.
std::uint64_t largestFile()
{
    struct rlimit limit = {};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? std::uint64_t(limit.rlim_cur) : RLIM_INFINITY;
}

QString systemReason()
{
    return QString::fromLocal8Bit(std::strerror(errno));
}

void removeIfUnused(const fs::path &file, int descriptor)
{
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        ::unlink(file.c_str());
}

} // namespace

std::uint64_t quickSum(const std::uint8_t *bytes, std::size_t count, std::uint64_t seed)
{
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15, other = 0xd6e8feb86659fd93;
    std::uint64_t lanes[4] = {seed + odd, seed ^ other, seed - odd, ~seed};
    const auto mix = [](std::uint64_t lane, std::uint64_t word) { return std::rotl((lane ^ word) * odd, 29) + word; };
    std::size_t i = 0;
    for (std::uint64_t words[4]; i + sizeof words <= count; i += sizeof words) {
        std::memcpy(words, bytes + i, sizeof words);
        for (std::size_t lane = 0; lane < 4; ++lane)
            lanes[lane] = mix(lanes[lane], words[lane]);
    }
    std::uint64_t sum = seed ^ (std::uint64_t(count) * other);
    for (const std::uint64_t lane : lanes)
        sum = mix(sum, lane);
    for (; i < count; ++i)
        sum = mix(sum, bytes[i] + odd);
    sum = (sum ^ (sum >> 32)) * other;
    return sum ^ (sum >> 29);
}

PictureFile::~PictureFile()
{
    for (const Segment &segment : m_segments)
        ::munmap(segment.data, std::size_t(segment.length));
    if (m_map)
        ::munmap(const_cast<std::uint8_t *>(m_map), std::size_t(m_mapped));
    // What was granted and not used; the entries end before it.
    if (m_isWriter && ::ftruncate(m_descriptor, off_t(m_end)) != 0)
        m_isFull = true;
    ::close(m_descriptor);
}

std::unique_ptr<PictureFile> PictureFile::open(const fs::path &file, const QByteArray &plan)
{
    int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        return nullptr;
    std::unique_ptr<PictureFile> opened(new PictureFile(descriptor));
    if (!markUsed(descriptor))
        return nullptr;
    if (opened->readHeader(plan) && opened->readIndex() && opened->mapAll())
        return opened;
    removeIfUnused(file, descriptor);
    return nullptr;
}

std::unique_ptr<PictureFile> PictureFile::create(const fs::path &file, const QByteArray &plan, std::size_t capacity,
                                                 QString &reason)
{
    // Other programs may look at the folder at any moment: they find it with its header or not at all.
    const fs::path started = fs::path(file).concat(".new");
    const int descriptor = ::open(started.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (descriptor < 0) {
        reason = systemReason();
        return nullptr;
    }
    std::unique_ptr<PictureFile> made(new PictureFile(descriptor));
    Header header = {};
    std::memcpy(header.magic, fileMagic, sizeof fileMagic);
    header.version = fileVersion;
    header.order = byteOrder;
    std::memcpy(header.plan, plan.constData(), sizeof header.plan);
    header.capacity = capacity;
    header.sum = sumOf(header);
    if (!markUsed(descriptor) || !made->lockForWriting() || pixelStart(capacity) > largestFile()
        || ::ftruncate(descriptor, off_t(pixelStart(capacity))) != 0 || !writeAll(descriptor, &header, sizeof header, 0)
        || ::rename(started.c_str(), file.c_str()) != 0) {
        reason = systemReason();
        ::unlink(started.c_str());
        return nullptr;
    }
    made->m_seed = header.sum;
    made->m_capacity = capacity;
    made->m_end = made->m_granted = pixelStart(capacity);
    made->m_isWriter = true;
    return made;
}

bool PictureFile::readHeader(const QByteArray &plan)
{
    Header header;
    struct stat status = {};
    if (::fstat(m_descriptor, &status) != 0 || !S_ISREG(status.st_mode)
        || !readAll(m_descriptor, &header, sizeof header, 0))
        return false;
    m_size = std::uint64_t(status.st_size);
    m_capacity = std::size_t(header.capacity);
    m_seed = header.sum;
    return std::memcmp(header.magic, fileMagic, sizeof fileMagic) == 0 && header.version == fileVersion
           && header.order == byteOrder && header.sum == sumOf(header)
           && std::memcmp(header.plan, plan.constData(), sizeof header.plan) == 0 && m_capacity <= largestCapacity
           && pixelStart(m_capacity) <= m_size;
}

/// The index is read, not mapped: reading a hole through a map may need room on some file systems.
bool PictureFile::readIndex()
{
    const std::uint64_t start = pixelStart(m_capacity);
    m_entries.clear();
    m_count = 0;
    m_end = start;
    std::vector<Entry> part;
    for (std::size_t first = 0; first < m_capacity; first += part.size()) {
        part.resize(std::min(indexPart, m_capacity - first));
        if (!readAll(m_descriptor, part.data(), part.size() * sizeof(Entry), pageBytes + first * sizeof(Entry)))
            return false;
        const std::size_t taken = m_count;
        for (std::size_t i = 0; i < part.size(); ++i) {
            const Entry &entry = part[i];
            if (entry.entrySum != 0 || entry.offset != 0)
                m_count = first + i + 1;
            const bool isSound = entry.entrySum == sumOf(entry, m_seed) && entry.width > 0 && entry.height > 0
                                 && entry.width <= largestPixels && entry.height <= largestPixels
                                 && entry.offset >= start && entry.offset % pixelAlignment == 0
                                 && entry.bytes() <= m_size && entry.offset <= m_size - entry.bytes();
            if (!isSound)
                continue;
            m_entries.push_back(entry);
            m_end = std::max(m_end, entry.offset + entry.bytes());
        }
        if (m_count == taken)
            break; // places are taken in order
    }
    m_granted = m_end;
    m_places = m_count;
    return true;
}

bool PictureFile::mapAll()
{
    void *map = ::mmap(nullptr, std::size_t(m_size), PROT_READ, MAP_SHARED, m_descriptor, 0);
    m_mapped = m_size;
    m_map = map == MAP_FAILED ? nullptr : static_cast<const std::uint8_t *>(map);
    return m_map != nullptr;
}

/// Held by the open file, not by the process: two caches of one program are two writers, too.
bool PictureFile::lockForWriting() const
{
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    return ::fcntl(m_descriptor, F_OFD_SETLK, &lock) == 0;
}

bool PictureFile::becomeWriter()
{
    if (m_isWriter)
        return true;
    if (m_count >= m_capacity || !lockForWriting())
        return false;
    // Someone may have added pictures since.
    struct stat status = {};
    if (::fstat(m_descriptor, &status) != 0)
        return false;
    m_size = std::uint64_t(status.st_size);
    m_isWriter = readIndex() && m_count < m_capacity;
    forgetEntries();
    return m_isWriter;
}

QString PictureFile::grow(std::int64_t more, const AskForRoom &ask)
{
    const std::uint64_t wanted = m_granted + std::uint64_t(more);
    if (wanted > largestFile())
        return QStringLiteral("the file would be longer than the system allows");
    if (QString reason = ask(more); !reason.isEmpty())
        return reason;
    const int failed = ::fallocate(m_descriptor, FALLOC_FL_KEEP_SIZE, off_t(m_granted), off_t(more)) == 0 ? 0 : errno;
    // Where the file system cannot set room aside, writing says when it is full.
    if (failed != 0 && failed != EOPNOTSUPP && failed != ENOSYS && failed != EINVAL)
        return QString::fromLocal8Bit(std::strerror(failed));
    m_granted = wanted;
    return {};
}

/// Under the lock: room in the file and in the map.
const std::uint8_t *PictureFile::reserve(std::size_t bytes, const AskForRoom &ask, std::uint64_t &offset,
                                         QString &reason)
{
    if (m_isFull)
        return nullptr;
    offset = roundedUp(m_end, pixelAlignment);
    const std::uint64_t end = offset + bytes;
    if (m_places >= m_capacity)
        reason = QStringLiteral("the file's index is full");
    else if (end > m_granted && !grow(std::int64_t(std::max(end - m_granted, growthStep)), ask).isEmpty())
        reason = grow(std::int64_t(end - m_granted), ask);
    if (reason.isEmpty() && (m_segments.empty() || end > m_segments.back().offset + m_segments.back().length)) {
        const std::uint64_t first = offset / pageBytes * pageBytes;
        const std::uint64_t length = std::max(segmentBytes, roundedUp(end - first, pageBytes));
        void *map = ::mmap(nullptr, std::size_t(length), PROT_READ, MAP_SHARED, m_descriptor, off_t(first));
        if (map == MAP_FAILED)
            reason = systemReason();
        else
            m_segments.push_back({static_cast<std::uint8_t *>(map), first, length});
    }
    m_isFull = !reason.isEmpty();
    if (m_isFull)
        return nullptr;
    m_end = end;
    ++m_places;
    return m_segments.back().data + (offset - m_segments.back().offset);
}

bool PictureFile::commit(Entry entry)
{
    entry.entrySum = sumOf(entry, m_seed);
    const std::lock_guard lock(m_mutex);
    if (!writeAll(m_descriptor, &entry, sizeof entry, pageBytes + m_count * sizeof(Entry)))
        return false;
    ++m_count;
    return true;
}

const std::uint8_t *PictureFile::append(const PictureKey &key, const PixelView &view, const AskForRoom &ask,
                                        QString &reason)
{
    std::vector<std::uint8_t> packed;
    const std::uint8_t *from = view.data;
    if (view.stride != view.rowBytes()) {
        packed.reserve(view.rowBytes() * std::size_t(view.height));
        for (int y = 0; y < view.height; ++y)
            packed.insert(packed.end(), view.row(y), view.row(y) + view.rowBytes());
        from = packed.data();
    }
    Entry entry;
    entry.key = key;
    entry.width = std::uint32_t(view.width);
    entry.height = std::uint32_t(view.height);
    entry.pixelSum = quickSum(from, entry.bytes(), 0);
    const std::uint8_t *place = nullptr;
    {
        const std::lock_guard lock(m_mutex);
        place = reserve(entry.bytes(), ask, entry.offset, reason);
    }
    if (!place)
        return nullptr;
    if (writeAll(m_descriptor, from, entry.bytes(), entry.offset) && commit(entry)) {
#ifdef MADV_POPULATE_READ
        // Now, so that the first hit does not pay for the map's pages.
        const auto first = reinterpret_cast<std::uintptr_t>(place) / pageBytes * pageBytes;
        const auto end = reinterpret_cast<std::uintptr_t>(place) + entry.bytes();
        ::madvise(reinterpret_cast<void *>(first), std::size_t(end - first), MADV_POPULATE_READ);
#endif
        return place;
    }
    reason = systemReason();
    const std::lock_guard lock(m_mutex);
    m_isFull = true;
    return nullptr;
}

} // namespace tw

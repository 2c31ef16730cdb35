// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/zipreader.h"

#include "core/model/weightschecks.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace tw {

namespace {

constexpr std::uint64_t maxMembers = 200'000;
constexpr std::size_t maxNameBytes = std::size_t(32) << 20;

bool crcFits(const ZipMember &member, std::uint32_t expected)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return static_cast<void>(member), static_cast<void>(expected), true;
#else
    std::uint32_t crc = 0;
    forEachPiece(member.bytes, member.mapped, [&](std::span<const std::byte> piece) {
        crc = libdeflate_crc32(crc, piece.data(), piece.size());
        return true;
    });
    return crc == expected;
#endif
}

/// None: the record's own header is not there, or the file ends inside it.
std::optional<std::span<const std::byte>> packedBytes(std::span<const std::byte> file, const ZipEntry &entry)
{
    if (entry.offset > file.size())
        return {};
    const auto rest = file.subspan(entry.offset);
    const std::string_view local(reinterpret_cast<const char *>(rest.data()), std::min(rest.size(), zipLocalBytes));
    const auto before = zipDataOffset(local, entry.method, entry.nameBytes);
    if (!before || *before > rest.size() || entry.packed > rest.size() - *before)
        return {};
    return rest.subspan(*before, entry.packed);
}

/// Unpacks deflate piece by piece, so that a compressed file takes no memory beside what it holds.
class Inflater
{
public:
    Inflater() { m_ready = inflateInit2(&m_stream, -MAX_WBITS) == Z_OK; }
    ~Inflater() { inflateEnd(&m_stream); }
    Inflater(const Inflater &) = delete;
    Inflater &operator=(const Inflater &) = delete;
    /// Whether `packed` gives exactly as many bytes as `to` takes.
    bool run(std::span<const std::byte> packed, std::span<std::byte> to)
    {
        int state = m_ready ? Z_OK : Z_MEM_ERROR;
        forEachPiece(packed, true, [&](std::span<const std::byte> piece) {
            m_stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(piece.data()));
            m_stream.avail_in = static_cast<uInt>(piece.size());
            while (state == Z_OK && (m_stream.avail_in > 0 || (m_stream.avail_out == 0 && !to.empty())))
                state = step(to);
            return state == Z_OK;
        });
        return state == Z_STREAM_END && to.empty();
    }

private:
    /// Takes what was written off the front of `to`.
    int step(std::span<std::byte> &to)
    {
        const auto room = static_cast<uInt>(std::min<std::size_t>(to.size(), std::numeric_limits<uInt>::max()));
        Bytef none = 0; // zlib wants a place even for no byte
        m_stream.next_out = room == 0 ? &none : reinterpret_cast<Bytef *>(to.data());
        m_stream.avail_out = room;
        const int state = inflate(&m_stream, Z_NO_FLUSH);
        to = to.subspan(room - m_stream.avail_out);
        return state;
    }

    z_stream m_stream = {};
    bool m_ready = false;
};

} // namespace

Error ZipReader::damaged(const std::string &name) const
{
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "%1 is damaged: its zip record '%2' cannot be read."),
                     {displayPath(m_file), QString::fromStdString(name)},
                     QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
}

Result<std::unique_ptr<ZipReader>> ZipReader::open(const fs::path &file)
{
    std::unique_ptr<ZipReader> reader(new ZipReader(file));
    TW_ASSIGN(mapping, MappedFile::open(file));
    reader->m_mapping = mapping;
    const auto whole = mapping->bytes();
    const ZipBytes read = [whole](std::uint64_t at, std::span<std::byte> to) {
        if (at > whole.size() || to.size() > whole.size() - at)
            return false;
        std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(at), to.size(), to.begin());
        return true;
    };
    ZipList list;
    if (findZipList(whole.size(), read, list) != ZipFault::None || list.isPart)
        return makeError(
            errors::InvalidModelDirectory,
            QT_TRANSLATE_NOOP("Error", "%1 begins like a zip file but its list of contents is missing or damaged."),
            {displayPath(file)},
            QT_TRANSLATE_NOOP("Error", "The file was probably cut short: copy or download it again."));
    TW_TRY(reader->readEntries(list));
    return reader;
}

Result<void> ZipReader::readEntries(const ZipList &list)
{
    const std::span<const std::byte> bytes = m_mapping->bytes().subspan(list.begin, list.bytes);
    std::string_view rest(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    std::size_t nameBytes = 0;
    while (hasZipEntry(rest)) {
        std::optional<ZipEntry> entry = takeZipEntry(rest);
        if (!entry || m_entries.size() == maxMembers
            || __builtin_add_overflow(entry->offset, list.prefix, &entry->offset))
            return damaged("central directory");
        nameBytes += entry->name.size();
        if (nameBytes > maxNameBytes)
            return damaged("central directory");
        const auto [place, isNew] = m_entries.try_emplace(std::exchange(entry->name, {}), *entry);
        if (!isNew)
            return damaged(place->first);
    }
    if (!isZipCount(list, m_entries.size()))
        return damaged("central directory");
    return checkOverlaps();
}

/// Records that share bytes unpack to far more than the file could hold.
Result<void> ZipReader::checkOverlaps() const
{
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    places.reserve(m_entries.size());
    for (const auto &[name, entry] : m_entries)
        places.emplace_back(entry.offset, entry.packed);
    std::sort(places.begin(), places.end());
    for (std::size_t i = 1; i < places.size(); ++i) {
        if (places[i].first - places[i - 1].first < places[i - 1].second)
            return damaged("central directory");
    }
    return {};
}

std::vector<std::string> ZipReader::names() const
{
    std::vector<std::string> all;
    for (const auto &[name, entry] : m_entries)
        all.push_back(name);
    std::sort(all.begin(), all.end());
    return all;
}

std::size_t ZipReader::statedBytes(const std::string &name) const
{
    const auto found = m_entries.find(name);
    return found == m_entries.end() ? 0 : found->second.bytes;
}

Result<ZipMember> ZipReader::read(const std::string &name, std::size_t maxBytes)
{
    const auto found = m_entries.find(name);
    if (found == m_entries.end())
        return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "%1 lacks its zip record '%2'."),
                         {displayPath(m_file), QString::fromStdString(name)},
                         QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
    const ZipEntry &entry = found->second;
    const bool known = entry.method == 0 || entry.method == Z_DEFLATED;
    if (entry.bytes > maxBytes || entry.isEncrypted() || !known || !canHold(entry))
        return damaged(name);
    const auto packed = packedBytes(m_mapping->bytes(), entry);
    if (!packed)
        return damaged(name);
    Result<ZipMember> member = unpack(name, entry, *packed);
    if (member.ok() && !crcFits(*member, entry.crc))
        return damaged(name);
    return member;
}

Result<ZipMember> ZipReader::unpack(const std::string &name, const ZipEntry &entry, std::span<const std::byte> packed)
{
    if (entry.method == 0)
        return ZipMember{m_mapping, packed, true};
    TW_TRY(checkWeightsMemory(m_file, entry.bytes));
    // Not touched before it is written: what does not unpack takes none of it.
    const std::shared_ptr<std::byte[]> memory(new (std::nothrow) std::byte[entry.bytes]);
    const std::span<std::byte> room(memory.get(), memory ? entry.bytes : 0);
    if (room.size() != entry.bytes || !Inflater().run(packed, room))
        return damaged(name);
    return ZipMember{memory, room, false};
}

} // namespace tw

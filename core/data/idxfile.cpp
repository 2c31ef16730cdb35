// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/idxfile.h"

#include <QCoreApplication>

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include <sys/stat.h>

namespace tw {

namespace {

constexpr std::uint64_t LargestFile = std::uint64_t(1) << 36;

Error idxError(const fs::path &file, const QString &reason)
{
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "The IDX file \"%1\" cannot be read: %2."),
                     {displayPath(file), reason},
                     QT_TRANSLATE_NOOP("Error", "Fetch the file again, or check that it is the right one."));
}

std::uint32_t bigEndian(const std::uint8_t *bytes)
{
    return std::uint32_t(bytes[0]) << 24 | std::uint32_t(bytes[1]) << 16 | std::uint32_t(bytes[2]) << 8 | bytes[3];
}

bool replaceOnce(std::string &text, const std::string &from, const std::string &to)
{
    const std::size_t at = text.rfind(from);
    if (at == std::string::npos)
        return false;
    text.replace(at, from.size(), to);
    return true;
}

std::string withoutGz(std::string name)
{
    if (name.ends_with(".gz"))
        name.resize(name.size() - 3);
    return name;
}

// gzread() passes plain files through, so both forms take one way.
class Stream
{
public:
    explicit Stream(const fs::path &file) : m_file(gzopen(file.c_str(), "rb"))
    {
        if (m_file)
            gzbuffer(m_file, 1 << 18);
    }
    ~Stream()
    {
        if (m_file)
            gzclose_r(m_file);
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    bool isOpen() const { return m_file != nullptr; }
    /// Bytes read, less than asked for at the end or at an error.
    std::size_t read(std::uint8_t *to, std::size_t count)
    {
        std::size_t done = 0;
        while (done < count) {
            const int got = gzread(m_file, to + done, unsigned(std::min<std::size_t>(count - done, 1U << 30)));
            if (got <= 0)
                break;
            done += std::size_t(got);
        }
        return done;
    }
    QString problem() const
    {
        int code = Z_OK;
        const char *text = gzerror(m_file, &code);
        return code == Z_OK || code == Z_BUF_ERROR ? QString() : QString::fromLocal8Bit(text);
    }

private:
    gzFile m_file;
};

Result<IdxHeader> readHeader(Stream &stream, const fs::path &file, std::size_t dimensions)
{
    std::array<std::uint8_t, 16> bytes{};
    if (!stream.isOpen())
        return idxError(file, QString::fromLocal8Bit(std::strerror(errno)));
    const std::size_t wanted = 4 + 4 * dimensions;
    if (stream.read(bytes.data(), wanted) != wanted)
        return idxError(file, QStringLiteral("it ends inside its header"));
    if (bytes[0] != 0 || bytes[1] != 0 || bytes[2] != 8)
        return idxError(file, QStringLiteral("it does not start as an IDX file of bytes does"));
    if (bytes[3] != dimensions)
        return idxError(file, QStringLiteral("it has %1 dimensions, not %2").arg(bytes[3]).arg(dimensions));
    IdxHeader header;
    for (std::size_t i = 0; i < dimensions; ++i)
        header.sizes.push_back(bigEndian(bytes.data() + 4 + 4 * i));
    const bool noSize = std::any_of(header.sizes.begin() + 1, header.sizes.end(),
                                    [](std::uint32_t size) { return size == 0 || size > 65'535; });
    if (noSize || header.valueCount() > LargestFile)
        return idxError(file, QStringLiteral("its header claims an impossible size"));
    return header;
}

// Length as the file system or the gzip trailer (modulo 2^32) gives it.
Result<void> checkClaimedLength(const fs::path &file, const IdxHeader &header)
{
    std::FILE *stream = std::fopen(file.c_str(), "rb");
    if (!stream)
        return idxError(file, QString::fromLocal8Bit(std::strerror(errno)));
    std::array<std::uint8_t, 4> start{}, trailer{};
    const bool started = std::fread(start.data(), 1, 4, stream) == 4;
    const bool ended = std::fseek(stream, -4, SEEK_END) == 0 && std::fread(trailer.data(), 1, 4, stream) == 4;
    const auto length = std::uint64_t(std::ftell(stream));
    std::fclose(stream);
    const std::uint64_t expected = header.headerBytes() + header.valueCount();
    const bool packed = started && start[0] == 0x1f && start[1] == 0x8b;
    std::reverse(trailer.begin(), trailer.end());
    const std::uint64_t found = packed ? bigEndian(trailer.data()) : length;
    if (!started || !ended || found != (packed ? expected & 0xffffffffU : expected))
        return idxError(file,
                        QStringLiteral("it holds %1 bytes where its header asks for %2").arg(found).arg(expected));
    return {};
}

// Three times as fast as the stream. Anything but one whole member of the right size is left to the
// stream, which says what is wrong.
bool unpackAtOnce(const fs::path &file, IdxFile &out)
{
    constexpr std::uintmax_t largestPacked = 1U << 30;
    std::error_code fault;
    const std::uintmax_t size = fs::file_size(file, fault);
    if (fault || size < 18 || size > largestPacked)
        return false;
    std::vector<std::uint8_t> packed(size);
    std::FILE *stream = std::fopen(file.c_str(), "rb");
    if (!stream)
        return false;
    const bool whole = std::fread(packed.data(), 1, packed.size(), stream) == packed.size();
    std::fclose(stream);
    if (!whole || packed[0] != 0x1f || packed[1] != 0x8b)
        return false;
    const std::size_t headerBytes = out.header.headerBytes();
    const std::size_t wanted = headerBytes + out.header.valueCount();
    const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> unpacker(
        libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
    if (!unpacker)
        return false;
    std::size_t used = 0, got = 0;
    std::vector<std::uint8_t> bytes(wanted);
    const libdeflate_result result = libdeflate_gzip_decompress_ex(unpacker.get(), packed.data(), packed.size(),
                                                                   bytes.data(), bytes.size(), &used, &got);
    if (result != LIBDEFLATE_SUCCESS || used != packed.size() || got != wanted)
        return false;
    bytes.erase(bytes.begin(), bytes.begin() + std::ptrdiff_t(headerBytes));
    out.values = std::move(bytes);
    return true;
}

} // namespace

std::uint64_t IdxHeader::valueCount() const
{
    std::uint64_t count = 1;
    for (const std::uint32_t size : sizes)
        count *= size;
    return count;
}

bool isIdxImagesName(const std::string &fileName)
{
    const std::string name = withoutGz(fileName);
    return name.ends_with("-images-idx3-ubyte") || name.ends_with("-images.idx3-ubyte") || name == "images-idx3-ubyte";
}

std::string idxPairName(const fs::path &imagesFile)
{
    return withoutGz(imagesFile.native());
}

std::optional<fs::path> idxLabelsFor(const fs::path &imagesFile)
{
    std::string name = withoutGz(imagesFile.filename().native());
    if (!replaceOnce(name, "images-idx3", "labels-idx1") && !replaceOnce(name, "images.idx3", "labels.idx1"))
        return std::nullopt;
    const bool packed = imagesFile.extension() == ".gz";
    const std::array<std::string, 2> candidates{packed ? name + ".gz" : name, packed ? name : name + ".gz"};
    for (const std::string &candidate : candidates) {
        std::error_code ignored;
        if (fs::is_regular_file(imagesFile.parent_path() / candidate, ignored))
            return imagesFile.parent_path() / candidate;
    }
    return std::nullopt;
}

Result<IdxHeader> readIdxHeader(const fs::path &file, std::size_t dimensions)
{
    Stream stream(file);
    TW_ASSIGN(header, readHeader(stream, file, dimensions));
    TW_TRY(checkClaimedLength(file, header));
    return std::move(header);
}

Result<IdxFile> readIdxFile(const fs::path &file, std::size_t dimensions)
{
    Stream stream(file);
    TW_ASSIGN(header, readHeader(stream, file, dimensions));
    TW_TRY(checkClaimedLength(file, header)); // before memory is taken for what the header claims
    IdxFile out{header, {}};
    if (unpackAtOnce(file, out))
        return out;
    out.values.resize(header.valueCount());
    const std::size_t got = stream.read(out.values.data(), out.values.size());
    std::uint8_t extra = 0;
    const bool longer = got == out.values.size() && stream.read(&extra, 1) == 1;
    if (const QString problem = stream.problem(); !problem.isEmpty())
        return idxError(file, problem);
    if (got != out.values.size())
        return idxError(file, QStringLiteral("it ends after %1 of %2 values").arg(got).arg(out.values.size()));
    if (longer)
        return idxError(file, QStringLiteral("bytes follow after its last value"));
    return out;
}

Result<std::shared_ptr<const IdxFile>> sharedIdxImages(const fs::path &file)
{
    static std::mutex mutex;
    static std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::weak_ptr<const IdxFile>> cache;

    struct stat status
    {
    };
    if (::stat(file.c_str(), &status) != 0)
        return idxError(file, QString::fromLocal8Bit(std::strerror(errno)));
    const std::lock_guard lock(mutex);
    std::erase_if(cache, [](const auto &entry) { return entry.second.expired(); });
    auto &slot = cache[{file.native(), std::int64_t(status.st_size),
                        std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec}];
    if (auto held = slot.lock())
        return held;
    TW_ASSIGN(loaded, readIdxFile(file, 3));
    auto shared = std::make_shared<const IdxFile>(std::move(loaded));
    slot = shared;
    return shared;
}

} // namespace tw

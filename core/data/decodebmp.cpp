// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/decoders.h"

#include "core/base/paths.h"
#include "core/data/imgcodecsmodule.h"

#include <QString>

#include <array>
#include <bit>
#include <limits>
#include <vector>

#include <dlfcn.h>

namespace tw {

namespace {

constexpr char ModuleFile[] = "libtrainwright_imgcodecs.so";
constexpr std::size_t FileHeaderBytes = 14;

// Beside the program, in the library folder of an installation, where the build puts it.
std::vector<fs::path> modulePlaces()
{
    std::error_code ignored;
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    return {folder / ModuleFile, folder / "../lib/trainwright" / ModuleFile, folder / "../bin" / ModuleFile,
            fs::path(TRAINWRIGHT_MODULE_FOLDER) / ModuleFile};
}

TrainwrightDecodePicture loadModule()
{
    for (const fs::path &place : modulePlaces())
        if (void *module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL))
            return reinterpret_cast<TrainwrightDecodePicture>(::dlsym(module, "trainwright_decode_picture"));
    return nullptr;
}

std::uint32_t littleEndian(Bytes bytes, std::size_t at, std::size_t count)
{
    std::uint32_t value = 0;
    for (std::size_t i = count; i-- > 0;)
        value = value << 8 | (at + i < bytes.size() ? bytes[at + i] : 0U);
    return value;
}

struct BmpHeader
{
    std::int64_t width = 0, height = 0;
    bool fromTop = false;
    std::uint32_t bits = 0, compression = 0, pixelsAt = 0;
};

BmpHeader readHeader(Bytes bytes)
{
    const std::uint32_t headerSize = littleEndian(bytes, FileHeaderBytes, 4);
    const bool isOld = headerSize == 12;
    BmpHeader header;
    header.pixelsAt = littleEndian(bytes, 10, 4);
    header.width = isOld ? littleEndian(bytes, 18, 2) : std::int32_t(littleEndian(bytes, 18, 4));
    header.height = isOld ? littleEndian(bytes, 20, 2) : std::int64_t(std::int32_t(littleEndian(bytes, 22, 4)));
    header.fromTop = header.height < 0;
    header.height = header.fromTop ? -header.height : header.height;
    header.bits = littleEndian(bytes, isOld ? 24 : 28, 2);
    header.compression = isOld ? 0 : littleEndian(bytes, 30, 4);
    return header;
}

// OpenCV ignores the masks of 32-bit pictures and expands 5-bit levels otherwise than Pillow, so
// pictures of packed levels are read here.
struct Channel
{
    std::uint32_t mask = 0;
    int shift = 0;

    explicit Channel(std::uint32_t bits) : mask(bits), shift(bits ? std::countr_zero(bits) : 0) {}
    std::uint8_t level(std::uint32_t pixel) const
    {
        const std::uint64_t largest = mask >> shift;
        const std::uint64_t value = (pixel & mask) >> shift;
        return std::uint8_t(largest ? value * 255 / largest : 0);
    }
};

bool isPacked(const BmpHeader &header)
{
    constexpr std::uint32_t Plain = 0, BitFields = 3, AlphaBitFields = 6;
    return (header.bits == 16 || header.bits == 32)
           && (header.compression == Plain || header.compression == BitFields || header.compression == AlphaBitFields);
}

std::array<Channel, 3> channelsOf(Bytes bytes, const BmpHeader &header)
{
    constexpr std::size_t MasksAt = FileHeaderBytes + 40;
    if (header.compression != 0)
        return {Channel(littleEndian(bytes, MasksAt, 4)), Channel(littleEndian(bytes, MasksAt + 4, 4)),
                Channel(littleEndian(bytes, MasksAt + 8, 4))};
    if (header.bits == 16)
        return {Channel(0x7c00), Channel(0x03e0), Channel(0x001f)};
    return {Channel(0xff0000), Channel(0x00ff00), Channel(0x0000ff)};
}

void readPacked(Bytes bytes, const BmpHeader &header, ImageBuffer &image)
{
    const std::array<Channel, 3> channels = channelsOf(bytes, header);
    const std::size_t pixelBytes = header.bits / 8;
    const std::size_t stride = (std::size_t(image.width) * pixelBytes + 3) / 4 * 4;
    for (int y = 0; y < image.height; ++y) {
        const int stored = header.fromTop ? y : image.height - 1 - y;
        std::size_t at = header.pixelsAt + std::size_t(stored) * stride;
        std::uint8_t *out = image.row(y);
        for (int x = 0; x < image.width; ++x, at += pixelBytes, out += 3) {
            const std::uint32_t pixel = littleEndian(bytes, at, pixelBytes);
            for (std::size_t c = 0; c < 3; ++c)
                out[c] = channels[c].level(pixel);
        }
    }
}

bool isRunLength(const BmpHeader &header)
{
    return header.compression == 1 || header.compression == 2;
}

bool isCutShort(Bytes bytes, const BmpHeader &header)
{
    const std::uint64_t stride = (std::uint64_t(header.width) * header.bits + 31) / 32 * 4;
    const std::uint64_t needed = isRunLength(header) ? 1 : stride * std::uint64_t(header.height);
    return header.pixelsAt + needed > bytes.size();
}

std::uint8_t *allocate(void *context, int width, int height)
{
    try {
        auto &image = *static_cast<ImageBuffer *>(context);
        setSize(image, width, height);
        return image.pixels.data();
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

} // namespace

Result<StoredPicture> decodeBmp(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image)
{
    const BmpHeader header = readHeader(bytes);
    TW_TRY(checkSize(name, header.width, header.height, options));
    const StoredPicture stored{int(header.width), int(header.height), 1};
    if (!image)
        return stored;
    if (isCutShort(bytes, header))
        return imageError(name, QStringLiteral("it is cut short"));
    if (isPacked(header)) {
        setSize(*image, stored.width, stored.height);
        readPacked(bytes, header, *image);
        return stored;
    }
    if (bytes.size() > std::size_t(std::numeric_limits<int>::max()))
        return imageError(name, QStringLiteral("its file is larger than 2 GiB"));
    static const TrainwrightDecodePicture decode = loadModule();
    if (!decode)
        return imageError(
            name,
            QStringLiteral("the program's part for BMP pictures (%1) was not found").arg(QLatin1String(ModuleFile)));
    std::array<char, 512> reason{};
    if (decode(bytes.data(), bytes.size(), image, allocate, reason.data(), reason.size()) != 0)
        return imageError(name, QString::fromLocal8Bit(reason.data()));
    if (image->width != stored.width || image->height != stored.height)
        return imageError(name, QStringLiteral("its size is not what its header says"));
    return stored;
}

} // namespace tw

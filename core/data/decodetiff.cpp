// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/decoders.h"
#include "core/data/tiffcolours.h"

#include <QString>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tiffio.h>

namespace tw {

namespace {

constexpr int MostSamples = 16;
constexpr std::int64_t LargestTile = std::int64_t(1) << 24; // pixels of a tile larger than the picture
constexpr tmsize_t LargestAllocation = tmsize_t(1) << 30;   // of libtiff at a time

struct Source
{
    Bytes bytes;
    std::uint64_t at = 0;
    std::string message;    // the first error
    bool isMadeUp = false;  // libjpeg filled in what the data lack
    bool isLacking = false; // entries of the directory could not be read
};

Source &sourceOf(thandle_t handle)
{
    return *static_cast<Source *>(handle);
}

tmsize_t readBytes(thandle_t handle, void *out, tmsize_t count)
{
    Source &source = sourceOf(handle);
    const std::uint64_t left = source.at < source.bytes.size() ? source.bytes.size() - source.at : 0;
    const std::uint64_t taken = std::min(left, std::uint64_t(std::max<tmsize_t>(count, 0)));
    std::copy_n(source.bytes.data() + (taken ? source.at : 0), taken, static_cast<std::uint8_t *>(out));
    source.at += taken;
    return tmsize_t(taken);
}

tmsize_t writeBytes(thandle_t, void *, tmsize_t)
{
    return 0;
}

toff_t seekBytes(thandle_t handle, toff_t offset, int whence)
{
    Source &source = sourceOf(handle);
    source.at = offset + (whence == SEEK_CUR ? source.at : whence == SEEK_END ? source.bytes.size() : 0);
    return source.at;
}

int closeBytes(thandle_t)
{
    return 0;
}

toff_t countBytes(thandle_t handle)
{
    return sourceOf(handle).bytes.size();
}

// libtiff only reads through the pointer of a file opened for reading.
int mapBytes(thandle_t handle, void **base, toff_t *size)
{
    const Bytes bytes = sourceOf(handle).bytes;
    *base = const_cast<std::uint8_t *>(bytes.data());
    *size = bytes.size();
    return 1;
}

void unmapBytes(thandle_t, void *, toff_t) {}

// A part of the directory lies beyond the end.
void noteLacking(Source &source, const char *text)
{
    for (const char *sign : {"IO error during reading", "Can not read TIFF directory", "Cannot read TIFF directory"})
        source.isLacking = source.isLacking || std::string_view(text).find(sign) != std::string_view::npos;
}

int onError(TIFF *, void *user, const char *, const char *format, va_list arguments)
{
    auto &source = *static_cast<Source *>(user);
    char text[200] = {};
    std::vsnprintf(text, sizeof text, format, arguments);
    noteLacking(source, text);
    if (source.message.empty())
        source.message = text;
    return 1;
}

int onWarning(TIFF *, void *user, const char *, const char *format, va_list arguments)
{
    auto &source = *static_cast<Source *>(user);
    char text[200] = {};
    std::vsnprintf(text, sizeof text, format, arguments);
    noteLacking(source, text);
    for (const char *sign : {"Premature end of JPEG", "premature end of data", "Improper JPEG strip/tile size"})
        source.isMadeUp = source.isMadeUp || std::string_view(text).find(sign) != std::string_view::npos;
    return 1;
}

struct CloseTiff
{
    void operator()(TIFF *tiff) const { TIFFClose(tiff); }
};
using TiffFile = std::unique_ptr<TIFF, CloseTiff>;

TiffFile openTiff(Source &source)
{
    // What has no file at hand yet goes to the handlers of the process, which print.
    static const bool isQuiet = (TIFFSetErrorHandler(nullptr), TIFFSetWarningHandler(nullptr), true);
    (void)isQuiet;
    const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions *)> open(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
    if (!open)
        return nullptr;
    TIFFOpenOptionsSetMaxSingleMemAlloc(open.get(), LargestAllocation);
    TIFFOpenOptionsSetErrorHandlerExtR(open.get(), onError, &source);
    TIFFOpenOptionsSetWarningHandlerExtR(open.get(), onWarning, &source);
    return TiffFile(TIFFClientOpenExt("picture", "r", &source, readBytes, writeBytes, seekBytes, closeBytes, countBytes,
                                      mapBytes, unmapBytes, open.get()));
}

struct Picture
{
    TIFF *tiff = nullptr;
    std::uint32_t width = 0, height = 0;
    std::uint16_t samples = 1, photometric = 0, compression = COMPRESSION_NONE, orientation = 1;
    bool isSeparate = false, isTiled = false;
    std::uint32_t tileWidth = 0, tileHeight = 0; // of strips: the picture's width and the rows of one
    bool byLibrary = false;                      // libtiff turns it into RGB
    TiffColours colours;

    std::size_t stride() const { return isSeparate ? std::size_t(colours.used) : samples; }
    std::uint16_t planes() const { return isSeparate ? std::uint16_t(colours.used) : std::uint16_t(1); }
};

std::uint16_t field16(TIFF *tiff, std::uint32_t tag, std::uint16_t otherwise)
{
    std::uint16_t value = 0;
    return TIFFGetFieldDefaulted(tiff, tag, &value) == 1 ? value : otherwise;
}

std::uint32_t field32(TIFF *tiff, std::uint32_t tag)
{
    std::uint32_t value = 0;
    return TIFFGetField(tiff, tag, &value) == 1 ? value : 0;
}

Picture describe(TIFF *tiff)
{
    Picture picture;
    picture.tiff = tiff;
    picture.width = field32(tiff, TIFFTAG_IMAGEWIDTH);
    picture.height = field32(tiff, TIFFTAG_IMAGELENGTH);
    picture.samples = field16(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    picture.compression = field16(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    const std::uint16_t usual = picture.samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISWHITE;
    picture.photometric = field16(tiff, TIFFTAG_PHOTOMETRIC, usual);
    if (picture.compression == COMPRESSION_OJPEG)
        picture.photometric = PHOTOMETRIC_YCBCR;
    picture.orientation = field16(tiff, TIFFTAG_ORIENTATION, 1);
    picture.isSeparate = field16(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
    picture.isTiled = TIFFIsTiled(tiff) != 0;
    picture.tileWidth = picture.isTiled ? field32(tiff, TIFFTAG_TILEWIDTH) : picture.width;
    picture.tileHeight = field32(tiff, picture.isTiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP);
    if (!picture.isTiled && picture.tileHeight == 0)
        picture.tileHeight = picture.height;
    picture.colours.bits = field16(tiff, TIFFTAG_BITSPERSAMPLE, 1);
    return picture;
}

QString sampleProblem(const Picture &picture)
{
    const int bits = picture.colours.bits;
    switch (field16(picture.tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT)) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID:
        break;
    case SAMPLEFORMAT_INT:
        return QStringLiteral("its samples are signed numbers, which have no defined range of brightness");
    case SAMPLEFORMAT_IEEEFP:
        return QStringLiteral("its samples are %1-bit floating-point numbers, which have no defined range of "
                              "brightness")
            .arg(bits);
    default:
        return QStringLiteral("its samples are complex numbers");
    }
    if (bits < 1 || bits > 16)
        return QStringLiteral("it has %1 bits a channel, at most 16 are read").arg(bits);
    if (picture.samples > MostSamples)
        return QStringLiteral("it has %1 channels, at most %2 are read").arg(picture.samples).arg(MostSamples);
    return {};
}

QString colourName(std::uint16_t photometric)
{
    switch (photometric) {
    case PHOTOMETRIC_MASK:
        return QStringLiteral("it is a transparency mask, not a picture");
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
    case PHOTOMETRIC_ITULAB:
        return QStringLiteral("its colours are L*a*b*, which is not read");
    case PHOTOMETRIC_CFA:
    case 34892: // linear raw of DNG
        return QStringLiteral("it holds raw camera data, which are not read");
    case PHOTOMETRIC_LOGL:
    case PHOTOMETRIC_LOGLUV:
        return QStringLiteral("its colours are LogLuv (high dynamic range), which is not read");
    default:
        return QStringLiteral("its colours (photometric interpretation %1) are not read").arg(photometric);
    }
}

// Old writers filled the map with 8-bit values.
bool readPalette(Picture &picture)
{
    std::uint16_t *channels[3] = {};
    if (picture.colours.bits > 8
        || TIFFGetField(picture.tiff, TIFFTAG_COLORMAP, &channels[0], &channels[1], &channels[2]) != 1)
        return false;
    const std::size_t count = std::size_t(1) << picture.colours.bits;
    bool isDeep = false;
    for (const std::uint16_t *channel : channels)
        isDeep = isDeep || std::any_of(channel, channel + count, [](std::uint16_t value) { return value > 255; });
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t c = 0; c < 3; ++c)
            picture.colours.palette[i * 3 + c] = std::uint8_t(isDeep ? channels[c][i] >> 8 : channels[c][i]);
    return true;
}

void readAlpha(Picture &picture)
{
    std::uint16_t count = 0, *kinds = nullptr;
    const bool known = TIFFGetField(picture.tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 1 && count > 0 && kinds;
    const bool hasRoom = picture.samples > picture.colours.used;
    picture.colours.isPremultiplied = known && hasRoom && kinds[0] == EXTRASAMPLE_ASSOCALPHA;
    picture.colours.used += picture.colours.isPremultiplied ? 1 : 0;
}

QString colourProblem(Picture &picture)
{
    TiffColours &colours = picture.colours;
    switch (picture.photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
        colours.isInverted = picture.photometric == PHOTOMETRIC_MINISWHITE;
        readAlpha(picture);
        break;
    case PHOTOMETRIC_PALETTE:
        colours.kind = TiffColours::Kind::Palette;
        if (!readPalette(picture))
            return QStringLiteral("its palette is missing or too large");
        break;
    case PHOTOMETRIC_YCBCR:
        picture.byLibrary = picture.compression != COMPRESSION_JPEG || picture.isSeparate;
        colours.kind = TiffColours::Kind::Rgb;
        colours.used = 3;
        break;
    case PHOTOMETRIC_RGB:
        colours.kind = TiffColours::Kind::Rgb;
        colours.used = 3;
        readAlpha(picture);
        break;
    case PHOTOMETRIC_SEPARATED:
        if (field16(picture.tiff, TIFFTAG_INKSET, INKSET_CMYK) != INKSET_CMYK)
            return QStringLiteral("its inks are not cyan, magenta, yellow and black");
        colours.kind = TiffColours::Kind::Cmyk;
        colours.used = 4;
        break;
    default:
        return colourName(picture.photometric);
    }
    if (picture.samples < colours.used)
        return QStringLiteral("it has %1 channels, its colours need %2").arg(picture.samples).arg(colours.used);
    return {};
}

// The most pixels' bytes that one byte of the file can stand for; 0 where there is no limit.
std::uint64_t largestRatio(std::uint16_t compression)
{
    switch (compression) {
    case COMPRESSION_NONE:
        return 1;
    case COMPRESSION_PACKBITS:
        return 64;
    case COMPRESSION_LZW:
        return 2731;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
        return 1032;
    default:
        return 0;
    }
}

bool canHold(const Source &source, const Picture &picture)
{
    const std::uint64_t ratio = picture.byLibrary ? 0 : largestRatio(picture.compression);
    const std::uint64_t perPixel = std::uint64_t(picture.colours.bits) * picture.stride();
    const std::uint64_t needed = (picture.width * perPixel + 7) / 8 * picture.height;
    return ratio == 0 || needed <= (source.bytes.size() + 1) * ratio;
}

QString layoutProblem(const Picture &picture)
{
    if (TIFFIsCODECConfigured(picture.compression) == 0)
        return QStringLiteral("its compression (number %1) is not read").arg(picture.compression);
    if (picture.tileWidth == 0 || picture.tileHeight == 0)
        return QStringLiteral("its tiles have no size");
    const std::int64_t most = std::max(std::int64_t(picture.width) * picture.height, LargestTile);
    if (picture.isTiled && std::int64_t(picture.tileHeight) > most / std::int64_t(picture.tileWidth))
        return QStringLiteral("its tiles of %1 × %2 pixels are larger than the picture")
            .arg(picture.tileWidth)
            .arg(picture.tileHeight);
    return {};
}

// Rows from `top` of all strips into `levels`.
bool readStrips(const Picture &picture, std::uint32_t top, std::uint32_t rows, std::vector<std::uint8_t> &packed,
                std::uint8_t *levels)
{
    const std::size_t count = std::size_t(picture.width) * (picture.isSeparate ? 1 : picture.samples);
    const std::size_t stride = picture.stride();
    std::vector<std::uint8_t> plane(picture.isSeparate ? count : 0);
    for (std::uint16_t p = 0; p < picture.planes(); ++p)
        for (std::uint32_t y = 0; y < rows; ++y) {
            if (TIFFReadScanline(picture.tiff, packed.data(), top + y, p) != 1)
                return false;
            std::uint8_t *out = levels + std::size_t(y) * picture.width * stride;
            picture.colours.unpack(packed.data(), count, picture.isSeparate ? plane.data() : out);
            for (std::size_t x = 0; x < plane.size(); ++x)
                out[x * stride + p] = plane[x];
        }
    return true;
}

// Rows from `top`, where tiles begin, of all tiles into `levels`.
bool readTiles(const Picture &picture, std::uint32_t top, std::uint32_t rows, std::vector<std::uint8_t> &packed,
               std::uint8_t *levels)
{
    const std::size_t samples = picture.isSeparate ? 1 : picture.samples, stride = picture.stride();
    const auto rowBytes = std::size_t(TIFFTileRowSize(picture.tiff));
    std::vector<std::uint8_t> line(std::size_t(picture.tileWidth) * samples);
    for (std::uint16_t p = 0; p < picture.planes(); ++p)
        for (std::uint64_t left = 0; left < picture.width; left += picture.tileWidth) {
            if (TIFFReadTile(picture.tiff, packed.data(), std::uint32_t(left), top, 0, p) < 0)
                return false;
            const std::size_t columns = std::min<std::size_t>(picture.tileWidth, picture.width - left);
            for (std::uint32_t y = 0; y < rows; ++y) {
                picture.colours.unpack(packed.data() + y * rowBytes, columns * samples, line.data());
                std::uint8_t *out = levels + (std::size_t(y) * picture.width + left) * stride + p;
                for (std::size_t x = 0; x < columns; ++x, out += stride)
                    std::copy_n(line.data() + x * samples, samples, out);
            }
        }
    return true;
}

// libtiff's buffers hold what is unpacked of them.
bool hasExpectedSize(const Picture &picture, std::size_t rowBytes, std::size_t allBytes)
{
    const std::size_t samples = picture.isSeparate ? 1 : picture.samples;
    const std::size_t needed = (std::size_t(picture.tileWidth) * samples * std::size_t(picture.colours.bits) + 7) / 8;
    return rowBytes >= needed && allBytes >= rowBytes * (picture.isTiled ? picture.tileHeight : 1);
}

bool readLevels(const Picture &picture, ImageBuffer &image)
{
    const tmsize_t rowBytes = picture.isTiled ? TIFFTileRowSize(picture.tiff) : TIFFScanlineSize(picture.tiff);
    const tmsize_t allBytes = picture.isTiled ? TIFFTileSize(picture.tiff) : rowBytes;
    if (rowBytes <= 0 || allBytes <= 0 || !hasExpectedSize(picture, std::size_t(rowBytes), std::size_t(allBytes)))
        return false;
    std::vector<std::uint8_t> packed(std::size_t(allBytes) + 4);
    const bool byRow = !picture.isTiled && !picture.isSeparate;
    const std::uint32_t band = byRow ? 1 : std::min(picture.tileHeight, picture.height);
    std::vector<std::uint8_t> levels(std::size_t(picture.width) * band * picture.stride());
    for (std::uint32_t top = 0; top < picture.height; top += band) {
        const std::uint32_t rows = std::min(band, picture.height - top);
        if (!(picture.isTiled ? readTiles : readStrips)(picture, top, rows, packed, levels.data()))
            return false;
        picture.colours.toRgb(levels.data(), picture.stride(), std::size_t(picture.width) * rows, image.row(int(top)));
    }
    return true;
}

// YCbCr that is not JPEG has chroma of other sizes; libtiff makes RGB of it, as in Pillow.
bool readByLibrary(const Picture &picture, Source &source, ImageBuffer &image)
{
    TIFFRGBAImage view{};
    char message[1024] = {};
    if (TIFFRGBAImageBegin(&view, picture.tiff, 1, message) != 1) {
        if (source.message.empty())
            source.message = message;
        return false;
    }
    const std::unique_ptr<TIFFRGBAImage, void (*)(TIFFRGBAImage *)> end(&view, TIFFRGBAImageEnd);
    view.req_orientation = view.orientation;
    const std::uint32_t band = std::min(picture.tileHeight, picture.height);
    std::vector<std::uint32_t> raster(std::size_t(picture.width) * band);
    for (std::uint32_t top = 0; top < picture.height; top += band) {
        const std::uint32_t rows = std::min(band, picture.height - top);
        view.row_offset = int(top);
        if (TIFFRGBAImageGet(&view, raster.data(), picture.width, rows) != 1)
            return false;
        std::uint8_t *out = image.row(int(top));
        for (std::size_t i = 0; i < std::size_t(picture.width) * rows; ++i, out += 3) {
            out[0] = std::uint8_t(TIFFGetR(raster[i]));
            out[1] = std::uint8_t(TIFFGetG(raster[i]));
            out[2] = std::uint8_t(TIFFGetB(raster[i]));
        }
    }
    return true;
}

bool endsBeforeItsData(const Source &source, TIFF *tiff)
{
    const std::uint32_t count = TIFFIsTiled(tiff) ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    for (std::uint32_t i = 0; i < count; ++i) {
        int failed = 0;
        const std::uint64_t from = TIFFGetStrileOffsetWithErr(tiff, i, &failed);
        const std::uint64_t bytes = failed ? 0 : TIFFGetStrileByteCountWithErr(tiff, i, &failed);
        if (failed || from > source.bytes.size() || bytes > source.bytes.size() - from)
            return true;
    }
    return false;
}

Error failure(const Source &source, const std::string &name, TIFF *tiff)
{
    bool isCut = source.isMadeUp || source.isLacking || (tiff && endsBeforeItsData(source, tiff));
    for (const char *sign : {"Not enough data", "Premature EOF"})
        isCut = isCut || source.message.find(sign) != std::string::npos;
    if (isCut)
        return imageError(name, QStringLiteral("it is cut short"));
    QString text = QString::fromStdString(source.message).trimmed();
    while (text.endsWith(u'.'))
        text.chop(1);
    return imageError(name, text.isEmpty() ? QStringLiteral("its data are broken") : text);
}

} // namespace

Result<StoredPicture> decodeTiff(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image)
{
    Source source;
    source.bytes = bytes;
    const TiffFile file = openTiff(source);
    if (!file)
        return failure(source, name, nullptr);
    Picture picture = describe(file.get());
    TW_TRY(checkSize(name, picture.width, picture.height, options));
    for (const QString &problem : {sampleProblem(picture), colourProblem(picture), layoutProblem(picture)})
        if (!problem.isEmpty())
            return imageError(name, source.isLacking ? QStringLiteral("it is cut short") : problem);
    const StoredPicture stored{int(picture.width), int(picture.height), picture.orientation};
    if (!image)
        return stored;
    if (!canHold(source, picture))
        return imageError(name, QStringLiteral("it is cut short"));
    if (picture.photometric == PHOTOMETRIC_YCBCR && !picture.byLibrary)
        TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    setSize(*image, stored.width, stored.height);
    const bool isRead = picture.byLibrary ? readByLibrary(picture, source, *image) : readLevels(picture, *image);
    if (!isRead || source.isMadeUp)
        return failure(source, name, file.get());
    return stored;
}

} // namespace tw

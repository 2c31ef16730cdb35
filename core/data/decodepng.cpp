// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/decoders.h"

#include <QString>

#include <csetjmp>
#include <cstring>
#include <vector>

#include <png.h>

namespace tw {

namespace {

// Deflate cannot shrink data more than this; a header that claims more lies.
constexpr std::uint64_t LargestDeflateRatio = 1032;
constexpr png_alloc_size_t LargestChunk = 16 << 20;

struct Decoder
{
    png_structp png;
    png_infop info;
    Bytes rest;
    bool cutShort;
    char message[160];
    std::uint8_t *pixels; // rows of 3 or 6 bytes a pixel
    std::size_t stride;
    int height;
};

[[noreturn]] void onError(png_structp png, png_const_charp message)
{
    auto &decoder = *static_cast<Decoder *>(png_get_error_ptr(png));
    std::strncpy(decoder.message, message, sizeof decoder.message - 1);
    png_longjmp(png, 1);
}

void onWarning(png_structp, png_const_charp) {}

void readBytes(png_structp png, png_bytep out, size_t count)
{
    auto &decoder = *static_cast<Decoder *>(png_get_io_ptr(png));
    if (count > decoder.rest.size()) {
        decoder.cutShort = true;
        png_error(png, "cut short");
    }
    std::memcpy(out, decoder.rest.data(), count);
    decoder.rest = decoder.rest.subspan(count);
}

// Text and colour profiles are not used, and may unpack to anything.
void leaveOutTexts(png_structp png)
{
    static const png_byte Names[] = "tEXt\0zTXt\0iTXt\0iCCP\0sPLT";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, Names, 5);
    png_set_chunk_malloc_max(png, LargestChunk);
    png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
}

// To 8-bit RGB, or 16-bit RGB in the file's byte order. Transparency is dropped, as PIL drops it.
void askForRgb(png_structp png, png_infop info)
{
    const int type = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (type == PNG_COLOR_TYPE_GRAY && depth < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    if (type == PNG_COLOR_TYPE_GRAY || type == PNG_COLOR_TYPE_GRAY_ALPHA)
        png_set_gray_to_rgb(png);
    if ((type & PNG_COLOR_MASK_ALPHA) != 0 || type == PNG_COLOR_TYPE_PALETTE)
        png_set_strip_alpha(png);
}

void from16Bit(const std::vector<std::uint8_t> &deep, ImageBuffer &image)
{
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
        const unsigned value = unsigned(deep[2 * i]) << 8 | deep[2 * i + 1];
        image.pixels[i] = std::uint8_t((value + 128) / 257);
    }
}

int orientationOf(png_structp png, png_infop info)
{
    png_uint_32 length = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png, info, &length, &exif) == 0 || !exif)
        return 1;
    return exifOrientation(Bytes(exif, length));
}

struct Cleanup
{
    Decoder *decoder;
    ~Cleanup() { png_destroy_read_struct(&decoder->png, &decoder->info, nullptr); }
};

void readHeader(Decoder &decoder)
{
    png_set_read_fn(decoder.png, &decoder, readBytes);
    leaveOutTexts(decoder.png);
    png_read_info(decoder.png, decoder.info);
}

void readPixels(Decoder &decoder)
{
    askForRgb(decoder.png, decoder.info);
    const int passes = png_set_interlace_handling(decoder.png);
    png_read_update_info(decoder.png, decoder.info);
    if (png_get_rowbytes(decoder.png, decoder.info) != decoder.stride)
        png_error(decoder.png, "its rows have an unexpected length");
    for (int pass = 0; pass < passes; ++pass)
        for (int y = 0; y < decoder.height; ++y)
            png_read_row(decoder.png, decoder.pixels + std::size_t(y) * decoder.stride, nullptr);
    png_read_end(decoder.png, decoder.info);
}

// libpng jumps out of an error to here. A step makes no object with a destructor, and what outlives
// the jump lies in the decoder, not in this frame.
__attribute__((noinline)) bool perform(Decoder &decoder, void (*step)(Decoder &))
{
    if (setjmp(png_jmpbuf(decoder.png)) != 0)
        return false;
    step(decoder);
    return true;
}

Error failure(const Decoder &decoder, const std::string &name)
{
    return imageError(name,
                      decoder.cutShort ? QStringLiteral("it is cut short") : QString::fromLocal8Bit(decoder.message));
}

bool canHold(Bytes bytes, png_structp png, png_infop info)
{
    const std::uint64_t rowBytes =
        (std::uint64_t(png_get_image_width(png, info)) * png_get_bit_depth(png, info) * png_get_channels(png, info) + 7)
        / 8;
    return rowBytes * png_get_image_height(png, info) <= (bytes.size() + 1) * LargestDeflateRatio;
}

} // namespace

Result<StoredPicture> decodePng(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image)
{
    Decoder decoder{};
    const Cleanup cleanup{&decoder};
    decoder.rest = bytes;
    decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, onError, onWarning);
    decoder.info = decoder.png ? png_create_info_struct(decoder.png) : nullptr;
    if (!decoder.info)
        return imageError(name, QStringLiteral("there is not enough memory for it"));
    if (!perform(decoder, readHeader))
        return failure(decoder, name);
    StoredPicture stored{int(png_get_image_width(decoder.png, decoder.info)),
                         int(png_get_image_height(decoder.png, decoder.info)), 1};
    TW_TRY(checkSize(name, stored.width, stored.height, options));
    if (!canHold(bytes, decoder.png, decoder.info))
        return imageError(name, QStringLiteral("it is cut short"));
    if (image) {
        const bool isDeep = png_get_bit_depth(decoder.png, decoder.info) == 16;
        setSize(*image, stored.width, stored.height);
        std::vector<std::uint8_t> deep(isDeep ? image->pixels.size() * 2 : 0);
        decoder.pixels = isDeep ? deep.data() : image->pixels.data();
        decoder.stride = std::size_t(stored.width) * (isDeep ? 6 : 3);
        decoder.height = stored.height;
        if (!perform(decoder, readPixels))
            return failure(decoder, name);
        if (isDeep)
            from16Bit(deep, *image);
    }
    stored.orientation = orientationOf(decoder.png, decoder.info);
    return stored;
}

} // namespace tw

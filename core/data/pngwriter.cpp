// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/pngwriter.h"

#include "core/base/files.h"

#include <QCoreApplication>
#include <QString>

#include <cerrno>
#include <csetjmp>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <png.h>
#include <unistd.h>

namespace tw {

namespace {

// Half the time of zlib's usual level, a few per cent larger.
constexpr int CompressionLevel = 3;

struct Encoder
{
    png_structp png = nullptr;
    png_infop info = nullptr;
    std::vector<std::uint8_t> *bytes = nullptr;
    bool outOfMemory = false;
    char message[160] = {};

    Encoder() = default;
    ~Encoder() { png_destroy_write_struct(&png, &info); }
    Encoder(const Encoder &) = delete;
    Encoder &operator=(const Encoder &) = delete;
};

[[noreturn]] void onError(png_structp png, png_const_charp message)
{
    auto &encoder = *static_cast<Encoder *>(png_get_error_ptr(png));
    std::strncpy(encoder.message, message, sizeof encoder.message - 1);
    png_longjmp(png, 1);
}

void onWarning(png_structp, png_const_charp) {}

// No exception may pass through libpng.
bool append(std::vector<std::uint8_t> &bytes, const png_byte *data, std::size_t count)
{
    try {
        bytes.insert(bytes.end(), data, data + count);
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

void onBytes(png_structp png, png_bytep data, size_t count)
{
    auto &encoder = *static_cast<Encoder *>(png_get_io_ptr(png));
    if (append(*encoder.bytes, data, count))
        return;
    encoder.outOfMemory = true;
    png_error(png, "out of memory");
}

void onFlush(png_structp) {}

bool encodeRows(Encoder &encoder, const PixelView &image)
{
    if (setjmp(png_jmpbuf(encoder.png)) != 0) // NOLINT: how libpng reports
        return false;
    const int type = image.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB;
    png_set_write_fn(encoder.png, &encoder, onBytes, onFlush);
    png_set_user_limits(encoder.png, 0x7fffffff, 0x7fffffff);
    png_set_compression_level(encoder.png, CompressionLevel);
    png_set_filter(encoder.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB | PNG_FILTER_UP);
    png_set_IHDR(encoder.png, encoder.info, png_uint_32(image.width), png_uint_32(image.height), 8, type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(encoder.png, encoder.info);
    for (int y = 0; y < image.height; ++y)
        png_write_row(encoder.png, image.row(y));
    png_write_end(encoder.png, encoder.info);
    return true;
}

/// 0, or the system's error number.
int writeAll(int descriptor, const std::vector<std::uint8_t> &bytes)
{
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t written = ::write(descriptor, bytes.data() + done, bytes.size() - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        done += std::size_t(written);
    }
    return 0;
}

} // namespace

Result<void> encodePng(const PixelView &image, std::vector<std::uint8_t> &bytes)
{
    bytes.clear();
    Encoder encoder;
    encoder.bytes = &bytes;
    encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, onError, onWarning);
    encoder.info = encoder.png ? png_create_info_struct(encoder.png) : nullptr;
    if (!encoder.info)
        throw std::bad_alloc();
    if (encodeRows(encoder, image))
        return {};
    if (encoder.outOfMemory)
        throw std::bad_alloc();
    return makeError(
        errors::Library, QT_TRANSLATE_NOOP("Error", "A PNG of %1 × %2 pixels cannot be made: %3."),
        {QString::number(image.width), QString::number(image.height), QString::fromLocal8Bit(encoder.message)},
        QT_TRANSLATE_NOOP("Error", "Let the transformation give smaller pictures."));
}

Result<void> writePng(const fs::path &file, const PixelView &image, std::vector<std::uint8_t> &scratch)
{
    TW_TRY(encodePng(image, scratch));
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return writeError(file, errno);
    int code = writeAll(descriptor, scratch);
    if (::close(descriptor) != 0 && code == 0)
        code = errno;
    if (code == 0)
        return {};
    ::unlink(file.c_str());
    return writeError(file, code);
}

} // namespace tw

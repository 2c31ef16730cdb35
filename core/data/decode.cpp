// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/decode.h"

#include "core/data/decoders.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

namespace tw {

namespace {

std::string_view textOf(Bytes bytes, std::size_t from, std::size_t count)
{
    if (from >= bytes.size())
        return {};
    return {reinterpret_cast<const char *>(bytes.data()) + from, std::min(count, bytes.size() - from)};
}

// For the message only: what a file that is no picture of ours seems to be.
QString guessContent(Bytes bytes)
{
    const std::string_view start = textOf(bytes, 0, 16);
    const std::string_view brand = textOf(bytes, 8, 4);
    if (textOf(bytes, 4, 4) == "ftyp") {
        if (brand.starts_with("hei") || brand.starts_with("hev") || brand == "mif1" || brand == "msf1")
            return QStringLiteral("HEIC");
        return brand.starts_with("avi") ? QStringLiteral("AVIF") : QStringLiteral("a video file");
    }
    if (start.starts_with("%PDF"))
        return QStringLiteral("PDF");
    if (start.starts_with("RIFF"))
        return brand == "WAVE" ? QStringLiteral("a sound file") : QStringLiteral("a sound or video file");
    if (start.starts_with("PK\x03\x04"))
        return QStringLiteral("a zip archive");
    if (start.starts_with("\x1f\x8b"))
        return QStringLiteral("gzip-compressed data");
    const std::size_t mark = textOf(bytes, 0, 512).find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (mark != std::string_view::npos && bytes[mark] == '<')
        return textOf(bytes, mark, 512).find("<svg") != std::string_view::npos
                   ? QStringLiteral("SVG")
                   : QStringLiteral("a web page (HTML or XML)");
    const std::string_view sample = textOf(bytes, 0, 512);
    const bool isText = std::all_of(sample.begin(), sample.end(), [](char c) {
        const auto value = static_cast<unsigned char>(c);
        return value >= 0x20 || value == '\n' || value == '\r' || value == '\t';
    });
    return isText ? QStringLiteral("text") : QString();
}

Error notAPicture(Bytes bytes, const std::string &name)
{
    const QString guess = guessContent(bytes);
    if (guess.isEmpty())
        return imageError(name, QStringLiteral("its content is no picture format that is known"));
    return imageError(name, QStringLiteral("its content looks like %1, which is not read").arg(guess));
}

Result<StoredPicture> decodeStored(Bytes bytes, const std::string &name, const DecodeOptions &options,
                                   ImageFormat format, ImageBuffer *image)
{
    switch (format) {
    case ImageFormat::Jpeg:
        return decodeJpeg(bytes, name, options, image);
    case ImageFormat::Png:
        return decodePng(bytes, name, options, image);
    case ImageFormat::Bmp:
        return decodeBmp(bytes, name, options, image);
    case ImageFormat::Pnm:
        return decodePnm(bytes, name, options, image);
    case ImageFormat::Tiff:
        return decodeTiff(bytes, name, options, image);
    case ImageFormat::WebP:
        return decodeWebP(bytes, name, options, image);
    case ImageFormat::Gif:
        return decodeGif(bytes, name, options, image);
    case ImageFormat::Unknown:
        break;
    }
    if (bytes.empty())
        return imageError(name, QStringLiteral("the file is empty"));
    return notAPicture(bytes, name);
}

Result<StoredPicture> decodeGuarded(Bytes bytes, const std::string &name, const DecodeOptions &options,
                                    ImageFormat format, ImageBuffer *image)
{
    try {
        return decodeStored(bytes, name, options, format, image);
    } catch (const std::bad_alloc &) {
        return imageError(name, QStringLiteral("there is not enough memory for it"));
    } catch (const std::exception &exception) {
        return imageError(name, QString::fromLocal8Bit(exception.what()));
    }
}

} // namespace

Error imageError(const std::string &name, const QString &reason)
{
    return makeError(errors::InvalidImage, QT_TRANSLATE_NOOP("Error", "The image \"%1\" cannot be read: %2."),
                     {QString::fromStdString(name), reason},
                     QT_TRANSLATE_NOOP("Error", "Replace or remove this file."));
}

Result<void> checkSize(const std::string &name, std::int64_t width, std::int64_t height, const DecodeOptions &options)
{
    constexpr std::int64_t LargestSide = 1'000'000;
    if (width < 1 || height < 1)
        return imageError(name, QStringLiteral("its header gives a size of %1 × %2 pixels").arg(width).arg(height));
    const bool tooMany = options.maxPixels > 0 && height > options.maxPixels / width;
    if (tooMany || width > LargestSide || height > LargestSide)
        return imageError(name, QStringLiteral("%1 × %2 pixels are more than the limit of %3 (decompression bomb)")
                                    .arg(width)
                                    .arg(height)
                                    .arg(options.maxPixels));
    return {};
}

void setSize(ImageBuffer &image, int width, int height)
{
    image.width = width;
    image.height = height;
    image.pixels.resize(std::size_t(width) * std::size_t(height) * 3);
}

ImageFormat detectFormat(std::span<const std::uint8_t> bytes)
{
    const std::string_view start = textOf(bytes, 0, 8);
    if (start.starts_with("\xff\xd8\xff"))
        return ImageFormat::Jpeg;
    if (start == std::string_view("\x89PNG\r\n\x1a\n", 8))
        return ImageFormat::Png;
    if (start.starts_with("GIF87a") || start.starts_with("GIF89a"))
        return ImageFormat::Gif;
    if (start.starts_with(std::string_view("II*\0", 4)) || start.starts_with(std::string_view("MM\0*", 4))
        || start.starts_with(std::string_view("II+\0", 4)) || start.starts_with(std::string_view("MM\0+", 4)))
        return ImageFormat::Tiff;
    if (start.starts_with("RIFF") && textOf(bytes, 8, 4) == "WEBP")
        return ImageFormat::WebP;
    if (start.starts_with("BM") && bytes.size() >= 18)
        return ImageFormat::Bmp;
    const bool isSpace =
        start.size() > 2 && (start[2] == ' ' || (start[2] >= '\t' && start[2] <= '\r') || start[2] == '#');
    if (start.starts_with('P') && isSpace && start[1] >= '1' && start[1] <= '6')
        return ImageFormat::Pnm;
    return ImageFormat::Unknown;
}

QString imageFormatName(ImageFormat format)
{
    constexpr std::array<const char *, 8> Names{"unknown", "JPEG", "PNG", "BMP", "PNM", "TIFF", "WebP", "GIF"};
    return QLatin1String(Names[std::size_t(format)]);
}

Result<ImageHeader> readImageHeader(std::span<const std::uint8_t> bytes, const std::string &name,
                                    const DecodeOptions &options)
{
    const ImageFormat format = detectFormat(bytes);
    TW_ASSIGN(stored, decodeGuarded(bytes, name, options, format, nullptr));
    const bool turned = stored.orientation >= 5;
    return ImageHeader{format, turned ? stored.height : stored.width, turned ? stored.width : stored.height};
}

Result<void> decodeImageInto(std::span<const std::uint8_t> bytes, const std::string &name, const DecodeOptions &options,
                             ImageBuffer &image)
{
    TW_ASSIGN(stored, decodeGuarded(bytes, name, options, detectFormat(bytes), &image));
    try {
        applyOrientation(image, stored.orientation);
    } catch (const std::bad_alloc &) {
        return imageError(name, QStringLiteral("there is not enough memory for it"));
    }
    return {};
}

Result<ImageBuffer> decodeImage(std::span<const std::uint8_t> bytes, const std::string &name,
                                const DecodeOptions &options)
{
    ImageBuffer image;
    TW_TRY(decodeImageInto(bytes, name, options, image));
    return image;
}

} // namespace tw

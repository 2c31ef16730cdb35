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

struct Sign
{
    std::size_t at;
    std::string_view bytes;
    const char *name;
};

using namespace std::string_view_literals;
// The first that fits counts.
constexpr Sign Signs[] = {
    {8, "crx "sv, "a Canon raw file"},
    {8, "hei"sv, "HEIC"},
    {8, "hev"sv, "HEIC"},
    {8, "mif1"sv, "HEIC"},
    {8, "msf1"sv, "HEIC"},
    {8, "avi"sv, "AVIF"},
    {4, "ftyp"sv, "a video file"},
    {0, "%PDF"sv, "PDF"},
    {8, "WAVE"sv, "a sound file"},
    {8, "AVI "sv, "a video file (AVI)"},
    {0, "RIFF"sv, "a sound or video file"},
    {0, "\x1a\x45\xdf\xa3"sv, "a video file (Matroska or WebM)"},
    {0, "\0\0\1\xba"sv, "a video file (MPEG)"},
    {0, "\0\0\1\xb3"sv, "a video file (MPEG)"},
    {0, "FLV\1"sv, "a video file (FLV)"},
    {0, "OggS"sv, "a sound or video file (Ogg)"},
    {0, "ID3"sv, "a sound file"},
    {0, "\0\0\0\x0cjP  "sv, "JPEG 2000"},
    {0, "\xff\x4f\xff\x51"sv, "JPEG 2000"},
    {0, "\0\0\0\x0cJXL "sv, "JPEG XL"},
    {0, "\xff\x0a"sv, "JPEG XL"},
    {0, "II\xbc"sv, "JPEG XR"},
    {0, "8BPS"sv, "a Photoshop document"},
    {0, "\0\0\1\0"sv, "an icon (ICO)"},
    {0, "\x76\x2f\x31\x01"sv, "OpenEXR"},
    {0, "#?RADIANCE"sv, "Radiance HDR"},
    {0, "PF\n"sv, "a float map (PFM)"},
    {0, "Pf\n"sv, "a float map (PFM)"},
    {0, "DDS "sv, "a DirectDraw surface"},
    {0, "qoif"sv, "QOI"},
    {128, "DICM"sv, "DICOM"},
    {0, "PK\x03\x04"sv, "a zip archive"},
    {0, "Rar!"sv, "a RAR archive"},
    {0, "7z\xbc\xaf"sv, "a 7-Zip archive"},
    {0, "\x1f\x8b"sv, "gzip-compressed data"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "\x89HDF"sv, "HDF5"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program"},
    {0, "version https://git-lfs"sv, "a Git LFS pointer (the picture itself was not fetched)"},
};

// Signs inside the file count behind the mark of their container only.
bool hasContainer(std::string_view start, const Sign &sign)
{
    if (sign.at != 8)
        return true;
    return start.substr(4).starts_with("ftyp") || start.starts_with("RIFF");
}

// For the message only: what a file that is no picture of ours seems to be.
QString guessContent(Bytes bytes)
{
    const std::string_view start = textOf(bytes, 0, 160);
    for (const Sign &sign : Signs)
        if (start.size() >= sign.at + sign.bytes.size() && start.substr(sign.at).starts_with(sign.bytes)
            && hasContainer(start, sign))
            return QString::fromLatin1(sign.name);
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
    const bool isEmpty = std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
    if (isEmpty)
        return imageError(name, QStringLiteral("it holds nothing but zero bytes (an interrupted copy or download)"));
    const QString guess = guessContent(bytes);
    Error error =
        imageError(name, guess.isEmpty() ? QStringLiteral("its content is no picture format that is known")
                                         : QStringLiteral("its content looks like %1, which is not read").arg(guess));
    error.hint = QT_TRANSLATE_NOOP("Error", "Read are JPEG, PNG, BMP, PNM, TIFF, WebP and GIF, whatever the file is "
                                            "called. Save the picture as PNG or JPEG, or remove the file.");
    return error;
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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/decoders.h"

#include <QString>

#include <algorithm>
#include <memory>

#include <webp/decode.h>
#include <webp/demux.h>

namespace tw {

namespace {

constexpr std::size_t LongestPlainHeader = 30; // RIFF header and the VP8X chunk

QString reasonOf(VP8StatusCode status)
{
    switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
        return QStringLiteral("there is not enough memory for it");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return QStringLiteral("it uses a part of WebP that is not read");
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return QStringLiteral("it is cut short");
    default:
        return QStringLiteral("its WebP data are broken");
    }
}

bool isCutShort(Bytes bytes)
{
    if (bytes.size() < 12)
        return true;
    std::uint64_t size = 0;
    for (std::size_t i = 8; i-- > 4;)
        size = size << 8 | bytes[i];
    return size + 8 > bytes.size();
}

bool hasExif(Bytes bytes)
{
    constexpr std::uint8_t ExifFlag = 0x08;
    return bytes.size() > 20 && std::equal(bytes.begin() + 12, bytes.begin() + 16, "VP8X") && (bytes[20] & ExifFlag);
}

using Container = std::unique_ptr<WebPDemuxer, void (*)(WebPDemuxer *)>;

// The chunk holds a TIFF structure, which some writers precede with JPEG's mark.
int orientationOf(const Container &container)
{
    constexpr std::uint8_t Mark[] = {'E', 'x', 'i', 'f', 0, 0};
    WebPChunkIterator found{};
    int orientation = 1;
    if (WebPDemuxGetChunk(container.get(), "EXIF", 1, &found)) {
        Bytes exif(found.chunk.bytes, found.chunk.size);
        if (exif.size() > sizeof Mark && std::equal(std::begin(Mark), std::end(Mark), exif.begin()))
            exif = exif.subspan(sizeof Mark);
        orientation = exifOrientation(exif);
    }
    WebPDemuxReleaseChunkIterator(&found);
    return orientation;
}

// The first frame on a black canvas: nothing lies below it, and transparency is dropped.
VP8StatusCode decodeFrame(const WebPIterator &frame, ImageBuffer &image)
{
    const std::size_t stride = std::size_t(image.width) * 3;
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return VP8_STATUS_UNSUPPORTED_FEATURE;
    const VP8StatusCode known = WebPGetFeatures(frame.fragment.bytes, frame.fragment.size, &config.input);
    if (known != VP8_STATUS_OK)
        return known;
    const bool fits = frame.x_offset >= 0 && frame.y_offset >= 0 && config.input.width == frame.width
                      && config.input.height == frame.height && frame.width <= image.width - frame.x_offset
                      && frame.height <= image.height - frame.y_offset;
    if (!fits)
        return VP8_STATUS_BITSTREAM_ERROR;
    const bool isWhole = frame.width == image.width && frame.height == image.height;
    if (!isWhole)
        std::fill(image.pixels.begin(), image.pixels.end(), std::uint8_t(0));
    const std::size_t start = std::size_t(frame.y_offset) * stride + std::size_t(frame.x_offset) * 3;
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = {image.pixels.data() + start, int(stride), image.pixels.size() - start};
    const VP8StatusCode status = WebPDecode(frame.fragment.bytes, frame.fragment.size, &config);
    WebPFreeDecBuffer(&config.output);
    return status;
}

} // namespace

Result<StoredPicture> decodeWebP(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image)
{
    WebPBitstreamFeatures features;
    const VP8StatusCode known = WebPGetFeatures(bytes.data(), bytes.size(), &features);
    if (known != VP8_STATUS_OK)
        return imageError(name,
                          bytes.size() < LongestPlainHeader ? QStringLiteral("it is cut short") : reasonOf(known));
    StoredPicture stored{features.width, features.height, 1};
    TW_TRY(checkSize(name, stored.width, stored.height, options));
    if (!image && !hasExif(bytes))
        return stored;
    if (isCutShort(bytes))
        return imageError(name, QStringLiteral("it is cut short"));
    const WebPData data{bytes.data(), bytes.size()};
    const Container container(WebPDemux(&data), WebPDemuxDelete);
    if (!container)
        return imageError(name, QStringLiteral("its WebP data are broken"));
    stored.orientation = orientationOf(container);
    if (!image)
        return stored;
    WebPIterator frame{};
    if (!WebPDemuxGetFrame(container.get(), 1, &frame))
        return imageError(name, QStringLiteral("it holds no picture"));
    setSize(*image, stored.width, stored.height);
    const VP8StatusCode status = frame.complete ? decodeFrame(frame, *image) : VP8_STATUS_NOT_ENOUGH_DATA;
    WebPDemuxReleaseIterator(&frame);
    if (status != VP8_STATUS_OK)
        return imageError(name, reasonOf(status));
    return stored;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/jpegdecoder.h"

#include <QString>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include <jerror.h>
#include <jpeglib.h>

namespace tw {

namespace {

// A progressive file of few bytes can hold thousands of empty scans, each a pass over all pixels.
constexpr int MostScans = 500;
constexpr std::size_t ExifMarkBytes = 6;

// Rows that one call may give: libjpeg hands over a row group at a time.
constexpr int RowsAtOnce = 8;

struct Decoder
{
    jpeg_decompress_struct info;
    jpeg_error_mgr errors;
    jpeg_source_mgr source;
    jpeg_progress_mgr progress;
    std::jmp_buf jump;
    char message[JMSG_LENGTH_MAX];
    bool cutShort;
    Bytes bytes;
    ImageBuffer *image;
    std::uint8_t *fourColours; // one row of CMYK; nullptr when libjpeg gives RGB
    std::uint8_t *spareRow;    // for a row that nobody wants
    JpegRegion wanted;
    int firstColumn; // of what libjpeg gives after cropping
    int columns;
};

Decoder &decoderOf(j_common_ptr info)
{
    return *static_cast<Decoder *>(info->client_data);
}

[[noreturn]] void onError(j_common_ptr info)
{
    Decoder &decoder = decoderOf(info);
    info->err->format_message(info, decoder.message);
    if (info->err->msg_code == JERR_BAD_PRECISION)
        std::snprintf(decoder.message, sizeof decoder.message, "it has %d bits a channel, only 8 are read",
                      decoder.info.data_precision);
    std::longjmp(decoder.jump, 1);
}

// Warnings are accepted, but for entropy-coded data that the end of the picture breaks off.
void onMessage(j_common_ptr info, int level)
{
    if (level >= 0)
        return;
    ++info->err->num_warnings;
    Decoder &decoder = decoderOf(info);
    if (info->err->msg_code == JWRN_HIT_MARKER && decoder.info.unread_marker == JPEG_EOI)
        decoder.cutShort = true;
}

void onOutput(j_common_ptr) {}

void onProgress(j_common_ptr info)
{
    Decoder &decoder = decoderOf(info);
    if (decoder.info.input_scan_number <= MostScans)
        return;
    std::snprintf(decoder.message, sizeof decoder.message, "it has more than %d scans", MostScans);
    std::longjmp(decoder.jump, 1);
}

void startSource(j_decompress_ptr) {}

boolean fillSource(j_decompress_ptr info)
{
    static const JOCTET End[2] = {0xff, JPEG_EOI};
    decoderOf(reinterpret_cast<j_common_ptr>(info)).cutShort = true;
    info->src->next_input_byte = End;
    info->src->bytes_in_buffer = sizeof End;
    return TRUE;
}

void skipSource(j_decompress_ptr info, long count)
{
    if (count <= 0)
        return;
    const auto left = std::size_t(count);
    if (left > info->src->bytes_in_buffer) {
        fillSource(info);
        return;
    }
    info->src->next_input_byte += left;
    info->src->bytes_in_buffer -= left;
}

void endSource(j_decompress_ptr) {}

void readHeader(Decoder &decoder)
{
    if (decoder.info.mem)
        jpeg_abort_decompress(&decoder.info);
    else
        jpeg_create_decompress(&decoder.info);
    decoder.source = {decoder.bytes.data(), decoder.bytes.size(),   startSource, fillSource,
                      skipSource,           jpeg_resync_to_restart, endSource};
    decoder.info.src = &decoder.source;
    decoder.progress = {onProgress, 0, 0, 0, 0};
    decoder.info.progress = &decoder.progress;
    jpeg_save_markers(&decoder.info, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(&decoder.info, TRUE);
}

int orientationOf(const jpeg_decompress_struct &info)
{
    for (jpeg_saved_marker_ptr marker = info.marker_list; marker; marker = marker->next)
        if (marker->marker == JPEG_APP0 + 1 && marker->data_length > ExifMarkBytes
            && std::memcmp(marker->data, "Exif\0\0", ExifMarkBytes) == 0)
            return exifOrientation(Bytes(marker->data + ExifMarkBytes, marker->data_length - ExifMarkBytes));
    return 1;
}

bool isFourColour(const jpeg_decompress_struct &info)
{
    return info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
}

// Adobe stores CMYK inverted, and all writers followed. The product is rounded as Pillow rounds it.
void fromInvertedCmyk(const std::uint8_t *in, std::uint8_t *out, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i, in += 4, out += 3)
        for (std::size_t c = 0; c < 3; ++c) {
            const int ink = 255 - in[c];
            const int product = ink * in[3] + 128;
            out[c] = std::uint8_t(std::max(0, in[3] - ((product + (product >> 8)) >> 8)));
        }
}

// libjpeg crops at whole blocks and interpolates colours over no more than what it decodes: a margin
// of two samples keeps the region itself free of that.
void cropColumns(Decoder &decoder)
{
    jpeg_decompress_struct &info = decoder.info;
    const PixelRegion &region = decoder.wanted.region;
    const int margin = 2 * info.max_h_samp_factor;
    const int first = std::max(0, region.x - margin);
    const int end = std::min(int(info.output_width), region.x + region.width + margin);
    JDIMENSION start = JDIMENSION(first), width = JDIMENSION(end - first);
    if (width < info.output_width)
        jpeg_crop_scanline(&info, &start, &width);
    else
        start = 0;
    decoder.firstColumn = int(start);
    decoder.columns = int(info.output_width);
}

void startPixels(Decoder &decoder)
{
    jpeg_decompress_struct &info = decoder.info;
    info.out_color_space = decoder.fourColours ? JCS_CMYK : JCS_RGB;
    info.scale_num = 1;
    info.scale_denom = unsigned(decoder.wanted.reduce);
    jpeg_start_decompress(&info);
    cropColumns(decoder);
}

void readRegion(Decoder &decoder)
{
    jpeg_decompress_struct &info = decoder.info;
    const PixelRegion &region = decoder.wanted.region;
    const auto stride = std::size_t(decoder.columns) * 3;
    if (region.y > 0)
        jpeg_skip_scanlines(&info, JDIMENSION(region.y));
    const int end = region.y + region.height;
    while (int(info.output_scanline) < end) {
        std::uint8_t *out = decoder.image->pixels.data() + std::size_t(int(info.output_scanline) - region.y) * stride;
        JSAMPROW rows[RowsAtOnce];
        const int count = decoder.fourColours ? 1 : std::min(RowsAtOnce, end - int(info.output_scanline));
        for (int i = 0; i < count; ++i)
            rows[i] = decoder.fourColours ? decoder.fourColours : out + std::size_t(i) * stride;
        if (jpeg_read_scanlines(&info, rows, JDIMENSION(count)) > 0 && decoder.fourColours)
            fromInvertedCmyk(decoder.fourColours, out, std::size_t(decoder.columns));
    }
}

// Without the pixels. libjpeg does not look at the last rows when all that is left is skipped.
void readToTheEnd(Decoder &decoder)
{
    jpeg_decompress_struct &info = decoder.info;
    while (info.output_scanline + 1 < info.output_height)
        jpeg_skip_scanlines(&info, info.output_height - info.output_scanline - 1);
    JSAMPROW row = decoder.spareRow;
    while (info.output_scanline < info.output_height)
        jpeg_read_scanlines(&info, &row, 1);
    jpeg_finish_decompress(&info);
}

// libjpeg jumps out of an error to here. A step makes no object with a destructor, and what
// outlives the jump lies in the decoder, not in this frame.
__attribute__((noinline)) bool perform(Decoder &decoder, void (*step)(Decoder &))
{
    if (setjmp(decoder.jump) != 0)
        return false;
    step(decoder);
    return true;
}

QString sentencePart(const char *message)
{
    QString text = QString::fromLocal8Bit(message);
    while (text.endsWith(u'.'))
        text.chop(1);
    return text;
}

Error failure(const Decoder &decoder, const std::string &name)
{
    return imageError(name, decoder.cutShort ? QStringLiteral("it is cut short") : sentencePart(decoder.message));
}

} // namespace

struct JpegDecoder::Private
{
    Decoder decoder{};
    std::string name;
    std::vector<std::uint8_t> spareRow;
};

JpegDecoder::JpegDecoder() : d(std::make_unique<Private>())
{
    Decoder &decoder = d->decoder;
    decoder.info.err = jpeg_std_error(&decoder.errors);
    decoder.errors.error_exit = onError;
    decoder.errors.emit_message = onMessage;
    decoder.errors.output_message = onOutput;
    decoder.info.client_data = &decoder;
}

JpegDecoder::~JpegDecoder()
{
    jpeg_destroy_decompress(&d->decoder.info);
}

Result<StoredPicture> JpegDecoder::open(Bytes bytes, const std::string &name, const DecodeOptions &options)
{
    Decoder &decoder = d->decoder;
    decoder.bytes = bytes;
    decoder.cutShort = false;
    d->name = name;
    if (!perform(decoder, readHeader))
        return failure(decoder, name);
    const StoredPicture stored{int(decoder.info.image_width), int(decoder.info.image_height),
                               orientationOf(decoder.info)};
    TW_TRY(checkSize(name, stored.width, stored.height, options));
    return stored;
}

Result<PixelView> JpegDecoder::decode(const JpegRegion &wanted, ImageBuffer &image)
{
    Decoder &decoder = d->decoder;
    decoder.image = &image;
    decoder.wanted = wanted;
    d->spareRow.resize(std::size_t(decoder.info.image_width) * 4);
    decoder.spareRow = d->spareRow.data();
    decoder.fourColours = isFourColour(decoder.info) ? decoder.spareRow : nullptr;
    if (!perform(decoder, startPixels))
        return failure(decoder, d->name);
    setSize(image, decoder.columns, wanted.region.height);
    if (!perform(decoder, readRegion) || (wanted.toTheEnd && !perform(decoder, readToTheEnd)) || decoder.cutShort)
        return failure(decoder, d->name);
    setSize(image, decoder.columns, wanted.region.height);
    PixelRegion inside = wanted.region;
    inside.x -= decoder.firstColumn;
    inside.y = 0;
    return viewOf(image).region(inside);
}

Result<StoredPicture> decodeJpeg(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image)
{
    JpegDecoder decoder;
    TW_ASSIGN(stored, decoder.open(bytes, name, options));
    if (image)
        TW_TRY(decoder.decode({1, {0, 0, stored.width, stored.height}, true}, *image));
    return stored;
}

} // namespace tw

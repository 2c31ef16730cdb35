// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/decoders.h"

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

// One decompression. libjpeg jumps out of an error, so nothing here has a destructor that matters
// between setjmp() and the end of the C calls.
struct Decoder
{
    jpeg_decompress_struct info;
    jpeg_error_mgr errors;
    jpeg_source_mgr source;
    jpeg_progress_mgr progress;
    std::jmp_buf jump;
    char message[JMSG_LENGTH_MAX];
    bool cutShort;
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

void prepareErrors(Decoder &decoder)
{
    decoder.info.err = jpeg_std_error(&decoder.errors);
    decoder.errors.error_exit = onError;
    decoder.errors.emit_message = onMessage;
    decoder.errors.output_message = onOutput;
    decoder.info.client_data = &decoder;
}

void attach(Decoder &decoder, Bytes bytes)
{
    decoder.info.client_data = &decoder;
    decoder.source = {bytes.data(), bytes.size(), startSource, fillSource, skipSource, jpeg_resync_to_restart, endSource};
    decoder.info.src = &decoder.source;
    decoder.progress = {onProgress, 0, 0, 0, 0};
    decoder.info.progress = &decoder.progress;
    jpeg_save_markers(&decoder.info, JPEG_APP0 + 1, 0xffff);
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

void readRows(jpeg_decompress_struct &info, ImageBuffer &image, std::vector<std::uint8_t> &fourColours)
{
    while (info.output_scanline < info.output_height) {
        const int y = int(info.output_scanline);
        JSAMPROW row = fourColours.empty() ? image.row(y) : fourColours.data();
        if (jpeg_read_scanlines(&info, &row, 1) == 1 && !fourColours.empty())
            fromInvertedCmyk(fourColours.data(), image.row(y), std::size_t(image.width));
    }
}

QString sentencePart(const char *message)
{
    QString text = QString::fromLocal8Bit(message);
    while (text.endsWith(u'.'))
        text.chop(1);
    return text;
}

struct Cleanup
{
    Decoder *decoder;
    ~Cleanup() { jpeg_destroy_decompress(&decoder->info); }
};

} // namespace

Result<StoredPicture> decodeJpeg(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image)
{
    Decoder decoder{};
    const Cleanup cleanup{&decoder};
    std::vector<std::uint8_t> fourColours;
    StoredPicture stored;
    prepareErrors(decoder);
    if (setjmp(decoder.jump) != 0)
        return imageError(name, decoder.cutShort ? QStringLiteral("it is cut short") : sentencePart(decoder.message));
    jpeg_create_decompress(&decoder.info);
    attach(decoder, bytes);
    jpeg_read_header(&decoder.info, TRUE);
    stored = {int(decoder.info.image_width), int(decoder.info.image_height), orientationOf(decoder.info)};
    if (Result<void> size = checkSize(name, stored.width, stored.height, options); !size.ok())
        return size.error();
    if (!image)
        return stored;
    decoder.info.out_color_space = isFourColour(decoder.info) ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&decoder.info);
    setSize(*image, stored.width, stored.height);
    if (isFourColour(decoder.info))
        fourColours.resize(std::size_t(stored.width) * 4);
    readRows(decoder.info, *image, fourColours);
    jpeg_finish_decompress(&decoder.info);
    if (decoder.cutShort)
        return imageError(name, QStringLiteral("it is cut short"));
    return stored;
}

} // namespace tw

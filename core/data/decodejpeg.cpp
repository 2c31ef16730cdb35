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

void readPixels(Decoder &decoder)
{
    jpeg_decompress_struct &info = decoder.info;
    info.out_color_space = decoder.fourColours ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
        std::uint8_t *out = decoder.image->row(int(info.output_scanline));
        JSAMPROW row = decoder.fourColours ? decoder.fourColours : out;
        if (jpeg_read_scanlines(&info, &row, 1) == 1 && decoder.fourColours)
            fromInvertedCmyk(decoder.fourColours, out, std::size_t(decoder.image->width));
    }
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
    decoder.info.err = jpeg_std_error(&decoder.errors);
    decoder.errors.error_exit = onError;
    decoder.errors.emit_message = onMessage;
    decoder.errors.output_message = onOutput;
    decoder.info.client_data = &decoder;
    decoder.bytes = bytes;
    decoder.image = image;
    if (!perform(decoder, readHeader))
        return failure(decoder, name);
    const StoredPicture stored{int(decoder.info.image_width), int(decoder.info.image_height),
                               orientationOf(decoder.info)};
    TW_TRY(checkSize(name, stored.width, stored.height, options));
    if (!image)
        return stored;
    setSize(*image, stored.width, stored.height);
    std::vector<std::uint8_t> fourColours(isFourColour(decoder.info) ? std::size_t(stored.width) * 4 : 0);
    decoder.fourColours = fourColours.empty() ? nullptr : fourColours.data();
    if (!perform(decoder, readPixels) || decoder.cutShort)
        return failure(decoder, name);
    return stored;
}

} // namespace tw

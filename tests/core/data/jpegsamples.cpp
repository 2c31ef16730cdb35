// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/data/jpegsamples.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <jpeglib.h>

namespace tw::test {

namespace {

void writeOrientation(jpeg_compress_struct &info, int orientation)
{
    unsigned char mark[] = "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x01\0\0\0\0\0\0\0";
    mark[24] = static_cast<unsigned char>(orientation);
    jpeg_write_marker(&info, JPEG_APP0 + 1, mark, sizeof mark - 1);
}

void writeRows(jpeg_compress_struct &info, const ImageBuffer &image)
{
    std::vector<JSAMPLE> gray(std::size_t(image.width));
    while (info.next_scanline < info.image_height) {
        const std::uint8_t *in = image.row(int(info.next_scanline));
        for (std::size_t x = 0; x < gray.size(); ++x)
            gray[x] = luma(in + 3 * x);
        JSAMPROW row = info.input_components == 1 ? gray.data() : const_cast<JSAMPROW>(in);
        jpeg_write_scanlines(&info, &row, 1);
    }
}

} // namespace

QByteArray jpegOf(const ImageBuffer &image, const JpegForm &form)
{
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char *bytes = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &bytes, &size);
    info.image_width = JDIMENSION(image.width);
    info.image_height = JDIMENSION(image.height);
    info.input_components = form.isGray ? 1 : 3;
    info.in_color_space = form.isGray ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, form.quality, TRUE);
    info.comp_info[0].h_samp_factor = form.isGray ? 1 : form.across;
    info.comp_info[0].v_samp_factor = form.isGray ? 1 : form.down;
    info.restart_in_rows = form.restartRows;
    if (form.isProgressive)
        jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    if (form.orientation != 1)
        writeOrientation(info, form.orientation);
    writeRows(info, image);
    jpeg_finish_compress(&info);
    const QByteArray out(reinterpret_cast<const char *>(bytes), qsizetype(size));
    jpeg_destroy_compress(&info);
    std::free(bytes);
    return out;
}

} // namespace tw::test

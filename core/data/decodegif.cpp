// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/decoders.h"

#include <QString>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <gif_lib.h>

namespace tw {

namespace {

constexpr std::uint64_t LargestLzwRatio = 2731; // a code of 12 bits stands for 4096 pixels at most
constexpr std::size_t GraphicsBlockBytes = 4;

struct Source
{
    Bytes rest;
    bool isCutShort = false;
};

int readBytes(GifFileType *gif, GifByteType *out, int count)
{
    auto &source = *static_cast<Source *>(gif->UserData);
    const std::size_t taken = std::min(std::size_t(std::max(count, 0)), source.rest.size());
    std::copy_n(source.rest.data(), taken, out);
    source.rest = source.rest.subspan(taken);
    source.isCutShort = source.isCutShort || taken < std::size_t(count);
    return int(taken);
}

void closeGif(GifFileType *gif)
{
    DGifCloseFile(gif, nullptr);
}

using GifFile = std::unique_ptr<GifFileType, void (*)(GifFileType *)>;

Error failure(const Source &source, const std::string &name, int code)
{
    if (source.isCutShort)
        return imageError(name, QStringLiteral("it is cut short"));
    if (code == D_GIF_ERR_NOT_ENOUGH_MEM)
        return imageError(name, QStringLiteral("there is not enough memory for it"));
    return imageError(name, QStringLiteral("its GIF data are broken"));
}

// Goes over an extension; `transparent` becomes the index that it names, if it names one.
bool readExtension(GifFileType *gif, int &transparent)
{
    int code = 0;
    GifByteType *block = nullptr; // the first byte is the number of those that follow
    if (DGifGetExtension(gif, &code, &block) != GIF_OK)
        return false;
    if (code == GRAPHICS_EXT_FUNC_CODE && block && block[0] >= GraphicsBlockBytes && (block[1] & 1) != 0)
        transparent = block[4];
    while (block)
        if (DGifGetExtensionNext(gif, &block) != GIF_OK)
            return false;
    return true;
}

enum class Found { Frame, End, Broken };

// Up to the first frame, its description included. Bytes between blocks are passed over, as in Pillow.
Found findFrame(GifFileType *gif, const Source &source, int &transparent)
{
    while (true) {
        GifRecordType type = UNDEFINED_RECORD_TYPE;
        if (DGifGetRecordType(gif, &type) != GIF_OK) {
            if (gif->Error == D_GIF_ERR_WRONG_RECORD && !source.isCutShort)
                continue;
            return Found::Broken;
        }
        if (type == TERMINATE_RECORD_TYPE)
            return Found::End;
        if (type == IMAGE_DESC_RECORD_TYPE)
            return DGifGetImageDesc(gif) == GIF_OK ? Found::Frame : Found::Broken;
        if (type == EXTENSION_RECORD_TYPE && !readExtension(gif, transparent))
            return Found::Broken;
    }
}

using ColourTable = std::array<std::uint8_t, 256 * 3>;

// Without a palette an index is a gray level; so is one that the palette lacks, as in Pillow.
ColourTable colourTable(const GifFileType &gif)
{
    const ColorMapObject *map = gif.Image.ColorMap ? gif.Image.ColorMap : gif.SColorMap;
    const std::size_t count = map && map->Colors ? std::size_t(std::clamp(map->ColorCount, 0, 256)) : 0;
    ColourTable table{};
    for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = std::uint8_t(i / 3);
    for (std::size_t i = 0; i < count; ++i) {
        table[i * 3] = map->Colors[i].Red;
        table[i * 3 + 1] = map->Colors[i].Green;
        table[i * 3 + 2] = map->Colors[i].Blue;
    }
    return table;
}

void fillCanvas(ImageBuffer &image, const std::uint8_t *colour)
{
    for (std::size_t i = 0; i < image.pixels.size(); ++i)
        image.pixels[i] = colour[i % 3];
}

bool readRow(GifFileType *gif, std::vector<GifPixelType> &row, const ColourTable &table, std::uint8_t *out)
{
    if (DGifGetLine(gif, row.data(), int(row.size())) != GIF_OK)
        return false;
    for (const GifPixelType index : row)
        out = std::copy_n(table.data() + std::size_t(index) * 3, 3, out);
    return true;
}

bool readFrame(GifFileType *gif, const ColourTable &table, ImageBuffer &image)
{
    struct Pass
    {
        int from, step;
    };
    constexpr std::array<Pass, 4> Interlaced{{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
    const GifImageDesc &frame = gif->Image;
    std::vector<GifPixelType> row(std::size_t(frame.Width));
    const std::size_t passes = frame.Interlace ? Interlaced.size() : 1;
    for (std::size_t p = 0; p < passes; ++p) {
        const Pass pass = frame.Interlace ? Interlaced[p] : Pass{0, 1};
        for (int y = pass.from; y < frame.Height; y += pass.step)
            if (!readRow(gif, row, table, image.row(frame.Top + y) + std::size_t(frame.Left) * 3))
                return false;
    }
    return true;
}

} // namespace

Result<StoredPicture> decodeGif(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image)
{
    Source source{bytes};
    int code = 0, transparent = -1;
    const GifFile gif(DGifOpen(&source, readBytes, &code), closeGif);
    if (!gif)
        return failure(source, name, code);
    const Found found = findFrame(gif.get(), source, transparent);
    if (found == Found::End)
        return imageError(name, QStringLiteral("it holds no picture"));
    if (found == Found::Broken)
        return failure(source, name, gif->Error);
    const GifImageDesc &frame = gif->Image;
    if (frame.Width < 1 || frame.Height < 1)
        return imageError(name,
                          QStringLiteral("its first frame has %1 × %2 pixels").arg(frame.Width).arg(frame.Height));
    const std::int64_t width = std::max(gif->SWidth, frame.Left + frame.Width);
    const std::int64_t height = std::max(gif->SHeight, frame.Top + frame.Height);
    TW_TRY(checkSize(name, width, height, options));
    const StoredPicture stored{int(width), int(height), 1};
    if (!image)
        return stored;
    if (std::uint64_t(frame.Width) * std::uint64_t(frame.Height) > (source.rest.size() + 1) * LargestLzwRatio)
        return imageError(name, QStringLiteral("it is cut short"));
    setSize(*image, stored.width, stored.height);
    const ColourTable table = colourTable(*gif);
    if (frame.Width != width || frame.Height != height)
        fillCanvas(*image, table.data() + std::size_t(std::max(transparent, 0)) * 3);
    if (!readFrame(gif.get(), table, *image))
        return failure(source, name, gif->Error);
    return stored;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasamples.h"

#include <fstream>

namespace tw::test {

static QByteArray bigEndian(quint32 value)
{
    QByteArray out;
    for (int shift = 24; shift >= 0; shift -= 8)
        out.append(char(value >> shift));
    return out;
}

QByteArray ppmOf(const ImageBuffer &image)
{
    return "P6\n" + QByteArray::number(image.width) + ' ' + QByteArray::number(image.height) + "\n255\n"
           + QByteArray(reinterpret_cast<const char *>(image.pixels.data()), qsizetype(image.pixels.size()));
}

ImageBuffer patternImage(int width, int height, unsigned seed)
{
    ImageBuffer image{width, height, std::vector<std::uint8_t>(std::size_t(width) * std::size_t(height) * 3)};
    unsigned state = seed * 2654435761U + 12345U;
    for (std::uint8_t &value : image.pixels) {
        state = state * 1664525U + 1013904223U;
        value = std::uint8_t(state >> 24);
    }
    return image;
}

void writeBytes(const fs::path &file, const QByteArray &bytes)
{
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary).write(bytes.constData(), bytes.size());
}

void writeClassFolders(const fs::path &root, int count, int width, int height)
{
    for (int i = 0; i < count; ++i)
        writeBytes(root / std::string(1, char('a' + i % 3)) / (std::to_string(i) + ".ppm"),
                   ppmOf(patternImage(width, height, unsigned(i))));
}

fs::path writeIdxPair(const fs::path &folder, int count, int rows, int columns)
{
    QByteArray images =
        bigEndian(0x803) + bigEndian(quint32(count)) + bigEndian(quint32(rows)) + bigEndian(quint32(columns));
    QByteArray labels = bigEndian(0x801) + bigEndian(quint32(count));
    for (int i = 0; i < count; ++i) {
        const ImageBuffer image = patternImage(columns, rows, unsigned(i));
        for (int pixel = 0; pixel < rows * columns; ++pixel)
            images.append(char(image.pixels[std::size_t(pixel) * 3]));
        labels.append(char(i % 3));
    }
    writeBytes(folder / "small-labels-idx1-ubyte", labels);
    writeBytes(folder / "small-images-idx3-ubyte", images);
    return folder / "small-images-idx3-ubyte";
}

} // namespace tw::test

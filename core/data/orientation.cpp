// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/decoders.h"

#include <algorithm>
#include <utility>

namespace tw {

namespace {

constexpr std::uint16_t OrientationTag = 0x0112;
constexpr std::uint16_t ShortType = 3;

class TiffReader
{
public:
    explicit TiffReader(Bytes bytes) : m_bytes(bytes) {}
    bool open()
    {
        if (m_bytes.size() < 8)
            return false;
        m_big = m_bytes[0] == 'M';
        return m_bytes[0] == m_bytes[1] && (m_big || m_bytes[0] == 'I') && get16(2) == 42;
    }
    std::uint32_t get16(std::size_t at) const
    {
        if (at + 2 > m_bytes.size())
            return 0;
        const std::uint32_t first = m_bytes[at], second = m_bytes[at + 1];
        return m_big ? first << 8 | second : second << 8 | first;
    }
    std::uint32_t get32(std::size_t at) const
    {
        return m_big ? get16(at) << 16 | get16(at + 2) : get16(at + 2) << 16 | get16(at);
    }

private:
    Bytes m_bytes;
    bool m_big = false;
};

// Pixel (x, y) of the result lies at start + x·stepX + y·stepY of the stored picture.
struct Walk
{
    std::ptrdiff_t start, stepX, stepY;
};

Walk walkFor(int orientation, std::ptrdiff_t width, std::ptrdiff_t height)
{
    const std::ptrdiff_t last = width * height - 1;
    switch (orientation) {
    case 2:
        return {width - 1, -1, width};
    case 3:
        return {last, -1, -width};
    case 4:
        return {last - (width - 1), 1, -width};
    case 5:
        return {0, width, 1};
    case 6:
        return {last - (width - 1), -width, 1};
    case 7:
        return {last, -width, -1};
    default:
        return {width - 1, width, -1};
    }
}

} // namespace

int exifOrientation(Bytes tiff)
{
    TiffReader reader(tiff);
    if (!reader.open())
        return 1;
    const std::size_t directory = reader.get32(4);
    const std::uint32_t count = reader.get16(directory);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::size_t entry = directory + 2 + std::size_t(i) * 12;
        if (entry + 12 > tiff.size())
            return 1;
        if (reader.get16(entry) != OrientationTag)
            continue;
        const std::uint32_t value = reader.get16(entry + 8);
        const bool valid = reader.get16(entry + 2) == ShortType && value >= 1 && value <= 8;
        return valid ? int(value) : 1;
    }
    return 1;
}

void applyOrientation(ImageBuffer &image, int orientation)
{
    if (orientation <= 1 || orientation > 8)
        return;
    ImageBuffer out;
    const bool turned = orientation >= 5;
    setSize(out, turned ? image.height : image.width, turned ? image.width : image.height);
    const Walk walk = walkFor(orientation, image.width, image.height);
    std::uint8_t *to = out.pixels.data();
    for (int y = 0; y < out.height; ++y) {
        const std::uint8_t *from = image.pixels.data() + (walk.start + y * walk.stepY) * 3;
        for (int x = 0; x < out.width; ++x, from += walk.stepX * 3, to += 3) {
            to[0] = from[0];
            to[1] = from[1];
            to[2] = from[2];
        }
    }
    std::swap(image, out);
}

ImageSize orientedSize(ImageSize stored, int orientation)
{
    return orientation >= 5 ? ImageSize{stored.height, stored.width} : stored;
}

PixelRegion storedRegion(const PixelRegion &region, ImageSize stored, int orientation)
{
    if (orientation <= 1 || orientation > 8)
        return region;
    PixelRegion out = region;
    if (orientation >= 5)
        out = {region.y, region.x, region.height, region.width};
    const bool fromRight = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const bool fromBelow = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    if (fromRight)
        out.x = stored.width - out.x - out.width;
    if (fromBelow)
        out.y = stored.height - out.y - out.height;
    return out;
}

} // namespace tw

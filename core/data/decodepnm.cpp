// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/decoders.h"

#include <QString>

#include <array>

// The whole PNM family is read here: OpenCV leaves values as they are where the maximum is not 255.
namespace tw {

namespace {

bool isSpace(std::uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

class Reader
{
public:
    explicit Reader(Bytes bytes) : m_bytes(bytes) {}

    /// Next whole number after white space and comments, -1 when there is none.
    std::int64_t number()
    {
        skipSpace();
        std::int64_t value = -1;
        for (; m_at < m_bytes.size() && m_bytes[m_at] >= '0' && m_bytes[m_at] <= '9'; ++m_at) {
            value = (value < 0 ? 0 : value) * 10 + (m_bytes[m_at] - '0');
            if (value > 1'000'000'000)
                return -1;
        }
        return value;
    }
    /// '0' or '1' of a plain bitmap, which need no space between them; -1 for anything else.
    int bit()
    {
        skipSpace();
        if (m_at >= m_bytes.size() || (m_bytes[m_at] != '0' && m_bytes[m_at] != '1'))
            return -1;
        return m_bytes[m_at++] - '0';
    }
    /// The one white space that ends a binary header.
    void endHeader() { m_at += m_at < m_bytes.size() && isSpace(m_bytes[m_at]) ? 1 : 0; }
    Bytes rest() const { return m_bytes.subspan(m_at); }
    bool atEnd()
    {
        skipSpace();
        return m_at >= m_bytes.size();
    }

private:
    void skipSpace()
    {
        while (m_at < m_bytes.size() && (isSpace(m_bytes[m_at]) || m_bytes[m_at] == '#')) {
            if (m_bytes[m_at] == '#')
                while (m_at < m_bytes.size() && m_bytes[m_at] != '\n' && m_bytes[m_at] != '\r')
                    ++m_at;
            else
                ++m_at;
        }
    }
    Bytes m_bytes;
    std::size_t m_at = 2;
};

struct Header
{
    bool isText, isBitmap;
    std::size_t channels;
    unsigned maximum;
};

std::uint8_t scaled(unsigned value, unsigned maximum)
{
    if (maximum == 65'535)
        return std::uint8_t((value + 128) / 257);
    const unsigned limited = value < maximum ? value : maximum;
    return std::uint8_t((std::uint64_t(limited) * 255 + maximum / 2) / maximum);
}

void store(ImageBuffer &image, std::size_t value, std::size_t channels, std::uint8_t level)
{
    if (channels == 3)
        image.pixels[value] = level;
    else
        image.pixels[3 * value] = image.pixels[3 * value + 1] = image.pixels[3 * value + 2] = level;
}

bool readText(Reader &reader, const Header &header, ImageBuffer &image, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t value = header.isBitmap ? reader.bit() : reader.number();
        if (value < 0)
            return false;
        // A bitmap's 1 is black.
        store(image, i, header.channels,
              header.isBitmap ? std::uint8_t(value ? 0 : 255) : scaled(unsigned(value), header.maximum));
    }
    return true;
}

bool readBits(Bytes data, ImageBuffer &image)
{
    const std::size_t stride = (std::size_t(image.width) + 7) / 8;
    if (data.size() < stride * std::size_t(image.height))
        return false;
    for (std::size_t y = 0; y < std::size_t(image.height); ++y)
        for (std::size_t x = 0; x < std::size_t(image.width); ++x) {
            const bool black = (data[y * stride + x / 8] >> (7 - x % 8) & 1) != 0;
            store(image, y * std::size_t(image.width) + x, 1, black ? 0 : 255);
        }
    return true;
}

bool readBinary(Bytes data, const Header &header, ImageBuffer &image, std::size_t count)
{
    const std::size_t width = header.maximum > 255 ? 2 : 1;
    if (data.size() < count * width)
        return false;
    std::array<std::uint8_t, 256> levels{};
    for (unsigned value = 0; value < 256; ++value)
        levels[value] = scaled(value, header.maximum);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t *at = data.data() + i * width;
        store(image, i, header.channels,
              width == 1 ? levels[*at] : scaled(unsigned(at[0]) << 8 | at[1], header.maximum));
    }
    return true;
}

bool readPixels(Reader &reader, const Header &header, ImageBuffer &image)
{
    const std::size_t count = std::size_t(image.width) * std::size_t(image.height) * header.channels;
    if (header.isText)
        return readText(reader, header, image, count);
    reader.endHeader();
    return header.isBitmap ? readBits(reader.rest(), image) : readBinary(reader.rest(), header, image, count);
}

} // namespace

Result<StoredPicture> decodePnm(Bytes bytes, const std::string &name, const DecodeOptions &options, ImageBuffer *image)
{
    const int kind = bytes[1] - '0';
    Header header{kind <= 3, kind == 1 || kind == 4, std::size_t(kind == 3 || kind == 6 ? 3 : 1), 1};
    Reader reader(bytes);
    const std::int64_t width = reader.number(), height = reader.number();
    const std::int64_t maximum = header.isBitmap ? 1 : reader.number();
    TW_TRY(checkSize(name, width, height, options));
    if (maximum < 1 || maximum > 65'535)
        return imageError(name, QStringLiteral("its maximum value is not from 1 to 65535"));
    header.maximum = unsigned(maximum);
    const StoredPicture stored{int(width), int(height), 1};
    if (!image)
        return stored;
    // A value takes at least a bit of the file: refuse before taking memory that it cannot fill.
    if (width * height > std::int64_t(bytes.size()) * 8)
        return imageError(name, QStringLiteral("it is cut short"));
    setSize(*image, stored.width, stored.height);
    if (!readPixels(reader, header, *image))
        return imageError(name, reader.atEnd() || !header.isText
                                    ? QStringLiteral("it is cut short")
                                    : QStringLiteral("it holds something else than numbers"));
    return stored;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/picturefacts.h"

#include "core/base/files.h"

#include <QCoreApplication>

#include <algorithm>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tw {

namespace {

constexpr std::uint32_t Edge = 32;
constexpr std::uint32_t RowsAtOnce = 256; // 256 · 255 fits 16 bits, 256 · 255² fits 32
constexpr char FactsFile[] = "picture_facts.bin";
constexpr std::string_view Magic = "TWPICFAC";
constexpr std::uint32_t Version = 1;
constexpr std::size_t RecordBytes = 73, HeadBytes = 24;

/// Two rows at once: sums and sums of squares of every byte's column. Exact in any order.
void addRows(const std::uint8_t *first, const std::uint8_t *second, std::size_t count, std::uint16_t *sums,
             std::uint32_t *squares)
{
    std::size_t i = 0;
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    const auto add32 = [](std::uint32_t *to, __m128i value) {
        auto *place = reinterpret_cast<__m128i *>(to);
        _mm_storeu_si128(place, _mm_add_epi32(_mm_loadu_si128(place), value));
    };
    const auto add16 = [](std::uint16_t *to, __m128i a, __m128i b) {
        auto *place = reinterpret_cast<__m128i *>(to);
        _mm_storeu_si128(place, _mm_add_epi16(_mm_loadu_si128(place), _mm_add_epi16(a, b)));
    };
    for (; i + 16 <= count; i += 16) {
        const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i *>(first + i));
        const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i *>(second + i));
        add16(sums + i, _mm_unpacklo_epi8(a, zero), _mm_unpacklo_epi8(b, zero));
        add16(sums + i + 8, _mm_unpackhi_epi8(a, zero), _mm_unpackhi_epi8(b, zero));
        const __m128i low = _mm_unpacklo_epi8(a, b), high = _mm_unpackhi_epi8(a, b); // a0 b0 a1 b1 …
        const auto pairs = [&](std::uint32_t *to, __m128i words) { add32(to, _mm_madd_epi16(words, words)); };
        pairs(squares + i, _mm_unpacklo_epi8(low, zero));
        pairs(squares + i + 4, _mm_unpackhi_epi8(low, zero));
        pairs(squares + i + 8, _mm_unpacklo_epi8(high, zero));
        pairs(squares + i + 12, _mm_unpackhi_epi8(high, zero));
    }
#endif
    for (; i < count; ++i) {
        const std::uint32_t a = first[i], b = second[i];
        sums[i] = std::uint16_t(sums[i] + a + b);
        squares[i] += a * a + b * b;
    }
}

/// How much of [place·Edge, (place+1)·Edge) lies in each cell of `extent`: calls add(cell, weight).
template <typename Add> void shareOut(std::uint32_t place, std::uint32_t extent, const Add &add)
{
    std::uint64_t from = std::uint64_t(place) * Edge;
    const std::uint64_t end = from + Edge;
    for (std::uint64_t cell = from / extent; from < end; ++cell) {
        const std::uint64_t to = std::min(end, (cell + 1) * extent);
        add(std::size_t(cell), to - from);
        from = to;
    }
}

PerceptualHash hashOf(const std::array<std::uint64_t, 1024> &sums, std::uint64_t pixels)
{
    std::array<std::int32_t, 1024> cells{};
    const std::uint64_t unit = pixels * 256; // the luma has 16 bits after the point, the cells 8
    for (std::size_t i = 0; i < cells.size(); ++i)
        cells[i] = std::int32_t((sums[i] + unit / 2) / unit);
    return perceptualHash(cells);
}

} // namespace

/// Takes the sums of the rows from `firstRow` on, which all lie in the same cells, into these.
void PictureMeasurer::flush(const PixelView &image, std::uint32_t firstRow, PictureFacts &facts)
{
    std::array<std::uint64_t, Edge> line{};
    const bool gray = image.channels == 1;
    const auto width = std::uint32_t(image.width);
    const std::size_t second = gray ? 0 : 1, step = gray ? 1 : 3;
    std::size_t at = 0;
    std::uint64_t cell = 0, cellEnd = width; // in 1/Edge of a pixel
    for (std::uint32_t x = 0; x < width; ++x, at += step) {
        const std::array<std::uint64_t, 3> rgb{m_columns[at], m_columns[at + second], m_columns[at + 2 * second]};
        for (std::size_t c = 0; c < 3; ++c) {
            facts.sums[c] += rgb[c];
            facts.squares[c] += m_squares[at + c * second];
        }
        const std::uint64_t luma = rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471;
        std::uint64_t from = std::uint64_t(x) * Edge;
        const std::uint64_t end = from + Edge;
        while (cellEnd <= end) {
            line[cell++] += luma * (cellEnd - from);
            from = cellEnd;
            cellEnd += width;
        }
        if (from < end)
            line[cell] += luma * (end - from);
    }
    shareOut(firstRow, std::uint32_t(image.height), [&](std::size_t row, std::uint64_t weight) {
        for (std::size_t i = 0; i < Edge; ++i)
            m_cells[row * Edge + i] += line[i] * weight;
    });
    std::fill(m_columns.begin(), m_columns.end(), std::uint16_t(0));
    std::fill(m_squares.begin(), m_squares.end(), 0U);
}

PictureFacts PictureMeasurer::measure(const PixelView &image, ImageFormat format)
{
    PictureFacts facts;
    facts.width = std::uint32_t(image.width);
    facts.height = std::uint32_t(image.height);
    facts.format = format;
    facts.hasPixels = true;
    m_columns.assign(image.rowBytes(), 0);
    m_squares.assign(image.rowBytes(), 0);
    m_cells.fill(0);
    const std::uint64_t height = facts.height;
    const auto firstCell = [&](std::uint64_t y) { return y * Edge / height; };
    const auto lastCell = [&](std::uint64_t y) { return ((y + 1) * Edge - 1) / height; };
    for (std::uint32_t y = 0; y < height;) {
        std::uint32_t rows = 1;
        if (firstCell(y) == lastCell(y))
            while (y + rows < height && rows < RowsAtOnce && lastCell(y + rows) == firstCell(y))
                ++rows;
        std::uint32_t done = 0;
        for (; done + 2 <= rows; done += 2)
            addRows(image.row(int(y + done)), image.row(int(y + done + 1)), image.rowBytes(), m_columns.data(),
                    m_squares.data());
        if (done < rows) {
            m_zeros.resize(std::max(m_zeros.size(), image.rowBytes()));
            addRows(image.row(int(y + done)), m_zeros.data(), image.rowBytes(), m_columns.data(), m_squares.data());
        }
        flush(image, y, facts);
        y += rows;
    }
    facts.hash = hashOf(m_cells, std::uint64_t(facts.width) * facts.height);
    return facts;
}

namespace {

void append(std::string &out, std::uint64_t value, std::size_t bytes)
{
    for (std::size_t i = 0; i < bytes; ++i)
        out.push_back(char(std::uint8_t(value >> (8 * i))));
}

std::uint64_t take(std::string_view &in, std::size_t bytes)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
        value |= std::uint64_t(std::uint8_t(in[i])) << (8 * i);
    in.remove_prefix(bytes);
    return value;
}

void pack(std::string &out, const PictureFacts &facts)
{
    append(out, facts.width, 4);
    append(out, facts.height, 4);
    append(out, (facts.hasPixels ? 1U : 0U) | (facts.hash.known ? 2U : 0U) | (std::uint64_t(facts.format) << 4U), 1);
    for (std::size_t c = 0; c < 3; ++c)
        append(out, facts.sums[c], 8);
    for (std::size_t c = 0; c < 3; ++c)
        append(out, facts.squares[c], 8);
    append(out, facts.hash.code, 8);
    append(out, facts.hash.check, 8);
}

Error badFacts(const fs::path &file, const QString &reason)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "\"%1\" does not go with its image directory: %2."),
                     {displayPath(file), reason}, QT_TRANSLATE_NOOP("Error", "Run Convert to Image Directory again."));
}

} // namespace

std::string packedFacts(const PictureFacts &facts)
{
    std::string out;
    out.reserve(RecordBytes);
    pack(out, facts);
    return out;
}

PictureFacts unpackedFacts(std::string_view bytes)
{
    PictureFacts facts;
    if (bytes.size() != RecordBytes)
        return facts;
    facts.width = std::uint32_t(take(bytes, 4));
    facts.height = std::uint32_t(take(bytes, 4));
    const std::uint64_t flags = take(bytes, 1);
    facts.hasPixels = flags & 1U;
    facts.hash.known = flags & 2U;
    facts.format = flags >> 4U <= std::uint64_t(ImageFormat::Gif) ? ImageFormat(flags >> 4U) : ImageFormat::Unknown;
    for (std::uint64_t &sum : facts.sums)
        sum = take(bytes, 8);
    for (std::uint64_t &sum : facts.squares)
        sum = take(bytes, 8);
    facts.hash.code = take(bytes, 8);
    facts.hash.check = take(bytes, 8);
    return facts;
}

Result<void> writePictureFacts(const fs::path &folder, const std::vector<PictureFacts> &facts)
{
    std::string text(Magic);
    text.reserve(HeadBytes + facts.size() * RecordBytes);
    append(text, Version, 4);
    append(text, RecordBytes, 4);
    append(text, facts.size(), 8);
    for (const PictureFacts &one : facts)
        pack(text, one);
    return writeFileAtomically(folder / FactsFile, QByteArray::fromRawData(text.data(), qsizetype(text.size())));
}

Result<PictureFactsPtr> readPictureFacts(const fs::path &folder, std::size_t count)
{
    const fs::path file = folder / FactsFile;
    std::error_code unknown;
    if (!fs::exists(file, unknown))
        return PictureFactsPtr();
    TW_ASSIGN(bytes, readFile(file, errors::InvalidDataset));
    std::string_view rest(bytes.constData(), std::size_t(bytes.size()));
    if (rest.size() < HeadBytes || rest.substr(0, Magic.size()) != Magic)
        return badFacts(file, QStringLiteral("it is no table of picture facts"));
    rest.remove_prefix(Magic.size());
    if (const std::uint64_t version = take(rest, 4); version != Version)
        return badFacts(file, QStringLiteral("its format version is %1").arg(version));
    const std::uint64_t recordBytes = take(rest, 4), records = take(rest, 8);
    if (recordBytes != RecordBytes || records != count || rest.size() != count * RecordBytes)
        return badFacts(
            file,
            QStringLiteral("it holds %1 records in %2 bytes for %3 images").arg(records).arg(bytes.size()).arg(count));
    auto facts = std::make_shared<std::vector<PictureFacts>>();
    facts->reserve(count);
    for (; !rest.empty(); rest.remove_prefix(RecordBytes))
        facts->push_back(unpackedFacts(rest.substr(0, RecordBytes)));
    return PictureFactsPtr(std::move(facts));
}

} // namespace tw

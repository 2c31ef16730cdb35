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
constexpr std::uint32_t RowsAtOnce = 256;   // 256 · 255 fits 16 bits
constexpr std::uint32_t SquareRows = 65536; // 65536 · 255² fits 32 bits
constexpr char FactsFile[] = "picture_facts.bin";
constexpr std::string_view Magic = "TWPICFAC";
constexpr std::uint32_t Version = 1;
constexpr std::size_t RecordBytes = 73, HeadBytes = 24;

using Rows = std::array<const std::uint8_t *, 4>;

#if defined(__SSE2__)
/// Sixteen columns of four rows.
void addSixteen(const Rows &rows, std::size_t i, std::uint16_t *sums, std::uint32_t *squares)
{
    const __m128i zero = _mm_setzero_si128();
    const auto load = [i](const std::uint8_t *row) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i *>(row + i));
    };
    const __m128i a = load(rows[0]), b = load(rows[1]), c = load(rows[2]), d = load(rows[3]);
    const __m128i ab[] = {_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)}; // a0 b0 a1 b1 …
    const __m128i cd[] = {_mm_unpacklo_epi8(c, d), _mm_unpackhi_epi8(c, d)};
    const __m128i bytes = _mm_set1_epi16(0xff);
    for (std::size_t half = 0; half < 2; ++half) {
        auto *sum = reinterpret_cast<__m128i *>(sums + i + 8 * half);
        const __m128i even = _mm_add_epi16(_mm_and_si128(ab[half], bytes), _mm_and_si128(cd[half], bytes));
        const __m128i odd = _mm_add_epi16(_mm_srli_epi16(ab[half], 8), _mm_srli_epi16(cd[half], 8));
        _mm_storeu_si128(sum, _mm_add_epi16(_mm_loadu_si128(sum), _mm_add_epi16(even, odd)));
        const __m128i words[] = {_mm_unpacklo_epi8(ab[half], zero), _mm_unpacklo_epi8(cd[half], zero),
                                 _mm_unpackhi_epi8(ab[half], zero), _mm_unpackhi_epi8(cd[half], zero)};
        for (std::size_t quarter = 0; quarter < 2; ++quarter) {
            auto *square = reinterpret_cast<__m128i *>(squares + i + 8 * half + 4 * quarter);
            const __m128i first = words[2 * quarter], second = words[2 * quarter + 1];
            const __m128i all = _mm_add_epi32(_mm_madd_epi16(first, first), _mm_madd_epi16(second, second));
            _mm_storeu_si128(square, _mm_add_epi32(_mm_loadu_si128(square), all));
        }
    }
}
#endif

/// Four rows at once: sums and sums of squares of every byte's column. Exact in any order.
void addRows(const Rows &rows, std::size_t count, std::uint16_t *sums, std::uint32_t *squares)
{
    std::size_t i = 0;
#if defined(__SSE2__)
    for (; i + 16 <= count; i += 16)
        addSixteen(rows, i, sums, squares);
#endif
    for (; i < count; ++i)
        for (const std::uint8_t *row : rows) {
            const std::uint32_t value = row[i];
            sums[i] = std::uint16_t(sums[i] + value);
            squares[i] += value * value;
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
void PictureMeasurer::flushSums(const PixelView &image, std::uint32_t firstRow, PictureFacts &facts)
{
    const auto width = std::uint32_t(image.width);
    const auto channels = std::size_t(image.channels);
    std::array<std::array<std::uint64_t, 3>, Edge> line{};
    const auto add = [&](std::uint32_t x, std::size_t cell, std::uint64_t weight) {
        for (std::size_t c = 0; c < channels; ++c)
            line[cell][c] += m_columns[x * channels + c] * weight;
    };
    for (std::uint32_t x = 0; x < width;) {
        const auto cell = std::size_t(std::uint64_t(x) * Edge / width);
        const auto whole = std::uint32_t((cell + 1) * width / Edge); // the columns before lie in the cell wholly
        std::array<std::uint64_t, 3> sums{};
        for (; x < whole; ++x)
            for (std::size_t c = 0; c < channels; ++c)
                sums[c] += m_columns[x * channels + c];
        for (std::size_t c = 0; c < channels; ++c)
            line[cell][c] += sums[c] * Edge;
        if (x < width && (x + 1) * std::uint64_t(Edge) > (cell + 1) * std::uint64_t(width)) { // it lies in several
            shareOut(x, width, [&](std::size_t to, std::uint64_t weight) { add(x, to, weight); });
            ++x;
        }
    }
    std::array<std::uint64_t, Edge> luma{};
    for (std::size_t i = 0; i < Edge; ++i) {
        if (channels == 1)
            line[i][1] = line[i][2] = line[i][0];
        luma[i] = line[i][0] * 19595 + line[i][1] * 38470 + line[i][2] * 7471;
        for (std::size_t c = 0; c < 3; ++c)
            facts.sums[c] += line[i][c];
    }
    shareOut(firstRow, std::uint32_t(image.height), [&](std::size_t row, std::uint64_t weight) {
        for (std::size_t i = 0; i < Edge; ++i)
            m_cells[row * Edge + i] += luma[i] * weight;
    });
    std::fill(m_columns.begin(), m_columns.end(), std::uint16_t(0));
}

void PictureMeasurer::flushSquares(const PixelView &image, PictureFacts &facts)
{
    const auto channels = std::size_t(image.channels);
    for (std::size_t i = 0; i < m_squares.size(); i += channels)
        for (std::size_t c = 0; c < 3; ++c)
            facts.squares[c] += m_squares[i + (channels == 1 ? 0 : c)];
    std::fill(m_squares.begin(), m_squares.end(), 0U);
}

namespace {

void addPixels(const PixelView &image, PictureFacts &facts)
{
    const auto channels = std::size_t(image.channels);
    for (std::size_t c = 0; c < channels; ++c)
        for (int y = 0; y < image.height; ++y) {
            const std::uint8_t *in = image.row(y) + c;
            constexpr std::size_t Block = 65'536; // as many squares fit into 32 bits
            for (std::size_t begin = 0; begin < std::size_t(image.width); begin += Block) {
                const std::size_t end = std::min(begin + Block, std::size_t(image.width));
                std::uint32_t sum = 0, squares = 0;
                for (std::size_t x = begin; x < end; ++x) {
                    const std::uint32_t value = in[x * channels];
                    sum += value;
                    squares += value * value;
                }
                facts.sums[c] += sum;
                facts.squares[c] += squares;
            }
        }
    if (channels == 1) {
        facts.sums.fill(facts.sums[0]);
        facts.squares.fill(facts.squares[0]);
    }
}

} // namespace

PictureFacts PictureMeasurer::measure(const PixelView &image, ImageFormat format)
{
    PictureFacts facts;
    facts.width = std::uint32_t(image.width);
    facts.height = std::uint32_t(image.height);
    facts.format = format;
    facts.hasPixels = true;
    if (std::min(facts.width, facts.height) < Edge) { // no hash of so few pixels
        addPixels(image, facts);
        return facts;
    }
    m_columns.assign(image.rowBytes(), 0);
    m_squares.assign(image.rowBytes(), 0);
    m_zeros.resize(std::max(m_zeros.size(), image.rowBytes()));
    m_cells.fill(0);
    const std::uint64_t height = facts.height;
    const auto firstCell = [&](std::uint64_t y) { return y * Edge / height; };
    const auto lastCell = [&](std::uint64_t y) { return ((y + 1) * Edge - 1) / height; };
    std::uint32_t unflushed = 0; // rows in m_squares
    for (std::uint32_t y = 0; y < facts.height;) {
        std::uint32_t rows = 1;
        if (firstCell(y) == lastCell(y))
            while (y + rows < height && rows < RowsAtOnce && lastCell(y + rows) == firstCell(y))
                ++rows;
        if (unflushed + rows > SquareRows) {
            flushSquares(image, facts);
            unflushed = 0;
        }
        for (std::uint32_t done = 0; done < rows; done += 4) {
            Rows four;
            for (std::uint32_t i = 0; i < 4; ++i)
                four[i] = done + i < rows ? image.row(int(y + done + i)) : m_zeros.data();
            addRows(four, image.rowBytes(), m_columns.data(), m_squares.data());
        }
        flushSums(image, y, facts);
        unflushed += rows;
        y += rows;
    }
    flushSquares(image, facts);
    for (std::uint64_t &sum : facts.sums)
        sum /= Edge; // every column was shared out in as many parts
    facts.hash = hashOf(m_cells, std::uint64_t(facts.width) * facts.height);
    return facts;
}

namespace {

void append(std::string &out, std::uint64_t value, std::size_t bytes)
{
    char little[sizeof value];
    for (std::size_t i = 0; i < bytes; ++i)
        little[i] = char(std::uint8_t(value >> (8 * i)));
    out.append(little, bytes);
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

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/data/decode.h"
#include "core/data/perceptualhash.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// What verifying learned of one picture. Sizes after orientation; sums over its pixels, R, G, B.
struct PictureFacts
{
    std::array<std::uint64_t, 3> sums{}, squares{}; ///< of v and v², v in [0, 255]
    PerceptualHash hash;
    std::uint32_t width = 0, height = 0; ///< 0: nothing is known of this picture
    ImageFormat format = ImageFormat::Unknown;
    bool hasPixels = false; ///< it was decoded: sums and hash stand
    bool operator==(const PictureFacts &) const = default;
};
/// One per image of a manifest, in its order; null: not measured.
using PictureFactsPtr = std::shared_ptr<const std::vector<PictureFacts>>;

/// Measures pictures; keeps its memory from one to the next. One thread.
class PictureMeasurer
{
public:
    /// Gray views count for all three channels.
    PictureFacts measure(const PixelView &image, ImageFormat format);

private:
    void flushSums(const PixelView &image, std::uint32_t firstRow, PictureFacts &facts);
    void flushSquares(const PixelView &image, PictureFacts &facts);
    std::vector<std::uint16_t> m_columns; ///< sums of up to 256 rows
    std::vector<std::uint32_t> m_squares;
    std::vector<std::uint8_t> m_zeros; ///< stands for the missing rows of less than four
    std::array<std::uint64_t, 1024> m_cells{};
};

/// 73 bytes, little-endian; an empty PictureFacts for anything that is not of that size.
std::string packedFacts(const PictureFacts &facts);
PictureFacts unpackedFacts(std::string_view bytes);

/// picture_facts.bin beside images.jsonl: "TWPICFAC", version and bytes per record as 32 bits, count as
/// 64 bits, then the records. FailedToWriteOutputsError.
Result<void> writePictureFacts(const fs::path &folder, const std::vector<PictureFacts> &facts);
/// Null where the folder has no such file. InvalidDatasetError: damaged, a newer version, or not
/// of `count` images.
Result<PictureFactsPtr> readPictureFacts(const fs::path &folder, std::size_t count);

} // namespace tw

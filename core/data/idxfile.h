// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tw {

/// Bytes of an IDX file of unsigned 8-bit values (MNIST's format), as it lies or gzip-compressed.
struct IdxHeader
{
    std::vector<std::uint32_t> sizes; ///< images, rows, columns; or labels
    std::size_t headerBytes() const { return 4 + 4 * sizes.size(); }
    std::uint64_t valueCount() const;
};
struct IdxFile
{
    IdxHeader header;
    std::vector<std::uint8_t> values;
};

/// "…-images-idx3-ubyte[.gz]" (or with a dot before idx3), by its name.
bool isIdxImagesName(const std::string &fileName);
/// The labels file beside an images file, compressed or not; nothing when there is none.
std::optional<fs::path> idxLabelsFor(const fs::path &imagesFile);
/// Name without ".gz": what makes a packed and an unpacked copy the same pair.
std::string idxPairName(const fs::path &imagesFile);

/// Checks magic number, `dimensions` and the length that file or gzip trailer claim, without
/// reading the values. InvalidDatasetError.
Result<IdxHeader> readIdxHeader(const fs::path &file, std::size_t dimensions);
/// The whole file. InvalidDatasetError naming the file: broken, shorter or longer than it says.
Result<IdxFile> readIdxFile(const fs::path &file, std::size_t dimensions);
/// As readIdxFile() for images, shared by everyone who asks for the same file (path, size, time)
/// while one of them holds it. Any thread.
Result<std::shared_ptr<const IdxFile>> sharedIdxImages(const fs::path &file);

} // namespace tw

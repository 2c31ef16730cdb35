// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <cstddef>
#include <memory>
#include <span>

namespace tw {

/// A whole file mapped read-only; tensors point into it and keep it alive. The file must not be cut
/// while it is mapped (model directories are only ever replaced as a whole, by rename).
class MappedFile
{
public:
    /// InvalidModelDirectoryError naming the file and the system's reason. An empty file maps to no bytes.
    static Result<std::shared_ptr<const MappedFile>> open(const fs::path &file);
    ~MappedFile();
    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;
    std::span<const std::byte> bytes() const { return {m_data, m_size}; }
    /// Gives the memory of a piece of a mapped file back; it is read again when it is next looked at.
    static void release(std::span<const std::byte> piece);

private:
    MappedFile(const std::byte *data, std::size_t size) : m_data(data), m_size(size) {}
    const std::byte *m_data;
    std::size_t m_size;
};

/// Calls `look` with `bytes` piece by piece (4 MiB, the last one shorter) until it returns false; with
/// `mapped` each piece is released after that, so that a pass over a large file takes little memory.
template <typename Look> void forEachPiece(std::span<const std::byte> bytes, bool mapped, Look look)
{
    constexpr std::size_t pieceBytes = std::size_t(4) << 20;
    for (std::size_t at = 0; at < bytes.size(); at += pieceBytes) {
        const auto piece = bytes.subspan(at, bytes.size() - at < pieceBytes ? bytes.size() - at : pieceBytes);
        const bool goesOn = look(piece);
        if (mapped)
            MappedFile::release(piece);
        if (!goesOn)
            return;
    }
}

} // namespace tw

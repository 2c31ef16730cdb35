// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <QString>

#include <cstddef>
#include <memory>
#include <span>

namespace tw {

/// A whole file mapped read-only; tensors point into it and keep it alive. Another program may cut the file
/// meanwhile (torch.save does when it saves over it): what is missing then reads as zeros, and lost() counts it.
class MappedFile
{
public:
    /// InvalidModelDirectoryError naming the file and the system's reason. An empty file maps to no bytes.
    static Result<std::shared_ptr<const MappedFile>> open(const fs::path &file);
    ~MappedFile();
    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;
    std::span<const std::byte> bytes() const { return {m_data, m_size}; }
    /// How often this process has met a part of a mapped file that was there when it was mapped, and is not any
    /// more. Who needs bytes that are right compares it before and after; see checkNothingLost(). Any thread.
    static unsigned lost();
    /// InvalidModelDirectoryError that says so where lost() is not `before`; `what` names the file.
    static Result<void> checkNothingLost(unsigned before, const QString &what);
    /// Gives the memory of a piece of a mapped file back; it is read again when it is next looked at.
    static void release(std::span<const std::byte> piece);

private:
    MappedFile(const std::byte *data, std::size_t size);
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

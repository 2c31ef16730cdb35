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

private:
    MappedFile(const std::byte *data, std::size_t size) : m_data(data), m_size(size) {}
    const std::byte *m_data;
    std::size_t m_size;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace tw {

/// Memory for pictures that stay: taken from the system in large blocks on huge pages where there are
/// some, given back all at once at the end.
class PictureBlocks
{
public:
    /// `free`: bytes that may still be taken, asked before each block.
    explicit PictureBlocks(std::function<std::int64_t()> free) : m_free(std::move(free)) {}
    ~PictureBlocks();
    PictureBlocks(const PictureBlocks &) = delete;
    PictureBlocks &operator=(const PictureBlocks &) = delete;
    /// 64-byte aligned, not set to anything; null when there is no memory left for it. Any thread.
    std::uint8_t *take(std::size_t bytes);

private:
    bool addBlock(std::size_t bytes);

    struct Block
    {
        void *map;
        std::size_t length;
    };
    std::function<std::int64_t()> m_free;
    std::mutex m_mutex;
    std::vector<Block> m_blocks;
    std::uint8_t *m_next = nullptr;
    std::size_t m_left = 0;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/pictureblocks.h"

#include <algorithm>

#include <sys/mman.h>

namespace tw {

constexpr std::size_t hugePage = std::size_t(2) << 20;
constexpr std::size_t usualBlock = 8 * hugePage;
constexpr std::size_t alignment = 64;

PictureBlocks::~PictureBlocks()
{
    for (const Block &block : m_blocks)
        ::munmap(block.map, block.length);
}

bool PictureBlocks::addBlock(std::size_t bytes)
{
    const auto free = std::size_t(std::max<std::int64_t>(0, m_free()));
    const std::size_t wanted = std::max(bytes, std::min(usualBlock, free));
    if (wanted > free)
        return false;
    // Addresses up to the next huge page cost nothing.
    const std::size_t length = wanted + hugePage;
    void *map = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return false;
    m_blocks.push_back({map, length});
    const auto start = reinterpret_cast<std::uintptr_t>(map);
    m_next = reinterpret_cast<std::uint8_t *>((start + hugePage - 1) / hugePage * hugePage);
    m_left = wanted;
    ::madvise(m_next, m_left, MADV_HUGEPAGE); // only faster
    return true;
}

std::uint8_t *PictureBlocks::take(std::size_t bytes)
{
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    const std::lock_guard lock(m_mutex);
    if (m_left < rounded && !addBlock(rounded))
        return nullptr;
    std::uint8_t *place = m_next;
    m_next += rounded;
    m_left -= rounded;
    return place;
}

} // namespace tw

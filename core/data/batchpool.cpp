// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/batchpool.h"

#include <cstdlib>
#include <new>

namespace tw {

namespace {
constexpr std::size_t Alignment = 64;
}

struct BatchPool::Pooled
{
    Batch batch;
    std::unique_ptr<float, void (*)(void *)> memory{nullptr, std::free};
    std::size_t capacity = 0;

    void reserve(std::size_t floats)
    {
        if (floats > capacity) {
            const std::size_t bytes = (floats * sizeof(float) + Alignment - 1) / Alignment * Alignment;
            memory.reset(static_cast<float *>(std::aligned_alloc(Alignment, bytes)));
            capacity = memory ? floats : 0;
            if (!memory)
                throw std::bad_alloc();
        }
        batch.data = memory.get();
    }
};

BatchPool::BatchPool(std::size_t keep) : m_keep(keep) {}

BatchPool::~BatchPool() = default;

std::shared_ptr<Batch> BatchPool::take(std::size_t floats)
{
    std::unique_ptr<Pooled> pooled;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_free.empty()) {
            pooled = std::move(m_free.back());
            m_free.pop_back();
        }
    }
    if (!pooled)
        pooled = std::make_unique<Pooled>();
    pooled->reserve(floats);
    Pooled *raw = pooled.release();
    const std::shared_ptr<Pooled> owner(raw, [pool = shared_from_this()](Pooled *batch) { pool->giveBack(batch); });
    return {owner, &owner->batch};
}

void BatchPool::giveBack(Pooled *batch)
{
    std::unique_ptr<Pooled> owned(batch);
    const std::lock_guard lock(m_mutex);
    if (m_free.size() < m_keep)
        m_free.push_back(std::move(owned));
}

} // namespace tw

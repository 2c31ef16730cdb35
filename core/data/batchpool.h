// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/batchloader.h"

#include <memory>
#include <mutex>
#include <vector>

namespace tw {

/// Batches whose memory comes back when the last reference is dropped, also after the loader's end.
class BatchPool : public std::enable_shared_from_this<BatchPool>
{
public:
    explicit BatchPool(std::size_t keep);
    ~BatchPool();
    /// Room for `floats` values, 64-byte aligned, not set to anything. Any thread. std::bad_alloc.
    std::shared_ptr<Batch> take(std::size_t floats);

private:
    struct Pooled;
    void giveBack(Pooled *batch);

    std::size_t m_keep;
    std::mutex m_mutex;
    std::vector<std::unique_ptr<Pooled>> m_free;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace tw {

bool parallelFor(std::size_t count, int workers, const StopToken *stop,
                 const std::function<void(std::size_t, std::size_t)> &work,
                 const std::function<void(std::int64_t, std::int64_t)> &progress)
{
    const auto canceled = [stop] { return stop && stop->cancel.load(std::memory_order_relaxed); };
    const auto threadCount =
        std::clamp<std::size_t>(std::size_t(std::max(workers, 1)), 1, std::max<std::size_t>(count, 1));
    std::atomic<std::size_t> next{0}, done{0};
    std::mutex mutex;
    std::condition_variable ended;
    std::size_t running = threadCount;
    std::vector<std::jthread> threads;
    for (std::size_t worker = 0; worker < threadCount; ++worker)
        threads.emplace_back([&, worker] {
            for (std::size_t i = next++; i < count && !canceled(); i = next++) {
                work(i, worker);
                ++done;
            }
            const std::lock_guard lock(mutex);
            --running;
            ended.notify_one();
        });
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; }))
        if (progress)
            progress(std::int64_t(done.load()), std::int64_t(count));
    lock.unlock();
    threads.clear();
    if (progress)
        progress(std::int64_t(done.load()), std::int64_t(count));
    return done == count;
}

} // namespace tw

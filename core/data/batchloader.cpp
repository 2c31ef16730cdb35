// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/batchloader.h"

#include "core/data/batchwork.h"
#include "core/data/cachedreader.h"

#include <QCoreApplication>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <numeric>
#include <set>
#include <thread>

namespace tw {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto StopPollInterval = std::chrono::milliseconds(10);
constexpr int LargestWorkerCount = 256;
// Pictures a thread claims at once: small ones in memory are too quick for a lock each.
constexpr std::size_t ChunkInMemory = 32;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

Error canceled()
{
    return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Loading images was canceled."));
}

Error tooManyLost(std::size_t lost, std::size_t total, const QString &reason)
{
    return makeError(
        errors::InvalidDataset,
        QT_TRANSLATE_NOOP("Error", "%1 of %2 images cannot be read, more than 10 %. The last: %3"),
        {QString::number(lost), QString::number(total), reason},
        QT_TRANSLATE_NOOP("Error", "Check that the disk or network folder with the images is still there."));
}

} // namespace

struct BatchLoader::Private
{
    struct Claim
    {
        std::shared_ptr<BatchWork> work;
        std::size_t begin = 0, end = 0;
    };

    explicit Private(LoaderShared everything) : shared(std::move(everything)) {}

    void startThreads();
    void stopThreads();
    void abandonEpoch();
    void workerLoop();
    std::optional<Claim> claim();
    bool canClaim() const;
    void perform(const Claim &claimed, LoaderScratch &scratch);
    bool isFrontReady() const { return !pending.empty() && pending.front()->filled == pending.front()->size(); }
    bool isAtEnd() const { return pending.empty() && nextBatch >= batchCount; }
    std::vector<std::uint32_t> samplesOf(std::size_t batch) const;
    Result<std::shared_ptr<BatchWork>> waitForFront(const StopToken *stop);
    Result<BatchPtr> deliver(BatchWork &work);
    Result<void> noteSkipped(std::vector<std::pair<std::uint32_t, QString>> skipped);

    LoaderShared shared;
    std::size_t batchCount = 0;
    std::size_t limit = 1; // batches begun and not yet given out
    std::size_t chunk = 1;

    mutable std::mutex mutex;
    std::condition_variable workToDo, batchReady, idle;
    std::vector<std::thread> threads;
    std::atomic<bool> abandon{false};
    bool stopping = false;
    int active = 0;
    std::uint32_t epoch = 0;
    std::vector<std::uint32_t> order;
    std::deque<std::shared_ptr<BatchWork>> pending;
    std::size_t nextBatch = 0;
    LoaderStatistics counts;

    // The consumer's alone.
    LoaderScratch ownScratch;
    std::size_t lostInEpoch = 0;
    std::set<std::uint32_t> named;
    std::vector<std::pair<std::uint32_t, QString>> news;
};

void BatchLoader::Private::startThreads()
{
    for (int i = 0; i < shared.options.numWorkers; ++i)
        threads.emplace_back([this] { workerLoop(); });
}

void BatchLoader::Private::stopThreads()
{
    {
        const std::lock_guard lock(mutex);
        stopping = true;
        abandon = true;
    }
    workToDo.notify_all();
    for (std::thread &thread : threads)
        thread.join();
    threads.clear();
    const std::lock_guard lock(mutex);
    pending.clear();
    nextBatch = batchCount;
}

// Afterwards no thread holds a picture of the old epoch.
void BatchLoader::Private::abandonEpoch()
{
    std::unique_lock lock(mutex);
    abandon = true;
    nextBatch = batchCount;
    for (const auto &work : pending)
        work->claimed = work->size();
    idle.wait(lock, [this] { return active == 0; });
    pending.clear();
    abandon = stopping;
}

void BatchLoader::Private::workerLoop()
{
    LoaderScratch scratch;
    std::unique_lock lock(mutex);
    while (true) {
        workToDo.wait(lock, [this] { return stopping || canClaim(); });
        if (stopping)
            return;
        const std::optional<Claim> claimed = claim();
        ++active;
        lock.unlock();
        perform(*claimed, scratch);
        lock.lock();
        if (--active == 0)
            idle.notify_all();
    }
}

bool BatchLoader::Private::canClaim() const
{
    const bool leftInLast = !pending.empty() && pending.back()->claimed < pending.back()->size();
    return leftInLast || (nextBatch < batchCount && pending.size() < limit);
}

std::vector<std::uint32_t> BatchLoader::Private::samplesOf(std::size_t batch) const
{
    const auto size = std::size_t(shared.options.batchSize);
    const std::size_t begin = batch * size, end = std::min(begin + size, order.size());
    return {order.begin() + std::ptrdiff_t(begin), order.begin() + std::ptrdiff_t(end)};
}

// Under the lock; canClaim() holds.
std::optional<BatchLoader::Private::Claim> BatchLoader::Private::claim()
{
    if (!canClaim())
        return std::nullopt;
    if (pending.empty() || pending.back()->claimed == pending.back()->size())
        pending.push_back(std::make_shared<BatchWork>(shared, epoch, samplesOf(nextBatch++)));
    Claim claimed{pending.back(), pending.back()->claimed, 0};
    claimed.end = std::min(claimed.begin + chunk, claimed.work->size());
    claimed.work->claimed = claimed.end;
    return claimed;
}

void BatchLoader::Private::perform(const Claim &claimed, LoaderScratch &scratch)
{
    const Clock::time_point start = Clock::now();
    const std::int64_t bytesBefore = scratch.read.bytesRead;
    const double decodeBefore = scratch.decodeSeconds, transformBefore = scratch.transformSeconds;
    std::size_t done = 0;
    for (std::size_t slot = claimed.begin; slot < claimed.end && !abandon.load(std::memory_order_relaxed);
         ++slot, ++done)
        claimed.work->fill(slot, scratch);
    const std::lock_guard lock(mutex);
    claimed.work->filled += done;
    counts.workSeconds += secondsSince(start);
    counts.decodeSeconds += scratch.decodeSeconds - decodeBefore;
    counts.transformSeconds += scratch.transformSeconds - transformBefore;
    counts.images += std::int64_t(done);
    counts.bytesRead += scratch.read.bytesRead - bytesBefore;
    if (isFrontReady())
        batchReady.notify_one();
}

Result<std::shared_ptr<BatchWork>> BatchLoader::Private::waitForFront(const StopToken *stop)
{
    const Clock::time_point start = Clock::now();
    std::unique_lock lock(mutex);
    while (!isFrontReady() && !isAtEnd()) {
        if (stop && stop->cancel.load(std::memory_order_relaxed))
            return canceled();
        if (shared.options.numWorkers > 0) {
            batchReady.wait_for(lock, StopPollInterval);
            continue;
        }
        const std::optional<Claim> claimed = claim();
        lock.unlock();
        perform(*claimed, ownScratch);
        lock.lock();
    }
    counts.waitSeconds += secondsSince(start);
    if (pending.empty())
        return std::shared_ptr<BatchWork>();
    std::shared_ptr<BatchWork> work = std::move(pending.front());
    pending.pop_front();
    lock.unlock();
    workToDo.notify_all();
    return work;
}

Result<void> BatchLoader::Private::noteSkipped(std::vector<std::pair<std::uint32_t, QString>> skipped)
{
    if (skipped.empty())
        return {};
    const QString last = skipped.back().second;
    lostInEpoch += skipped.size();
    for (auto &item : skipped)
        if (named.insert(item.first).second)
            news.push_back(std::move(item));
    if (double(lostInEpoch) > shared.options.largestLoss * double(order.size()))
        return tooManyLost(lostInEpoch, order.size(), last);
    return {};
}

Result<BatchPtr> BatchLoader::Private::deliver(BatchWork &work)
{
    std::vector<std::pair<std::uint32_t, QString>> skipped;
    Result<BatchPtr> batch = work.finish(skipped);
    TW_TRY(noteSkipped(std::move(skipped)));
    return batch;
}

BatchLoader::BatchLoader() = default;

BatchLoader::~BatchLoader()
{
    stop();
}

Result<std::unique_ptr<BatchLoader>> BatchLoader::create(ManifestPtr manifest, TransformList transforms,
                                                         const LoaderOptions &options)
{
    if (manifest->size() == 0)
        return makeError(errors::InvalidDataset,
                         QT_TRANSLATE_NOOP("Error", "The image directory \"%1\" holds no image."),
                         {displayPath(manifest->root)});
    if (options.batchSize < 1 || options.numWorkers < 0 || options.prefetch < 1
        || (options.channels != 1 && options.channels != 3))
        return makeError(errors::NotInRangeValue,
                         QT_TRANSLATE_NOOP("Error", "The loader cannot work with batch size %1, %2 "
                                                    "workers, prefetch %3 and %4 channels."),
                         {QString::number(options.batchSize), QString::number(options.numWorkers),
                          QString::number(options.prefetch), QString::number(options.channels)});
    TW_ASSIGN(reader, ImageReader::open(manifest, options.decode));
    if (options.cache && options.cache->serves(manifest, transforms)) {
        const auto kept = std::ptrdiff_t(options.cache->plan().kept.size());
        transforms.erase(transforms.begin(), transforms.begin() + kept);
        reader = cachedReader(std::move(reader), manifest, options.cache);
    }
    const std::size_t count = manifest->size();
    const bool inMemory = manifest->storage == ImageManifest::Storage::Idx;
    const Normalizer normalizer(options.normalization, options.channels, options.order);
    std::unique_ptr<BatchLoader> loader(new BatchLoader);
    loader->d = std::make_unique<Private>(
        LoaderShared{std::move(manifest), std::move(transforms), options, std::move(reader), normalizer, nullptr});
    Private &d = *loader->d;
    d.shared.options.numWorkers = std::min(options.numWorkers, LargestWorkerCount);
    d.chunk = inMemory ? ChunkInMemory : 1;
    d.limit = std::size_t(std::max(1, d.shared.options.numWorkers)) * std::size_t(options.prefetch);
    d.shared.pool = std::make_shared<BatchPool>(d.limit + 2);
    const auto size = std::size_t(options.batchSize);
    d.batchCount = (count + size - 1) / size;
    if (options.dropSingleLast && size > 1 && d.batchCount > 1 && count % size == 1)
        --d.batchCount;
    d.nextBatch = d.batchCount;
    d.startThreads();
    return loader;
}

void BatchLoader::startEpoch(std::uint32_t epoch)
{
    d->abandonEpoch();
    const std::size_t count = d->shared.manifest->size();
    {
        const std::lock_guard lock(d->mutex);
        d->epoch = epoch;
        if (d->shared.options.shuffle) {
            d->order = shuffledOrder(count, d->shared.options.seed, epoch);
        } else {
            d->order.resize(count);
            std::iota(d->order.begin(), d->order.end(), 0U);
        }
        d->nextBatch = d->stopping ? d->batchCount : 0;
        d->lostInEpoch = 0;
    }
    d->workToDo.notify_all();
}

std::size_t BatchLoader::batchesPerEpoch() const
{
    return d->batchCount;
}

Result<std::optional<BatchPtr>> BatchLoader::next(const StopToken *stop)
{
    while (true) {
        TW_ASSIGN(work, d->waitForFront(stop));
        if (!work)
            return std::optional<BatchPtr>();
        TW_ASSIGN(batch, d->deliver(*work));
        const bool isSingle = batch && batch->count == 1 && d->shared.options.batchSize > 1 && d->batchCount > 1;
        if (batch && !(isSingle && d->shared.options.dropSingleLast))
            return std::optional<BatchPtr>(std::move(batch));
    }
}

void BatchLoader::stop()
{
    if (d)
        d->stopThreads();
}

std::vector<std::pair<std::uint32_t, QString>> BatchLoader::takeSkipped()
{
    return std::exchange(d->news, {});
}

LoaderStatistics BatchLoader::statistics() const
{
    const std::lock_guard lock(d->mutex);
    return d->counts;
}

std::vector<std::uint32_t> shuffledOrder(std::size_t count, std::uint64_t seed, std::uint32_t epoch)
{
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    SampleRandom random(seed, RandomPurpose::Shuffle, epoch, 0);
    for (std::size_t i = count; i > 1; --i)
        std::swap(order[i - 1], order[random.below(std::uint32_t(i))]);
    return order;
}

int automaticWorkers()
{
    return std::clamp(int(std::thread::hardware_concurrency()), 1, 2);
}

} // namespace tw

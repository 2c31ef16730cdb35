// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/batchpool.h"
#include "core/data/normalize.h"

namespace tw {

/// What all threads of a loader read.
struct LoaderShared
{
    ManifestPtr manifest;
    TransformList transforms;
    LoaderOptions options;
    std::unique_ptr<ImageReader> reader;
    Normalizer normalizer;
    std::shared_ptr<BatchPool> pool;
};

/// What one thread keeps from picture to picture.
struct LoaderScratch
{
    ReadScratch read;
    TransformScratch transform;
    double decodeSeconds = 0, transformSeconds = 0; ///< sums over all pictures
};

/// A batch being made: slots are filled by any thread, in any order; finish() puts it together the
/// same way whoever filled them.
class BatchWork
{
public:
    BatchWork(const LoaderShared &shared, std::uint32_t epoch, std::vector<std::uint32_t> samples);

    std::size_t size() const { return m_samples.size(); }
    /// Reads, transforms and normalises one picture. Never throws. Each slot once, any thread.
    void fill(std::size_t slot, LoaderScratch &scratch);
    /// After the last fill(). Unreadable pictures are taken out and listed in `skipped`.
    /// nullptr when none is left. InvalidDatasetError as BatchLoader::next().
    Result<BatchPtr> finish(std::vector<std::pair<std::uint32_t, QString>> &skipped);

    // The loader's book-keeping, under its lock.
    std::size_t claimed = 0;
    std::size_t filled = 0;

private:
    enum class State : std::uint8_t { Empty, Placed, OtherSize, Unreadable, Failed };
    struct Slot
    {
        State state = State::Empty;
        int width = 0, height = 0;
        std::optional<Error> error;
    };

    void fillSlot(std::size_t index, LoaderScratch &scratch);
    Result<void> draw(std::uint32_t sample, ImageSize size, SampleRandom &random, LoaderScratch &scratch) const;
    bool canBeFast(const PixelPlan &plan, const PixelView &pixels) const;
    void write(std::size_t index, const PixelPlan &plan, const RegionPixels &pixels, SampleRandom &random,
               LoaderScratch &scratch);
    float *place(Slot &slot, std::size_t index, int width, int height);
    std::size_t imageFloats() const;
    std::optional<Error> firstError() const;
    Error unequalSizes() const;
    void compact();

    const LoaderShared &m_shared;
    std::uint32_t m_epoch;
    std::vector<std::uint32_t> m_samples;
    std::vector<Slot> m_slots;
    std::mutex m_mutex;
    std::shared_ptr<Batch> m_batch;
};

} // namespace tw

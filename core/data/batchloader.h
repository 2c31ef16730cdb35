// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/imagemanifest.h"
#include "core/data/imagereader.h"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace tw {

/// (value / 255 − mean) / std per channel.
struct Normalization
{
    std::array<float, 3> mean{0.485f, 0.456f, 0.406f};
    std::array<float, 3> std{0.229f, 0.224f, 0.225f};
    bool operator==(const Normalization &) const = default;
};

enum class MemoryOrder { ChannelsFirst, ChannelsLast };

/// Exact: Pillow's pixels bit for bit. Fast: for training batches only. Large JPEG pictures are decoded
/// smaller by the inverse DCT where what is resized stays at least twice as large as what comes out,
/// and resizing does not round in between. Largest difference to the exact pixels one level and
/// PSNR ≥ 55 dB without the smaller decoding, ≥ 53 dB with it. A bicubic resize is always exact.
enum class PixelPath { Exact, Fast };
class PictureCache;

struct LoaderOptions
{
    int batchSize = 16;
    int numWorkers = 2; ///< 0: work is done inside next(), on the caller's thread
    int prefetch = 2;   ///< batches per worker, bounds the memory
    bool shuffle = false;
    bool dropSingleLast = false; ///< leave out a last batch of one image (batch norm)
    std::uint64_t seed = 1;
    Normalization normalization;
    int channels = 3; ///< 3 RGB, 1 PIL's L
    MemoryOrder order = MemoryOrder::ChannelsFirst;
    PixelPath pixelPath = PixelPath::Exact;
    bool skipUnreadable = true; ///< false: the first one is an error
    double largestLoss = 0.1;   ///< share of unreadable images above which they are an error; 1: never
    DecodeOptions decode;
    /// Used where it serves this manifest and list (PictureCache::serves()); may be shared.
    std::shared_ptr<PictureCache> cache;
};

/// One batch on plain memory: float32 N×C×H×W (or N×H×W×C), 64-byte aligned. Goes back to the
/// loader's pool when the last reference is dropped.
struct Batch
{
    float *data = nullptr;
    int count = 0, channels = 0, height = 0, width = 0;
    MemoryOrder order = MemoryOrder::ChannelsFirst;
    std::vector<std::int64_t> labels;   ///< category ids, -1 none
    std::vector<std::uint32_t> samples; ///< indices in the manifest
};
using BatchPtr = std::shared_ptr<const Batch>;

struct LoaderStatistics
{
    double waitSeconds = 0;      ///< the caller's waiting in next()
    double workSeconds = 0;      ///< sum over workers
    double decodeSeconds = 0;    ///< of these: reading and decoding
    double transformSeconds = 0; ///< of these: transforming and normalising
    std::int64_t images = 0;
    std::int64_t bytesRead = 0;
};

/// Multi-worker loader: N worker threads, batches in order, bounded prefetch. Same seed and epoch,
/// same bits, whatever numWorkers is. One consumer thread. The destructor and stop() end all
/// threads within 200 ms plus the picture in hand.
class BatchLoader
{
public:
    /// Opens the manifest's storage. InvalidDatasetError.
    static Result<std::unique_ptr<BatchLoader>> create(ManifestPtr manifest, TransformList transforms,
                                                       const LoaderOptions &options);
    ~BatchLoader();
    /// Order of epoch `epoch` (from 1); drops what is left of the one before.
    void startEpoch(std::uint32_t epoch);
    std::size_t batchesPerEpoch() const;
    /// Next batch in order, nothing at the end of the epoch. CanceledError when `stop` is set while
    /// waiting. InvalidDatasetError: images of unequal size in a batch (names two), an unreadable
    /// image (with skipUnreadable false), more than 10 % (largestLoss) lost. Errors stand at their batch.
    Result<std::optional<BatchPtr>> next(const StopToken *stop = nullptr);
    void stop();
    /// Images left out so far in this epoch, with the reason, each named once over the loader's
    /// life.
    std::vector<std::pair<std::uint32_t, QString>> takeSkipped();
    LoaderStatistics statistics() const;

private:
    BatchLoader();
    struct Private;
    std::unique_ptr<Private> d;
};

/// Sample order of an epoch: Fisher–Yates with Philox (purpose Shuffle).
std::vector<std::uint32_t> shuffledOrder(std::size_t count, std::uint64_t seed, std::uint32_t epoch);
/// Pixels → float: the loader's last pass, for scoring single pictures. `out` holds C·H·W floats.
void normalizeInto(const ImageBuffer &image, const Normalization &normalization, int channels, MemoryOrder order,
                   float *out);
/// The same for a view; a gray one (1 channel) fills equal channels.
void normalizeInto(const PixelView &image, const Normalization &normalization, int channels, MemoryOrder order,
                   float *out);
/// Mean and standard deviation per channel of the (transformed) set, for `normalization` dataset.
Result<Normalization> datasetNormalization(ManifestPtr manifest, const TransformList &transforms, int workers,
                                           const StopToken *stop);
/// auto: one or two threads beside all of LibTorch's, never more than the cores.
int automaticWorkers();

} // namespace tw

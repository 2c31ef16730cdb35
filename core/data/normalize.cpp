// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/normalize.h"

#include "core/data/imagereader.h"
#include "core/data/parallel.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tw {

Normalizer::Normalizer(const Normalization &normalization, int channels, MemoryOrder order)
    : m_channels(channels), m_order(order)
{
    for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t value = 0; value < 256; ++value)
            m_tables[c][value] = (float(value) / 255.0F - normalization.mean[c]) / normalization.std[c];
        m_factors[c] = float(1.0 / (255.0 * double(normalization.std[c])));
        m_offsets[c] = float(-double(normalization.mean[c]) / double(normalization.std[c]));
    }
}

void Normalizer::run(const PlannedPixels &image, float *out) const
{
    if (m_order == MemoryOrder::ChannelsFirst || m_channels == 1)
        runFirst(image, out);
    else
        runLast(image, out);
}

namespace {

// A row from its first pixel, or from its last when it is mirrored.
struct RowWalk
{
    const std::uint8_t *in;
    std::ptrdiff_t step;
};

RowWalk walkRow(const PlannedPixels &image, int y)
{
    const PixelView &view = image.view;
    const std::uint8_t *row = view.row(image.flipVertically ? view.height - 1 - y : y);
    if (!image.flipHorizontally)
        return {row, view.channels};
    return {row + std::size_t(view.width - 1) * std::size_t(view.channels), -view.channels};
}

} // namespace

void Normalizer::runFirst(const PlannedPixels &image, float *out) const
{
    const auto width = std::size_t(image.view.width);
    const std::size_t plane = width * std::size_t(image.view.height);
    const std::size_t second = image.view.channels == 1 ? 0 : 1;
    const float *red = m_tables[0].data(), *green = m_tables[1].data(), *blue = m_tables[2].data();
    for (int y = 0; y < image.view.height; ++y, out += width) {
        auto [in, step] = walkRow(image, y);
        if (m_channels == 3)
            for (std::size_t x = 0; x < width; ++x, in += step) {
                out[x] = red[in[0]];
                out[x + plane] = green[in[second]];
                out[x + 2 * plane] = blue[in[2 * second]];
            }
        else if (image.view.channels == 1)
            for (std::size_t x = 0; x < width; ++x, in += step)
                out[x] = red[in[0]];
        else
            for (std::size_t x = 0; x < width; ++x, in += step)
                out[x] = red[luma(in)];
    }
}

void Normalizer::runLast(const PlannedPixels &image, float *out) const
{
    const auto width = std::size_t(image.view.width);
    const std::size_t second = image.view.channels == 1 ? 0 : 1;
    for (int y = 0; y < image.view.height; ++y) {
        auto [in, step] = walkRow(image, y);
        for (std::size_t x = 0; x < width; ++x, in += step, out += 3) {
            out[0] = m_tables[0][in[0]];
            out[1] = m_tables[1][in[second]];
            out[2] = m_tables[2][in[2 * second]];
        }
    }
}

void Normalizer::runRow(const float *values, int row, ImageSize size, const PixelPlan &plan, float *out) const
{
    const auto width = std::size_t(size.width);
    const auto y = std::size_t(plan.flipVertically ? size.height - 1 - row : row);
    const std::ptrdiff_t step = plan.flipHorizontally ? -3 : 3;
    const float *in = plan.flipHorizontally ? values + (width - 1) * 3 : values;
    if (m_order == MemoryOrder::ChannelsLast) {
        out += y * width * 3;
        for (std::size_t x = 0; x < width; ++x, in += step, out += 3)
            for (std::size_t c = 0; c < 3; ++c)
                out[c] = in[c] * m_factors[c] + m_offsets[c];
        return;
    }
    const std::size_t plane = width * std::size_t(size.height);
    out += y * width;
    for (std::size_t x = 0; x < width; ++x, in += step) {
        out[x] = in[0] * m_factors[0] + m_offsets[0];
        out[x + plane] = in[1] * m_factors[1] + m_offsets[1];
        out[x + 2 * plane] = in[2] * m_factors[2] + m_offsets[2];
    }
}

void normalizeInto(const PixelView &image, const Normalization &normalization, int channels, MemoryOrder order,
                   float *out)
{
    Normalizer(normalization, channels, order).run(image, out);
}

void normalizeInto(const ImageBuffer &image, const Normalization &normalization, int channels, MemoryOrder order,
                   float *out)
{
    normalizeInto(viewOf(image), normalization, channels, order, out);
}

namespace {

// Whole numbers, so that the sum is the same in any order.
struct ChannelSums
{
    std::array<std::uint64_t, 3> values{}, squares{};
    std::uint64_t pixels = 0;

    void add(const PixelView &image)
    {
        for (int y = 0; y < image.height; ++y) {
            const std::uint8_t *in = image.row(y);
            for (int x = 0; x < image.width; ++x, in += image.channels)
                for (std::size_t c = 0; c < 3; ++c) {
                    const std::uint64_t value = in[image.channels == 1 ? 0 : c];
                    values[c] += value;
                    squares[c] += value * value;
                }
        }
        pixels += std::uint64_t(image.width) * std::uint64_t(image.height);
    }
    void add(const ChannelSums &other)
    {
        for (std::size_t c = 0; c < 3; ++c) {
            values[c] += other.values[c];
            squares[c] += other.squares[c];
        }
        pixels += other.pixels;
    }
};

Normalization fromSums(const ChannelSums &sums)
{
    Normalization out;
    for (std::size_t c = 0; c < 3; ++c) {
        const long double count = sums.pixels;
        const long double mean = sums.values[c] / count;
        const long double variance = sums.squares[c] / count - mean * mean;
        out.mean[c] = float(mean / 255);
        // A channel of one value has nothing to scale.
        out.std[c] = variance > 0 ? float(std::sqrt(variance) / 255) : 1.0F;
    }
    return out;
}

struct NormalizationWorker
{
    ReadScratch read;
    TransformScratch transform;
    ChannelSums sums;
    std::optional<std::pair<std::size_t, Error>> error;
};

void measure(const ImageReader &reader, const ImageManifest &manifest, const TransformList &transforms,
             std::size_t index, NormalizationWorker &worker)
{
    const auto note = [&](Error error) {
        if (!worker.error || index < worker.error->first)
            worker.error = std::pair(index, std::move(error));
    };
    const Result<PixelView> image = reader.view(index, worker.read);
    if (!image.ok()) {
        Error error = image.error();
        error.name = QLatin1String(errors::InvalidDataset);
        if (!manifest.skipUnreadable)
            note(std::move(error));
        return;
    }
    SampleRandom random(0, RandomPurpose::Augment, 0, std::uint32_t(index));
    const Result<PixelView> out =
        transformView(*image, transforms, random, manifest.displayName(index), worker.transform);
    if (out.ok())
        worker.sums.add(*out);
    else
        note(out.error());
}

} // namespace

Result<Normalization> datasetNormalization(ManifestPtr manifest, const TransformList &transforms, int workers,
                                           const StopToken *stop)
{
    TW_ASSIGN(reader, ImageReader::open(manifest));
    std::vector<NormalizationWorker> scratch(std::size_t(std::max(workers, 1)));
    const bool whole = parallelFor(manifest->size(), workers, stop, [&](std::size_t index, std::size_t worker) {
        measure(*reader, *manifest, transforms, index, scratch[worker]);
    });
    if (!whole)
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Measuring the data set was canceled."));
    ChannelSums sums;
    const NormalizationWorker *failed = nullptr;
    for (const NormalizationWorker &worker : scratch) {
        sums.add(worker.sums);
        if (worker.error && (!failed || worker.error->first < failed->error->first))
            failed = &worker;
    }
    if (failed)
        return failed->error->second;
    if (sums.pixels == 0)
        return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "No image of \"%1\" can be read."),
                         {displayPath(manifest->root)});
    return fromSums(sums);
}

} // namespace tw

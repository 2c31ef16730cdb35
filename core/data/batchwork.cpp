// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/batchwork.h"

#include "core/data/randomerasing.h"
#include "core/data/resamplefast.h"
#include "core/data/stage.h"

#include <QCoreApplication>

#include <chrono>
#include <cmath>
#include <cstring>
#include <new>

namespace tw {

namespace {

/// Adds the time from its start to its stop or end to a sum.
class Stopwatch
{
public:
    using Clock = std::chrono::steady_clock;
    explicit Stopwatch(double &seconds, Clock::time_point start = Clock::now()) : m_seconds(&seconds), m_start(start) {}
    ~Stopwatch() { stop(); }
    Stopwatch(const Stopwatch &) = delete;
    Stopwatch &operator=(const Stopwatch &) = delete;
    Clock::time_point stop() const
    {
        const Clock::time_point now = Clock::now();
        if (m_seconds)
            *m_seconds += std::chrono::duration<double>(now - m_start).count();
        m_seconds = nullptr;
        return now;
    }

private:
    mutable double *m_seconds;
    Clock::time_point m_start;
};

} // namespace

BatchWork::BatchWork(const LoaderShared &shared, std::uint32_t epoch, std::vector<std::uint32_t> samples)
    : m_shared(shared), m_epoch(epoch), m_samples(std::move(samples)), m_slots(m_samples.size())
{
}

void BatchWork::fill(std::size_t index, LoaderScratch &scratch)
{
    Slot &slot = m_slots[index];
    const auto fail = [&](const char *name, const char *text, const QString &detail, const char *hint) {
        slot.state = State::Failed;
        slot.error = makeError(
            name, text, {QString::fromStdString(m_shared.manifest->displayName(m_samples[index])), detail}, hint);
    };
    try {
        fillSlot(index, scratch);
    } catch (const std::bad_alloc &) {
        fail(errors::ModuleOutOfMemory,
             QT_TRANSLATE_NOOP("Error", "There is not enough memory to load the image \"%1\"."), {},
             QT_TRANSLATE_NOOP("Error", "Use a smaller batch size or fewer workers."));
    } catch (const std::exception &exception) {
        fail(errors::Library, QT_TRANSLATE_NOOP("Error", "Loading the image \"%1\" failed: %2."),
             QString::fromLocal8Bit(exception.what()), "");
    } catch (...) {
        fail(errors::Library, QT_TRANSLATE_NOOP("Error", "Loading the image \"%1\" failed: %2."),
             QStringLiteral("unknown exception"), "");
    }
}

Result<void> BatchWork::draw(std::uint32_t sample, ImageSize size, SampleRandom &random, LoaderScratch &scratch) const
{
    std::vector<PixelStep> &steps = scratch.transform.steps;
    steps.clear();
    if (m_shared.transforms.empty())
        return {};
    static const std::string unnamed;
    Result<void> drawn = drawTransforms(m_shared.transforms, size.width, size.height, random, unnamed, steps);
    if (drawn.ok())
        return drawn;
    return drawTransforms(m_shared.transforms, size.width, size.height, random, m_shared.manifest->displayName(sample),
                          steps); // the same refusal, with the name
}

void BatchWork::fillSlot(std::size_t index, LoaderScratch &scratch)
{
    Slot &slot = m_slots[index];
    const std::uint32_t sample = m_samples[index];
    const auto unreadable = [&](const Error &error) {
        const bool canBeSkipped = m_shared.options.skipUnreadable && !scratch.read.transformFailed;
        slot.state = canBeSkipped ? State::Unreadable : State::Failed;
        slot.error = error;
    };
    const Stopwatch decoding(scratch.decodeSeconds);
    const Result<ImageSize> size = m_shared.reader->begin(sample, scratch.read);
    if (!size.ok())
        return unreadable(size.error());
    SampleRandom random(m_shared.options.seed, RandomPurpose::Augment, m_epoch, sample);
    if (const Result<void> drawn = draw(sample, *size, random, scratch); !drawn.ok()) {
        slot.state = State::Failed;
        slot.error = drawn.error();
        return;
    }
    const PixelPlan plan = planPixels(scratch.transform.steps, *size);
    const int reduce = m_shared.options.pixelPath == PixelPath::Fast ? plan.largestReduce() : 1;
    const Result<RegionPixels> pixels = m_shared.reader->pixels(sample, plan.neededRegion(), reduce, scratch.read);
    if (!pixels.ok())
        return unreadable(pixels.error());
    const Stopwatch transforming(scratch.transformSeconds, decoding.stop());
    write(index, plan, *pixels, random, scratch);
}

namespace {

struct RowsToBatch
{
    const Normalizer &normalizer;
    const PixelPlan &plan;
    ImageSize size;
    float *out;
};

void normalizeRow(void *context, int row, const float *values)
{
    const auto &to = *static_cast<const RowsToBatch *>(context);
    to.normalizer.runRow(values, row, to.size, to.plan, to.out);
}

void roundRow(void *context, int row, const float *values)
{
    const auto &to = *static_cast<const Stage *>(context);
    std::uint8_t *out = to.row(row);
    for (std::size_t i = 0; i < to.view.rowBytes(); ++i)
        out[i] = std::uint8_t(std::min(values[i] + 0.5F, 255.0F));
}

} // namespace

bool BatchWork::canBeFast(const PixelPlan &plan, const PixelView &pixels) const
{
    return m_shared.options.pixelPath == PixelPath::Fast && plan.canBeFast() && pixels.channels == 3
           && m_shared.options.channels == 3;
}

void BatchWork::write(std::size_t index, const PixelPlan &plan, const RegionPixels &pixels, SampleRandom &random,
                      LoaderScratch &scratch)
{
    const bool isFast = canBeFast(plan, pixels.view);
    const bool isStraight = isFast && plan.middle.empty();
    PlannedPixels out{pixels.view, plan.flipHorizontally, plan.flipVertically};
    const PixelRegion &window = plan.resample.window;
    if (isFast && !isStraight) {
        Stage stage = newStage(scratch.transform, window.width, window.height, 3);
        resampleFast(pixels.view, fastResample(plan, pixels.reduce), scratch.transform, roundRow, &stage);
        out.view = stage.view;
        for (const PixelStep &step : plan.middle)
            out.view = applyStep(out.view, step, scratch.transform);
    } else if (!isFast) {
        out = runPlan(plan, pixels.view, scratch.transform);
    }
    const ImageSize size =
        isStraight ? ImageSize{window.width, window.height} : ImageSize{out.view.width, out.view.height};
    const std::optional<EraseRegion> erased = drawErasing(m_shared.transforms, size.width, size.height, random);
    float *to = place(m_slots[index], index, size.width, size.height);
    if (!to)
        return;
    if (isStraight) {
        RowsToBatch rows{m_shared.normalizer, plan, size, to};
        resampleFast(pixels.view, fastResample(plan, pixels.reduce), scratch.transform, normalizeRow, &rows);
    } else {
        m_shared.normalizer.run(out, to);
    }
    if (erased)
        eraseRegion(*erased, size.width, size.height, m_shared.options.channels, m_shared.options.order, to);
}

std::size_t BatchWork::imageFloats() const
{
    return std::size_t(m_batch->channels) * std::size_t(m_batch->height) * std::size_t(m_batch->width);
}

// The first picture that is ready gives the batch its size; finish() judges by the order of slots.
float *BatchWork::place(Slot &slot, std::size_t index, int width, int height)
{
    slot.width = width;
    slot.height = height;
    const std::lock_guard lock(m_mutex);
    if (!m_batch) {
        const int channels = m_shared.options.channels;
        m_batch =
            m_shared.pool->take(m_samples.size() * std::size_t(channels) * std::size_t(height) * std::size_t(width));
        m_batch->channels = channels;
        m_batch->height = height;
        m_batch->width = width;
        m_batch->order = m_shared.options.order;
    }
    const bool fits = m_batch->width == width && m_batch->height == height;
    slot.state = fits ? State::Placed : State::OtherSize;
    return fits ? m_batch->data + index * imageFloats() : nullptr;
}

std::optional<Error> BatchWork::firstError() const
{
    bool unequal = false;
    for (const Slot &slot : m_slots) {
        if (slot.state == State::Failed) {
            Error error = *slot.error;
            // An unreadable picture that may not be skipped is a fault of the data set.
            if (error.name == QLatin1String(errors::InvalidImage))
                error.name = QLatin1String(errors::InvalidDataset);
            return error;
        }
        unequal = unequal || slot.state == State::OtherSize;
    }
    return unequal ? std::optional(unequalSizes()) : std::nullopt;
}

Error BatchWork::unequalSizes() const
{
    const Slot *first = nullptr;
    QStringList args;
    for (std::size_t i = 0; i < m_slots.size() && args.size() < 6; ++i) {
        const Slot &slot = m_slots[i];
        if (slot.width == 0 || (first && slot.width == first->width && slot.height == first->height))
            continue;
        first = first ? first : &slot;
        args << QString::fromStdString(m_shared.manifest->displayName(m_samples[i])) << QString::number(slot.width)
             << QString::number(slot.height);
    }
    return makeError(
        errors::InvalidDataset,
        QT_TRANSLATE_NOOP("Error", "Images of unequal size cannot stand in one batch: \"%1\" has %2 × %3 pixels, "
                                   "\"%4\" %5 × %6."),
        args, QT_TRANSLATE_NOOP("Error", "Add a crop to the image transformation, so that all come out equal."));
}

// Moves the pictures that are there to the front, in order.
void BatchWork::compact()
{
    std::size_t to = 0;
    for (std::size_t i = 0; i < m_slots.size(); ++i) {
        if (m_slots[i].state != State::Placed)
            continue;
        if (to != i)
            std::memcpy(m_batch->data + to * imageFloats(), m_batch->data + i * imageFloats(),
                        imageFloats() * sizeof(float));
        m_samples[to++] = m_samples[i];
    }
    m_samples.resize(to);
}

Result<BatchPtr> BatchWork::finish(std::vector<std::pair<std::uint32_t, QString>> &skipped)
{
    for (std::size_t i = 0; i < m_slots.size(); ++i)
        if (m_slots[i].state == State::Unreadable)
            skipped.emplace_back(m_samples[i], m_slots[i].error->sentence());
    if (std::optional<Error> error = firstError())
        return *std::move(error);
    if (!m_batch)
        return BatchPtr();
    compact();
    m_batch->count = int(m_samples.size());
    m_batch->labels.clear();
    for (const std::uint32_t sample : m_samples)
        m_batch->labels.push_back(m_shared.manifest->category(sample));
    m_batch->samples = std::move(m_samples);
    return BatchPtr(std::move(m_batch));
}

} // namespace tw

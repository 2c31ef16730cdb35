// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/scoring.h"

#include "core/data/imagesizes.h"
#include "core/metrics/scoretable.h"
#include "core/train/predictor.h"

#include <QElapsedTimer>

#include <algorithm>

namespace tw {

namespace {

/// The size that the network is built for, where it is built for one.
std::optional<std::pair<int, int>> fixedInputSize(const ModelInfo &info)
{
    const QJsonObject &arguments = info.config.arguments;
    const int height = arguments.value(QLatin1String("height")).toInt(),
              width = arguments.value(QLatin1String("width")).toInt();
    return height > 0 && width > 0 ? std::optional(std::pair(width, height)) : std::nullopt;
}

/// Whether pictures can share a batch: the headers decide where nothing else does.
Result<bool> haveOneSize(const ScoringPass &pass)
{
    if (pass.batchSize == 1 || pass.manifest->size() == 1 || fixedInputSize(pass.info))
        return true;
    SizeCheck check;
    check.workers = automaticWorkers();
    check.stop = pass.stop;
    const auto checked = checkImageSizes(*pass.manifest, forInference(pass.info.transforms), check);
    if (!checked.ok() && checked.error().name == QLatin1String(errors::Canceled))
        return checked.error();
    return checked.ok();
}

LoaderOptions loaderOptions(const ScoringPass &pass, bool oneSize)
{
    LoaderOptions options;
    options.batchSize = oneSize ? pass.batchSize : 1;
    options.numWorkers = pass.manifest->size() == 1 ? 0 : automaticWorkers();
    options.normalization = pass.info.normalization;
    options.channels = pass.info.channels;
    options.skipUnreadable = pass.skipUnreadable;
    options.largestLoss = pass.largestLoss;
    return options;
}

Result<void> checkInputSize(const Batch &batch, const ScoringPass &pass)
{
    const auto size = fixedInputSize(pass.info);
    if (!size || (batch.width == size->first && batch.height == size->second))
        return {};
    return makeError(
        errors::InvalidDataset,
        QT_TRANSLATE_NOOP("Error", "The picture '%1' reaches the network with %2 × %3 pixels; it takes %4 × %5."),
        {QString::fromStdString(pass.manifest->displayName(batch.samples.front())), QString::number(batch.width),
         QString::number(batch.height), QString::number(size->first), QString::number(size->second)},
        QT_TRANSLATE_NOOP("Error", "Give pictures of that size, or train with a transformation that makes it."));
}

Result<void> scoreBatch(const Batch &batch, const ScoringPass &pass, ScoringSummary &summary)
{
    TW_TRY(checkInputSize(batch, pass));
    TW_ASSIGN(logits, pass.network(batch));
    const std::size_t classes = pass.info.classes.size();
    for (std::size_t i = 0; i < batch.samples.size(); ++i) {
        const std::span<const float> row(logits.data() + i * classes, classes);
        const std::vector<double> probabilities = softmax(row);
        ++summary.scored;
        summary.undefined += bestClass(probabilities) ? 0 : 1;
        TW_TRY(pass.picture({batch.samples[i], probabilities, row}));
    }
    return {};
}

void tellSkipped(BatchLoader &loader, const ScoringPass &pass, ScoringSummary &summary)
{
    for (const auto &[sample, reason] : loader.takeSkipped()) {
        ++summary.skipped;
        if (pass.skipped)
            pass.skipped(sample, reason);
    }
}

} // namespace

Result<ScoringSummary> scorePictures(const ScoringPass &pass)
{
    TW_ASSIGN(oneSize, haveOneSize(pass));
    if (!oneSize && pass.note)
        pass.note(QStringLiteral("The pictures differ in size: they are scored one by one."));
    TW_ASSIGN(loader,
              BatchLoader::create(pass.manifest, forInference(pass.info.transforms), loaderOptions(pass, oneSize)));
    QElapsedTimer timer;
    timer.start();
    ScoringSummary summary;
    loader->startEpoch(1);
    for (;;) {
        const auto batch = loader->next(pass.stop);
        tellSkipped(*loader, pass, summary);
        if (!batch.ok())
            return batch.error();
        if (!*batch)
            return summary;
        if (pass.stop && pass.stop->cancel.load(std::memory_order_relaxed))
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Scoring was canceled."));
        TW_TRY(scoreBatch(***batch, pass, summary));
        if (pass.progress)
            pass.progress(summary.scored + summary.skipped,
                          double(summary.scored) / std::max(1e-3, double(timer.nsecsElapsed()) * 1e-9));
    }
}

} // namespace tw

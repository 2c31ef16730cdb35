// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/metricssummary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw {

static std::optional<double> latest(const MetricSeries *series)
{
    return series && series->size() > 0 ? std::optional(series->values.back()) : std::nullopt;
}

int epochsUntilStop(const std::vector<double> &losses, int patience, bool againstPrevious)
{
    double reference = std::numeric_limits<double>::infinity();
    int without = 0;
    for (const double loss : losses) {
        without = loss < reference ? 0 : without + 1;
        if (againstPrevious)
            reference = std::isnan(loss) ? reference : loss;
        else if (loss < reference)
            reference = loss;
    }
    return std::max(0, patience - without);
}

static void summarizeAccuracy(const MetricSeries &series, MetricsSummary &summary)
{
    for (size_t i = 0; i < series.size(); ++i) {
        const double value = series.values[i];
        if (std::isfinite(value) && (!summary.bestTop1 || value > *summary.bestTop1)) {
            summary.bestTop1 = value;
            summary.bestTop1At = i;
        }
    }
}

static void summarizeLoss(const MetricSeries &series, const QJsonObject &parameters, MetricsSummary &summary)
{
    double lowest = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < series.size(); ++i) {
        if (series.values[i] < lowest) {
            lowest = series.values[i];
            summary.lowestLossAt = i;
            summary.hasLowestLoss = true;
        }
    }
    const int patience = parameters.value(QStringLiteral("patience")).toInt();
    const bool previous =
        parameters.value(QStringLiteral("patience_reference")).toString() == QStringLiteral("previous");
    if (patience > 0 && series.size() > 0)
        summary.epochsUntilStop = epochsUntilStop(series.values, patience, previous);
}

static std::optional<double> recentMean(const MetricSeries &series)
{
    constexpr size_t window = 20;
    double sum = 0;
    int count = 0;
    for (size_t i = series.size() > window ? series.size() - window : 0; i < series.size(); ++i) {
        if (std::isfinite(series.values[i])) {
            sum += series.values[i];
            ++count;
        }
    }
    return count ? std::optional(sum / count) : std::nullopt;
}

MetricsSummary summarize(const MetricStore &store, const QString &node, const QJsonObject &parameters)
{
    MetricsSummary summary;
    const auto find = [&](const char *series) { return store.find({node, QString::fromLatin1(series), 0}); };
    if (const MetricSeries *series = find("val_top1"))
        summarizeAccuracy(*series, summary);
    if (const MetricSeries *series = find("val_loss"))
        summarizeLoss(*series, parameters, summary);
    if (const MetricSeries *series = find("images_per_second"))
        summary.imagesPerSecond = recentMean(*series);
    summary.trainLoss = latest(find("train_loss"));
    summary.valLoss = latest(find("val_loss"));
    if (const int epochs = parameters.value(QStringLiteral("epochs")).toInt(); epochs > 0)
        summary.epochs = epochs;
    for (const SeriesKey &key : store.keys()) {
        const MetricSeries &series = *store.find(key);
        if (key.node != node || series.size() == 0)
            continue;
        summary.epoch = std::max(summary.epoch.value_or(0), series.epochs.back());
        summary.seconds = std::max(summary.seconds.value_or(0), series.seconds.back());
    }
    return summary;
}

} // namespace tw

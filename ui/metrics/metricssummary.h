// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/metricstore.h"

#include <QJsonObject>
#include <QString>

#include <optional>

namespace tw {

/// Figures of one training node for the header strip. Absent: not known.
struct MetricsSummary
{
    std::optional<double> bestTop1; ///< validation, fraction of 1
    size_t bestTop1At = 0;          ///< position in val_top1
    size_t lowestLossAt = 0;        ///< position in val_loss, where there is a finite value
    bool hasLowestLoss = false;
    std::optional<double> trainLoss, valLoss; ///< latest
    std::optional<double> imagesPerSecond;    ///< mean of the last 20 values
    std::optional<double> epoch;              ///< latest, fractional
    std::optional<int> epochs;                ///< planned
    std::optional<double> seconds;
    std::optional<int> epochsUntilStop; ///< without a lower validation loss
};

/// `parameters`: the node's effective values (epochs, patience, patience_reference).
MetricsSummary summarize(const MetricStore &store, const QString &node, const QJsonObject &parameters);
/// Epochs left before early stopping, given the validation losses in order: a lower loss than the
/// best so far (or than the previous one) starts the count anew; NaN counts as no improvement.
int epochsUntilStop(const std::vector<double> &losses, int patience, bool againstPrevious);

} // namespace tw

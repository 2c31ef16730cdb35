// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QByteArray>
#include <QString>

namespace tw {

/// One value of a series. `step`: optimizer steps done, from 1. `epoch`: from 1, fractional for
/// step series. `seconds`: steady-clock training time, pauses out. Series names are fixed in the
/// file format: train_loss, val_loss, train_top1, val_top1, train_top5, val_top5 (fractions of 1),
/// learning_rate, images_per_second, loader_wait_ms, loader_decode_ms, loader_transform_ms (of a batch, sums
/// over the loader's threads), loader_mb_per_second, step_ms, epoch_seconds, memory_mb, cpu_percent, best_val_top1,
/// train_eval_top1.
struct MetricPoint
{
    QString node;
    QString series;
    qint64 step = 0;
    double epoch = 0;
    double seconds = 0;
    int rank = 0;
    double value = 0;

    /// One line of metrics.jsonl without the line end; not finite as "NaN", "Infinity", "-Infinity".
    QByteArray toJsonLine() const;
    /// InvalidPipelineError-free: LibraryError naming the line's text when it is not a point.
    static Result<MetricPoint> fromJsonLine(const QByteArray &line);
    bool operator==(const MetricPoint &) const = default;
};

} // namespace tw

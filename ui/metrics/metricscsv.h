// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/metricstore.h"
#include "ui/common/csvtext.h"

class QIODevice;

namespace tw {

/// Columns node, series, rank, step, epoch, seconds, value; a row a point. False when writing fails.
bool writeMetricsCsv(QIODevice &device, const MetricStore &store, const QList<SeriesKey> &keys, CsvFormulas formulas);

} // namespace tw

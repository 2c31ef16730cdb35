// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/common/csvtext.h"

#include <QList>

class QWidget;

namespace tw {

class PlotWidget;
struct MetricsView;

enum class MetricsExport { Png, Svg, Pdf, Csv, Copy };

/// Asks for a file where one is needed and writes it; the numbers on a worker thread. Failures are
/// told in a message box.
void exportMetrics(QWidget *parent, MetricsExport what, const QList<PlotWidget *> &plots, int columns,
                   const MetricsView &view, CsvFormulas formulas);

} // namespace tw

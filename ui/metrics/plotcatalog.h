// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/metrics/numberformat.h"

#include <QList>
#include <QString>

namespace tw {

struct PlotSeries
{
    QString series; ///< as in metrics.jsonl
    QString label;
    int color = 0;         ///< PlotTheme::curve()
    bool smoothed = false; ///< one value a step: raw and smoothed
};

struct PlotKind
{
    QString id; ///< stored in the settings
    QString title;
    NumberStyle style = NumberStyle::Plain;
    bool shownAtFirst = false;
    QList<PlotSeries> series;
    QString emptyNote;
};

/// The plots to choose from, in the order they stand; texts in the interface language.
QList<PlotKind> plotCatalog();

} // namespace tw

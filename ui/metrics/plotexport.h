// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QList>
#include <QString>

namespace tw {

class PlotWidget;

/// The plots as they are on the screen, twice as large.
QImage plotPicture(const QList<PlotWidget *> &plots, int columns);
/// The suffix of `path` decides: svg, pdf, else a picture format. False when it cannot be written.
bool savePlotPicture(const QList<PlotWidget *> &plots, int columns, const QString &path);

} // namespace tw

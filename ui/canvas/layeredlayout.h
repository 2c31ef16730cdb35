// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/pipeline/pipeline.h"

#include <QMap>
#include <QSizeF>

namespace tw {

/// Left-to-right layers (longest path from a source), the order within a layer by the average
/// height of the neighbours, no overlaps, top left corners on the grid. `sizes` by node id, scene
/// units. Cycles are cut where they are met; every node gets a place.
QMap<QString, QPointF> layeredLayout(const Pipeline &pipeline, const QMap<QString, QSizeF> &sizes, double grid);

} // namespace tw

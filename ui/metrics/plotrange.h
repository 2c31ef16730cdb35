// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/metrics/numberformat.h"

#include <QVector>

#include <utility>

namespace tw {

/// Ordinate range with some air for values in [low, high]; never of zero height. `low` > `high`
/// means that there are none. `low` must be above 0 where `logarithmic`.
std::pair<double, double> fitOrdinate(double low, double high, NumberStyle style, bool logarithmic);
/// Ticks of a logarithmic axis at least 0.8 decades long, about `count` of them; 1-2-5 within few decades.
QVector<double> decadeTicks(double low, double high, int count);

} // namespace tw

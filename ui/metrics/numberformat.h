// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace tw {

/// How a quantity is written for people. Ratio: a fraction of 1, shown as a percentage.
enum class NumberStyle { Plain, Ratio, Rate, Milliseconds, Megabytes, Percent, Duration, Count };

/// A value by itself, four significant digits at most: "0.4213", "93.4 %", "1,204", "1:02:05".
QString formatValue(double value, NumberStyle style);
/// A tick label with the decimals that `step` between ticks needs.
QString formatTick(double value, double step, NumberStyle style);
/// Seconds as m:ss or h:mm:ss.
QString formatDuration(double seconds);
/// The next round distance between ticks for about `count` ticks over `span`.
double niceStep(double span, int count, NumberStyle style);
/// Bytes with a unit: "12.4 MB".
QString formatBytes(qint64 bytes);

} // namespace tw

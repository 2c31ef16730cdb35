// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/plotrange.h"

#include <algorithm>
#include <cmath>

namespace tw {

std::pair<double, double> fitOrdinate(double low, double high, NumberStyle style, bool logarithmic)
{
    if (!(low <= high))
        return {logarithmic ? 0.1 : 0.0, 1.0};
    if (logarithmic) {
        const double factor = std::max(std::pow(high / low, 0.05), 1.15);
        return {low / factor, high * factor};
    }
    double pad = (high - low) * 0.07;
    if (pad <= std::abs(high) * 1e-9)
        pad = style == NumberStyle::Ratio ? 0.01 : high == 0 ? 1.0 : std::abs(high) * 0.05;
    return {low >= 0 ? std::max(0.0, low - pad) : low - pad, high + pad};
}

QVector<double> decadeTicks(double low, double high, int count)
{
    const double decades = std::log10(high / low);
    const int every = std::max(1, int(std::ceil(decades / std::max(count, 1))));
    const QVector<double> factors = decades < 2.2 ? QVector<double>{1, 2, 5} : QVector<double>{1};
    QVector<double> ticks;
    for (double power = std::floor(std::log10(low)); power <= std::log10(high) + 1; power += every) {
        for (const double factor : factors)
            ticks << factor * std::pow(10, power);
    }
    return ticks;
}

} // namespace tw

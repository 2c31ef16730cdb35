// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tw {

/// Exponential moving average with the correction for its start (Kingma and Ba 2014, section 3):
/// s = w·s + (1 − w)·v, shown s / (1 − wⁿ). A constant series stays constant. NaN and infinities
/// are passed on as they are and leave the average alone.
class Smoother
{
public:
    /// `weight` in [0, 1); 0 passes everything on.
    explicit Smoother(double weight = 0) : m_weight(weight) {}
    double weight() const { return m_weight; }
    /// Takes in the samples beyond those already known.
    void update(std::span<const double> raw);
    void restart();
    std::span<const double> values() const { return m_values; }

private:
    double m_weight;
    double m_average = 0;
    double m_remaining = 1; ///< weightⁿ
    std::vector<double> m_values;
};

} // namespace tw

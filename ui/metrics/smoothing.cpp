// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/smoothing.h"

#include <cmath>

namespace tw {

void Smoother::update(std::span<const double> raw)
{
    if (raw.size() < m_values.size())
        restart();
    m_values.reserve(raw.size());
    for (size_t i = m_values.size(); i < raw.size(); ++i) {
        if (!std::isfinite(raw[i])) {
            m_values.push_back(raw[i]);
            continue;
        }
        m_average = m_weight * m_average + (1 - m_weight) * raw[i];
        m_remaining *= m_weight;
        m_values.push_back(m_average / (1 - m_remaining));
    }
}

void Smoother::restart()
{
    m_average = 0;
    m_remaining = 1;
    m_values.clear();
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <limits>

namespace tw {

/// Early stopping: counts the epochs in a row whose validation loss is no improvement. An equal loss
/// and one that is not finite are none.
class Patience
{
public:
    /// `epochs` > 0; the reference is the best loss so far, or that of the previous epoch (the last
    /// finite one).
    Patience(int epochs, bool againstPrevious) : m_epochs(epochs), m_againstPrevious(againstPrevious) {}

    void epoch(double loss)
    {
        const bool gained = loss < (m_againstPrevious ? m_previous : m_best); // false for NaN
        m_best = loss < m_best ? loss : m_best;
        if (std::isfinite(loss))
            m_previous = loss;
        m_without = gained ? 0 : m_without + 1;
    }
    bool isOver() const { return m_without >= m_epochs; }
    int epochsWithoutGain() const { return m_without; }

private:
    int m_epochs;
    bool m_againstPrevious;
    int m_without = 0;
    double m_best = std::numeric_limits<double>::infinity();
    double m_previous = std::numeric_limits<double>::infinity();
};

} // namespace tw

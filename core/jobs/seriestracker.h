// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/workspace.h"

#include <map>
#include <set>
#include <utility>

namespace tw {

/// Last and best value of each series of one node, for the store. Not finite values are the last
/// one like any other, and the best only as long as there is no finite one.
class SeriesTracker
{
public:
    void add(const MetricPoint &point);
    /// Those that changed since clearChanged().
    QList<SeriesSummary> changed() const;
    void clearChanged() { m_changed.clear(); }

private:
    using Key = std::pair<QString, int>;
    std::map<Key, SeriesSummary> m_series;
    std::set<Key> m_changed;
};

} // namespace tw

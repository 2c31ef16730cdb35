// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/scoretable.h"

#include <QJsonValue>

namespace tw {

inline constexpr char scoreTableFormat[] = "trainwright-scored-table";
inline constexpr int scoreTableVersion = 1;

struct ScoreColumn
{
    std::string name;
    const char *type; ///< text | number
    const char *role; ///< path | category | top_label | top_probability | probability | logit | label
};

/// The columns of a layout whose topK is at most the number of classes, in the order of the file.
std::vector<ScoreColumn> scoreColumns(const ScoreLayout &layout);

} // namespace tw

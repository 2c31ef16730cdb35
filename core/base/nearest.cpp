// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tw {

/// Levenshtein distance.
static int editDistance(QStringView from, QStringView to)
{
    std::vector<int> row(static_cast<size_t>(to.size()) + 1);
    std::iota(row.begin(), row.end(), 0);
    for (qsizetype i = 0; i < from.size(); ++i) {
        int diagonal = row[0];
        row[0] = static_cast<int>(i) + 1;
        for (size_t j = 1; j < row.size(); ++j) {
            const int replaced = diagonal + (from[i] == to[static_cast<qsizetype>(j) - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

QString nearestText(const QString &text, const QStringList &candidates)
{
    constexpr qsizetype longest = 200; // nothing longer is a typing error
    if (text.isEmpty() || text.size() > longest)
        return {};
    QString nearest;
    int best = static_cast<int>(text.size() + 1) / 2;
    for (const QString &candidate : candidates) {
        const int distance = editDistance(text.toLower(), candidate.left(longest).toLower());
        if (distance <= best && (nearest.isEmpty() || distance < best)) {
            best = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

} // namespace tw

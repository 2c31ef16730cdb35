// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace tw {

/// The candidate with the fewest edits from `text` (case does not count), for "did you mean";
/// empty when none is closer than half of the text.
QString nearestText(const QString &text, const QStringList &candidates);

} // namespace tw

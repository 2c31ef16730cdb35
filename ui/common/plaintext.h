// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace tw {

/// Text from outside (file, class and job names) fit for one line: control characters, line ends
/// and direction marks are written out ("\u202E"), so that they cannot change what stands beside them.
QString literalText(const QString &text);
/// literalText() cut in the middle to `maxLetters`.
QString shortText(const QString &text, int maxLetters);
/// A tool tip that shows `text` letter by letter; Qt would take markup in it for markup.
QString literalToolTip(const QString &text);

/// Below, equal or above 0 as `a` stands before, with or after `b` when people list names: letters of
/// either case alike, runs of digits by their value ("log_2" before "log_10").
int compareNatural(const QString &a, const QString &b);

} // namespace tw

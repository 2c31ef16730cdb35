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

} // namespace tw

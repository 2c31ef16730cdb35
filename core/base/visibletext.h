// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace tw {

/// The text with control characters, but for line ends and tabs, as \xNN: names of files come from
/// anywhere, and a terminal obeys what they hold.
QString visibleText(const QString &text);

} // namespace tw

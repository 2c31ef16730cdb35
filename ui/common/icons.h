// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QPalette>

namespace tw {

/// resources/icons/<name>.svg drawn in the palette's colour of the moment (it follows theme changes
/// and stays sharp at any scale). A null icon when there is no such file.
QIcon themedIcon(const QString &name, QPalette::ColorRole role = QPalette::ButtonText);
/// The program's own picture, in its colours.
QIcon applicationIcon();

} // namespace tw

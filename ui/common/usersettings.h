// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSettings>

namespace tw {

/// The window's own memory (docks, theme, recent files, run basics): trainwright.ini in the user's
/// configuration folder, or the file named by setUserSettingsFile() (tests).
QSettings userSettings();
void setUserSettingsFile(const QString &file);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/usersettings.h"

#include <QStandardPaths>

namespace tw {

static QString &settingsFile()
{
    static QString file;
    return file;
}

void setUserSettingsFile(const QString &file)
{
    settingsFile() = file;
}

QSettings userSettings()
{
    if (settingsFile().isEmpty()) {
        const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation);
        settingsFile() = folder + QStringLiteral("/trainwright/trainwright.ini");
    }
    return QSettings(settingsFile(), QSettings::IniFormat);
}

} // namespace tw

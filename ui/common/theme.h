// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/datatype.h"

#include <QColor>
#include <QObject>

class QDBusVariant;

namespace tw {

enum class ThemeChoice { System, Light, Dark };

/// Colours beyond QPalette; one set for light, one for dark.
struct ThemeColors
{
    QColor canvas, grid, gridStrong;
    QColor node, nodeBorder, nodeHover, nodeFooter;
    QColor text, mutedText, faintText;
    QColor accent, onAccent;
    QColor good, warning, bad, info;
    QColor panel, field, border;
};

/// The application's look: Fusion with a palette of our own. *System* follows the desktop portal's
/// colour-scheme setting (read without blocking; light where there is none). GUI thread.
class Theme : public QObject
{
    Q_OBJECT
public:
    static Theme &instance();
    /// Sets style and palette of the application and follows the desktop from now on.
    void setChoice(ThemeChoice choice);
    ThemeChoice choice() const { return m_choice; }
    bool isDark() const { return m_dark; }
    const ThemeColors &colors() const;

    static QString choiceId(ThemeChoice choice);        ///< "system", "light", "dark"
    static ThemeChoice choiceFromId(const QString &id); ///< System for anything unknown

Q_SIGNALS:
    void changed(bool dark);

private:
    Theme();
    void apply(bool dark);
    void askDesktop();

private Q_SLOTS:
    void desktopSettingChanged(const QString &group, const QString &key, const QDBusVariant &value);

private:
    ThemeChoice m_choice = ThemeChoice::Light;
    bool m_dark = false;
    bool m_applied = false;
    bool m_desktopDark = false;
    bool m_watching = false;
};

/// Short for Theme::instance().colors().
const ThemeColors &themeColors();
/// Band of a component category (English source name); a stable colour for unknown ones.
QColor categoryColor(const QString &category);
QColor dataTypeColor(DataType type);

} // namespace tw

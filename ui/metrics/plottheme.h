// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>

namespace tw {

/// Colours of plots. Curve colours keep apart for the common kinds of colour blindness (after
/// Okabe and Ito 2008, lightened for dark backgrounds).
struct PlotTheme
{
    QColor card, border, text, muted, grid, axis, warning, readout;
    bool dark = false;

    static PlotTheme make(bool dark);
    QColor curve(int index) const;
};

/// The application's font `delta` points larger, and heavier where `bold`.
QFont plotFont(double deltaPoints, bool bold = false);

} // namespace tw

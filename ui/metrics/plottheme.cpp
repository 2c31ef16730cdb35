// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/plottheme.h"

#include <QApplication>

#include <algorithm>
#include <array>

namespace tw {

PlotTheme PlotTheme::make(bool dark)
{
    if (dark) {
        return {QColor(0x1e, 0x21, 0x27), QColor(0x33, 0x38, 0x41),      QColor(0xe6, 0xe8, 0xec),
                QColor(0x9a, 0xa2, 0xae), QColor(0x2c, 0x31, 0x39),      QColor(0x4a, 0x51, 0x5c),
                QColor(0xff, 0x9a, 0x8a), QColor(0x2a, 0x2e, 0x36, 240), true};
    }
    return {QColor(0xff, 0xff, 0xff), QColor(0xe1, 0xe4, 0xe8),      QColor(0x1f, 0x24, 0x2b),
            QColor(0x67, 0x70, 0x7c), QColor(0xee, 0xf0, 0xf2),      QColor(0xc4, 0xc9, 0xd0),
            QColor(0xc6, 0x28, 0x1c), QColor(0xff, 0xff, 0xff, 242), false};
}

QColor PlotTheme::curve(int index) const
{
    static constexpr std::array<QRgb, 8> light{0xff1f6fd1, 0xffd55e00, 0xff009e73, 0xffb8479e,
                                               0xff8a6d00, 0xff3f9fd8, 0xff5b5bd6, 0xff6b7280};
    static constexpr std::array<QRgb, 8> deep{0xff6aaeff, 0xffff9d4d, 0xff3fd0a4, 0xffe58fd0,
                                              0xffe8c94a, 0xff8fd6ff, 0xffa8a4ff, 0xffa9b1bd};
    const size_t at = size_t(std::abs(index)) % light.size();
    return QColor::fromRgb(dark ? deep[at] : light[at]);
}

QFont plotFont(double deltaPoints, bool bold)
{
    QFont font = QApplication::font();
    if (font.pointSizeF() > 0)
        font.setPointSizeF(std::max(6.0, font.pointSizeF() + deltaPoints));
    if (bold)
        font.setWeight(QFont::DemiBold);
    return font;
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/numberformat.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

namespace tw {

namespace {
constexpr QChar minusSign(0x2212);

QString scientific(double value, int digits)
{
    const QString text = QString::number(value, 'e', digits);
    const qsizetype at = text.indexOf(QLatin1Char('e'));
    QString mantissa = text.left(at);
    if (mantissa.contains(QLatin1Char('.'))) {
        while (mantissa.endsWith(QLatin1Char('0')))
            mantissa.chop(1);
        if (mantissa.endsWith(QLatin1Char('.')))
            mantissa.chop(1);
    }
    QString shown = mantissa + QLatin1Char('e') + QString::number(text.mid(at + 1).toInt());
    return shown.replace(QLatin1Char('-'), minusSign);
}

QString fixed(double value, int decimals)
{
    QString text = QLocale().toString(value, 'f', std::clamp(decimals, 0, 12));
    if (text.startsWith(QLatin1Char('-')))
        text[0] = minusSign;
    return text;
}

int decimalsFor(double step)
{
    if (!(step > 0))
        return 0;
    int decimals = 0;
    while (decimals < 9 && std::abs(step - std::round(step)) > 1e-6 * step) {
        step *= 10;
        ++decimals;
    }
    return decimals;
}

QString shortened(double value, double step)
{
    static constexpr std::array<std::pair<double, char>, 3> units{{{1e9, 'G'}, {1e6, 'M'}, {1e3, 'k'}}};
    for (const auto &[size, letter] : units) {
        if (std::abs(value) >= size * 0.9999)
            return fixed(value / size, decimalsFor(step / size)) + QLatin1Char(letter);
    }
    return fixed(value, decimalsFor(step));
}

QString significant(double value)
{
    if (value == 0)
        return QStringLiteral("0");
    const double size = std::abs(value);
    if (size < 1e-3 || size >= 1e9)
        return scientific(value, 3);
    const int decimals = std::max(0, 3 - int(std::floor(std::log10(size))));
    return fixed(value, decimals);
}

QString notFinite(double value)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
}
} // namespace

QString formatDuration(double seconds)
{
    if (!std::isfinite(seconds) || seconds < 0)
        return QStringLiteral("–");
    const qint64 total = qint64(std::min(seconds, 1e12));
    const QString rest = QStringLiteral("%1:%2")
                             .arg(total / 60 % 60, total >= 3600 ? 2 : 1, 10, QLatin1Char('0'))
                             .arg(total % 60, 2, 10, QLatin1Char('0'));
    return total >= 3600 ? QStringLiteral("%1:%2").arg(total / 3600).arg(rest) : rest;
}

QString formatValue(double value, NumberStyle style)
{
    if (!std::isfinite(value))
        return notFinite(value);
    switch (style) {
    case NumberStyle::Ratio:
        return fixed(value * 100, 2) + QStringLiteral(" %");
    case NumberStyle::Rate:
        return fixed(value, value < 100 ? 1 : 0);
    case NumberStyle::Milliseconds:
        return fixed(value, value < 100 ? 1 : 0) + QStringLiteral(" ms");
    case NumberStyle::Megabytes:
        return formatBytes(qint64(std::clamp(value, 0.0, 1e12) * 1024 * 1024));
    case NumberStyle::Percent:
        return fixed(value, 0) + QStringLiteral(" %");
    case NumberStyle::Duration:
        return value < 60 ? fixed(value, value < 10 ? 2 : 1) + QStringLiteral(" s") : formatDuration(value);
    case NumberStyle::Count:
        return fixed(value, std::abs(value - std::round(value)) < 1e-9 ? 0 : 2);
    case NumberStyle::Plain:
        break;
    }
    return significant(value);
}

QString formatTick(double value, double step, NumberStyle style)
{
    if (std::abs(value) < step * 1e-6)
        value = 0;
    switch (style) {
    case NumberStyle::Ratio:
        return fixed(value * 100, decimalsFor(step * 100)) + QStringLiteral(" %");
    case NumberStyle::Percent:
        return fixed(value, decimalsFor(step)) + QStringLiteral(" %");
    case NumberStyle::Duration:
        return step < 1 ? fixed(value, decimalsFor(step)) + QStringLiteral(" s") : formatDuration(value);
    case NumberStyle::Plain:
        if (value != 0 && step < 1e-4 && std::abs(value) < 1e-2)
            return scientific(value, 2);
        break;
    default:
        break;
    }
    return std::abs(value) >= (style == NumberStyle::Rate ? 1e5 : 1000) ? shortened(value, step)
                                                                        : fixed(value, decimalsFor(step));
}

double niceStep(double span, int count, NumberStyle style)
{
    const double exact = span / std::max(count, 1);
    if (!(exact > 0) || !std::isfinite(exact))
        return 1;
    if (style == NumberStyle::Duration && exact > 5) {
        static constexpr std::array<double, 17> steps{10,   15,   30,    60,    120,   300,   600,    900,   1800,
                                                      3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800};
        const auto found = std::lower_bound(steps.begin(), steps.end(), exact);
        if (found != steps.end())
            return *found;
    }
    const double power = std::pow(10, std::floor(std::log10(exact)));
    double step = 10 * power;
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= exact * 0.999) {
            step = factor * power;
            break;
        }
    }
    return style == NumberStyle::Count ? std::max(step, 1.0) : step;
}

QString formatBytes(qint64 bytes)
{
    return QLocale().formattedDataSize(bytes, bytes < 1024 ? 0 : 1, QLocale::DataSizeTraditionalFormat);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/metrics/metricssummary.h"
#include "ui/metrics/plottheme.h"

#include <QWidget>

#include <array>

class QLabel;

namespace tw {

/// The big numbers above the plots.
class MetricsHeader : public QWidget
{
    Q_OBJECT
public:
    explicit MetricsHeader(QWidget *parent = nullptr);
    /// `bestEpoch`: where the best top-1 was reached.
    void show(const MetricsSummary &summary, std::optional<double> bestEpoch);
    void applyTheme(const PlotTheme &theme);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    struct Tile
    {
        QLabel *caption = nullptr, *value = nullptr, *note = nullptr;
        void set(const QString &valueText, const QString &noteText) const;
    };
    Tile addTile(const QString &caption);
    static QString stoppingNote(const MetricsSummary &summary);

    PlotTheme m_theme = PlotTheme::make(false);
    std::array<Tile, 5> m_tiles;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/common/csvtext.h"
#include "ui/metrics/metricscontent.h"
#include "ui/metrics/metricsexport.h"

#include <QWidget>

#include <optional>

class QAction;
class QLabel;
class QMenu;
class QSlider;
class QToolButton;

namespace tw {

/// Axis, logarithm, smoothing, choice of plots and export; remembers its state in the settings.
class MetricsToolBar : public QWidget
{
    Q_OBJECT
public:
    explicit MetricsToolBar(const QList<PlotKind> &kinds, QWidget *parent = nullptr);

    MetricsAxis axis() const { return m_axis; }
    /// True once after the axis was changed.
    bool takeAxisChange() { return std::exchange(m_axisChanged, false); }
    bool isLogarithmic() const;
    /// Weight of the moving average, 0 … 0.99.
    double smoothing() const;
    QStringList shownPlots() const;
    CsvFormulas csvFormulas() const;
    /// Opens the export menu; nothing when it was closed.
    std::optional<MetricsExport> askExport(const QPoint &globalPosition);

Q_SIGNALS:
    void optionsChanged();
    void plotsChanged();
    void resetRequested();
    void exportRequested(tw::MetricsExport what);

private:
    void addAxisButtons();
    void addSmoothing();
    void addPlotsMenu(const QList<PlotKind> &kinds);
    void addExportMenu();
    QToolButton *addButton(const QString &text, const QString &toolTip);
    void setAxis(MetricsAxis axis);

    MetricsAxis m_axis = MetricsAxis::Step;
    bool m_axisChanged = false;
    bool m_asking = false; ///< the export menu stands for one plot
    QToolButton *m_logarithm = nullptr;
    QSlider *m_smoothing = nullptr;
    QLabel *m_smoothingValue = nullptr;
    QList<QAction *> m_plotActions;
    QMenu *m_exportMenu = nullptr;
    QAction *m_guardFormulas = nullptr;
};

} // namespace tw

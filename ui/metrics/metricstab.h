// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/metricpoint.h"

#include <QList>
#include <QWidget>

#include <memory>

namespace tw {

class Workspace;

/// Curves of one job: header strip, linked plots, export. GUI thread only; files are read elsewhere
/// and re-read while the tab is shown, so points that never arrived as events are not missed.
/// The workspace must outlive the tab or be taken away with setJob(nullptr, {}).
class MetricsTab : public QWidget
{
    Q_OBJECT
public:
    explicit MetricsTab(QWidget *parent = nullptr);
    ~MetricsTab() override;

    /// Forgets the old job and reads the new one's metrics; an empty id shows the empty state.
    void setJob(Workspace *workspace, const QString &job);
    /// Shows the series of this node only; empty: of all nodes.
    void setNode(const QString &node);
    /// Live points of the job shown; any number, coalesced to at most 30 redraws a second.
    void addPoints(const QList<MetricPoint> &points);
    void applyTheme(bool dark);
    /// Points held, all series together.
    qint64 pointCount() const;

protected:
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace tw

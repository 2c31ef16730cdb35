// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/parameters/datasetreportrows.h"

#include <QFutureWatcher>
#include <QWidget>

class QToolButton;
class QTreeWidget;

namespace tw {

/// What the last run found in the data of the selected node: a table whose rows unfold. Hidden while
/// there is none. Files are read on a worker thread.
class DatasetReportView : public QWidget
{
    Q_OBJECT
public:
    explicit DatasetReportView(QWidget *parent = nullptr);
    ~DatasetReportView() override;
    /// Shows the first of these reports that exists.
    void setFiles(const QList<fs::path> &files);
    bool isLoading() const { return m_reader.isRunning(); }

private:
    void show(const std::optional<QList<ReportRow>> &rows);
    void setOpen(bool open);
    void fitHeight();
    void paintWarnings();

    QToolButton *m_button;
    QTreeWidget *m_tree;
    QFutureWatcher<std::optional<QList<ReportRow>>> m_reader;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/workspace.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include <limits>

namespace tw {

/// A job as the list shows it; figures are NaN where the job has none.
struct JobRow
{
    JobRecord record;
    double epochs = std::numeric_limits<double>::quiet_NaN();   ///< done
    double bestTop1 = std::numeric_limits<double>::quiet_NaN(); ///< fraction of 1, of all training nodes
    double imagesPerSecond = std::numeric_limits<double>::quiet_NaN();
    int reusedNodes = 0;
};

struct JobsReading
{
    QList<JobRow> rows;
    std::optional<Error> error;
};

/// Any thread.
JobsReading readJobs(const Workspace &workspace);
JobRow makeJobRow(const JobRecord &record, const QList<SeriesSummary> &series);
/// Seconds from start to end, or to `nowMs` while it runs; NaN before the start.
double jobSeconds(const JobRecord &record, qint64 nowMs);
/// Display name, else the job id.
QString jobTitle(const JobRecord &record);

class JobModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Name, Started, Duration, Epochs, BestTop1, ImagesPerSecond, ColumnCount };
    enum Role { IdRole = Qt::UserRole, StateRole, SortRole, SearchRole, DetailRole };

    explicit JobModel(QObject *parent = nullptr);
    /// Rows that stay keep their persistent indexes.
    void setRows(const QList<JobRow> &rows);
    void setState(const QString &job, JobState state);
    /// Durations of running jobs go on.
    void tick();
    bool hasRunning() const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QVariant sortValue(const JobRow &row, int column) const;
    QString text(const JobRow &row, int column) const;
    QString toolTip(const JobRow &row) const;

    QList<JobRow> m_rows;
};

/// Sorts with unknown figures last in either direction, and finds words in names, experiments,
/// descriptions, tags, ids and states.
class JobSorter : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    explicit JobSorter(QObject *parent = nullptr);
    void setSearch(const QString &words);

protected:
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

private:
    QStringList m_words;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/jobmodel.h"

#include "ui/common/plaintext.h"
#include "ui/jobs/stateicon.h"
#include "ui/metrics/numberformat.h"

#include <QDateTime>
#include <QLocale>
#include <QSet>

#include <algorithm>
#include <cmath>

namespace tw {

namespace {
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The larger of two, where NaN is none.
double larger(double a, double b)
{
    return std::isnan(a) || b > a ? b : a;
}
} // namespace

JobRow makeJobRow(const JobRecord &record, const QList<SeriesSummary> &series)
{
    JobRow row;
    row.record = record;
    for (const SeriesSummary &summary : series) {
        if (summary.rank != 0)
            continue;
        if (summary.series == QStringLiteral("val_top1"))
            row.bestTop1 = larger(row.bestTop1, summary.best);
        else if (summary.series == QStringLiteral("images_per_second"))
            row.imagesPerSecond = larger(row.imagesPerSecond, summary.last);
    }
    for (const NodeRecord &node : record.nodes) {
        const QJsonValue epochs = node.results.value(QStringLiteral("epochs"));
        const QJsonValue done = node.results.value(QStringLiteral("epochs_done"));
        if (done.isDouble() || epochs.isDouble())
            row.epochs = larger(row.epochs, done.isDouble() ? done.toDouble() : epochs.toDouble());
        row.reusedNodes += node.state == NodeState::Reused;
    }
    return row;
}

JobsReading readJobs(const Workspace &workspace)
{
    JobsReading reading;
    const auto records = workspace.jobs();
    if (!records.ok()) {
        reading.error = records.error();
        return reading;
    }
    for (const JobRecord &record : *records) {
        const auto series = workspace.series(record.id);
        reading.rows << makeJobRow(record, series.ok() ? *series : QList<SeriesSummary>());
    }
    return reading;
}

double jobSeconds(const JobRecord &record, qint64 nowMs)
{
    if (record.startedMs <= 0)
        return unknown;
    const qint64 end = record.finishedMs > 0 ? record.finishedMs : isFinal(record.state) ? 0 : nowMs;
    return end > 0 ? double(std::max<qint64>(end - record.startedMs, 0)) / 1000 : unknown;
}

QString jobTitle(const JobRecord &record)
{
    return record.name.isEmpty() ? record.id : record.name;
}

JobModel::JobModel(QObject *parent) : QAbstractTableModel(parent) {}

void JobModel::setRows(const QList<JobRow> &rows)
{
    QSet<QString> ids;
    for (const JobRow &row : rows)
        ids.insert(row.record.id);
    for (int i = int(m_rows.size()) - 1; i >= 0; --i) {
        if (!ids.contains(m_rows[i].record.id)) {
            beginRemoveRows({}, i, i);
            m_rows.removeAt(i);
            endRemoveRows();
        }
    }
    QHash<QString, int> at;
    for (int i = 0; i < m_rows.size(); ++i)
        at.insert(m_rows[i].record.id, i);
    QList<JobRow> added;
    for (const JobRow &row : rows) {
        if (const auto found = at.constFind(row.record.id); found != at.constEnd())
            m_rows[*found] = row;
        else
            added << row;
    }
    if (!m_rows.isEmpty())
        Q_EMIT dataChanged(index(0, 0), index(int(m_rows.size()) - 1, ColumnCount - 1));
    if (added.isEmpty())
        return;
    beginInsertRows({}, int(m_rows.size()), int(m_rows.size() + added.size()) - 1);
    m_rows += added;
    endInsertRows();
}

void JobModel::setState(const QString &job, JobState state)
{
    for (int i = 0; i < m_rows.size(); ++i) {
        JobRecord &record = m_rows[i].record;
        if (record.id != job || record.state == state)
            continue;
        record.state = state;
        const qint64 now = QDateTime::currentMSecsSinceEpoch();
        if (record.startedMs == 0 && (state == JobState::Preparing || state == JobState::Running))
            record.startedMs = now;
        if (isFinal(state) && record.finishedMs == 0)
            record.finishedMs = now;
        Q_EMIT dataChanged(index(i, 0), index(i, ColumnCount - 1));
    }
}

void JobModel::tick()
{
    for (int i = 0; i < m_rows.size(); ++i) {
        if (!isFinal(m_rows[i].record.state))
            Q_EMIT dataChanged(index(i, 0), index(i, Duration), {Qt::DisplayRole, DetailRole});
    }
}

bool JobModel::hasRunning() const
{
    return std::any_of(m_rows.cbegin(), m_rows.cend(), [](const JobRow &row) { return !isFinal(row.record.state); });
}

int JobModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int JobModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant JobModel::sortValue(const JobRow &row, int column) const
{
    switch (column) {
    case Started:
        return row.record.startedMs > 0 ? double(row.record.startedMs) : double(row.record.createdMs);
    case Duration:
        return jobSeconds(row.record, QDateTime::currentMSecsSinceEpoch());
    case Epochs:
        return row.epochs;
    case BestTop1:
        return row.bestTop1;
    case ImagesPerSecond:
        return row.imagesPerSecond;
    default:
        return jobTitle(row.record);
    }
}

QString JobModel::text(const JobRow &row, int column) const
{
    const auto figure = [](double value, NumberStyle style) {
        return std::isnan(value) ? QString() : formatValue(value, style);
    };
    switch (column) {
    case Name:
        return shortText(jobTitle(row.record), 80);
    case Started: {
        const qint64 at = row.record.startedMs > 0 ? row.record.startedMs : row.record.createdMs;
        return at > 0 ? QLocale().toString(QDateTime::fromMSecsSinceEpoch(at), QLocale::ShortFormat) : QString();
    }
    case Duration: {
        const double seconds = jobSeconds(row.record, QDateTime::currentMSecsSinceEpoch());
        return std::isnan(seconds) ? QString() : formatDuration(seconds);
    }
    case Epochs:
        return figure(row.epochs, NumberStyle::Count);
    case BestTop1:
        return figure(row.bestTop1, NumberStyle::Ratio);
    case ImagesPerSecond:
        return figure(row.imagesPerSecond, NumberStyle::Rate);
    default:
        return {};
    }
}

QString JobModel::toolTip(const JobRow &row) const
{
    QStringList lines{literalText(jobTitle(row.record)), jobStateText(row.record.state), row.record.id};
    if (!row.record.experiment.isEmpty())
        lines << tr("Experiment: %1").arg(shortText(row.record.experiment, 120));
    if (!row.record.description.isEmpty())
        lines << shortText(row.record.description, 300);
    if (row.reusedNodes > 0)
        lines << tr("%n node(s) reused", nullptr, row.reusedNodes);
    if (row.record.error)
        lines << shortText(row.record.error->sentence(), 300);
    for (QString &line : lines)
        line = line.toHtmlEscaped();
    return QStringLiteral("<span>%1</span>").arg(lines.join(QStringLiteral("<br/>")));
}

static QString searchText(const JobRecord &record)
{
    QStringList texts{record.name, record.experiment, record.description, record.id, jobStateText(record.state)};
    for (auto tag = record.tags.begin(); tag != record.tags.end(); ++tag)
        texts << tag.key() + QLatin1Char('=') + tag.value();
    return texts.join(QLatin1Char('\n'));
}

QVariant JobModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const JobRow &row = m_rows[index.row()];
    switch (role) {
    case Qt::DisplayRole:
        return text(row, index.column());
    case Qt::ToolTipRole:
        return toolTip(row);
    case Qt::TextAlignmentRole:
        return QVariant((index.column() >= Duration ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::AccessibleTextRole:
        return index.column() == Name ? text(row, Name) + QStringLiteral(", ") + jobStateText(row.record.state)
                                      : text(row, index.column());
    case IdRole:
        return row.record.id;
    case StateRole:
        return int(row.record.state);
    case SortRole:
        return sortValue(row, index.column());
    case SearchRole:
        return searchText(row.record);
    case DetailRole: {
        QStringList parts{jobStateText(row.record.state)};
        if (!row.record.experiment.isEmpty())
            parts << shortText(row.record.experiment, 40);
        if (const QString took = text(row, Duration); !took.isEmpty())
            parts << took;
        return parts.join(QStringLiteral(" · "));
    }
    default:
        return {};
    }
}

QVariant JobModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((section >= Duration ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name:
        return tr("Job");
    case Started:
        return tr("Started");
    case Duration:
        return tr("Duration");
    case Epochs:
        return tr("Epochs");
    case BestTop1:
        return tr("Best top-1");
    default:
        return tr("Images/s");
    }
}

JobSorter::JobSorter(QObject *parent) : QSortFilterProxyModel(parent)
{
    setSortRole(JobModel::SortRole);
    setDynamicSortFilter(true);
}

void JobSorter::setSearch(const QString &words)
{
    m_words = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool JobSorter::lessThan(const QModelIndex &left, const QModelIndex &right) const
{
    const QVariant a = left.data(JobModel::SortRole), b = right.data(JobModel::SortRole);
    if (a.typeId() != QMetaType::Double)
        return QString::localeAwareCompare(a.toString(), b.toString()) < 0;
    const double x = a.toDouble(), y = b.toDouble();
    if (std::isnan(x) || std::isnan(y)) // last in either direction
        return sortOrder() == Qt::AscendingOrder ? !std::isnan(x) && std::isnan(y) : std::isnan(x) && !std::isnan(y);
    return x < y;
}

bool JobSorter::filterAcceptsRow(int row, const QModelIndex &parent) const
{
    const QString text = sourceModel()->index(row, 0, parent).data(JobModel::SearchRole).toString();
    return std::all_of(m_words.cbegin(), m_words.cend(),
                       [&text](const QString &word) { return text.contains(word, Qt::CaseInsensitive); });
}

} // namespace tw

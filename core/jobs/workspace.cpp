// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/workspace.h"

#include "core/base/files.h"
#include "core/jobs/database.h"
#include "core/jobs/records.h"
#include "core/jobs/runlock.h"

#include <QDateTime>
#include <QHash>
#include <QStandardPaths>

#include <unistd.h>

namespace tw {

namespace {

constexpr char deletedPrefix[] = ".deleted-";

QString selectNodes(const char *rest)
{
    return QStringLiteral("SELECT job, id, %1 FROM nodes %2").arg(QLatin1String(nodeColumns), QLatin1String(rest));
}

QString selectJobs(const char *rest)
{
    return QStringLiteral("SELECT %1 FROM jobs %2").arg(QLatin1String(jobColumns), QLatin1String(rest));
}

void markInterrupted(JobRecord *job)
{
    job->state = JobState::Interrupted;
    for (NodeRecord &node : job->nodes)
        if (!isFinal(node.state) && node.state != NodeState::NotStarted)
            node.state = NodeState::Interrupted;
}

Error noJob(const QString &id)
{
    return makeError(errors::InvalidWorkspace, QT_TRANSLATE_NOOP("Error", "There is no job %1 in this workspace."),
                     {id}, QT_TRANSLATE_NOOP("Error", "List the jobs to see their ids."));
}

Result<void> checkFolder(const fs::path &folder)
{
    std::error_code fault;
    const fs::file_status status = fs::status(folder, fault);
    const char *const hint = QT_TRANSLATE_NOOP("Error", "Choose a folder that you can write to as the workspace.");
    if (fs::exists(status) && !fs::is_directory(status))
        return makeError(errors::InvalidWorkspace, QT_TRANSLATE_NOOP("Error", "The workspace %1 is not a folder."),
                         {displayPath(folder)}, hint);
    if (!fs::exists(status) && (fs::create_directories(folder, fault), fault))
        return makeError(errors::InvalidWorkspace, QT_TRANSLATE_NOOP("Error", "The workspace %1 cannot be made: %2."),
                         {displayPath(folder), QString::fromStdString(fault.message())}, hint);
    if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0)
        return makeError(errors::InvalidWorkspace, QT_TRANSLATE_NOOP("Error", "The workspace %1 is read-only."),
                         {displayPath(folder)}, hint);
    return {};
}

/// Temporary siblings of outputs, left by a program that was killed.
void removeHalfOutputs(const fs::path &jobFolder)
{
    std::error_code ignored;
    for (const auto &node : fs::directory_iterator(jobFolder / "nodes", ignored))
        for (const auto &output : fs::directory_iterator(node.path() / "outputs", ignored))
            if (output.path().filename().string().rfind('.', 0) == 0)
                fs::remove_all(output.path(), ignored);
}

} // namespace

struct Workspace::Private
{
    explicit Private(fs::path where) : folder(std::move(where)), database(folder / "studio.db") {}

    Result<void> addNodes(QList<JobRecord> *jobs, const QVariantList &onlyJob = {}) const;
    Result<void> addTags(QList<JobRecord> *jobs, const QVariantList &onlyJob = {}) const;
    Result<QList<JobRecord>> readJobs(const QVariantList &onlyJob = {}) const;

    fs::path folder;
    Database database;
};

Result<void> Workspace::Private::addNodes(QList<JobRecord> *jobs, const QVariantList &onlyJob) const
{
    QHash<QString, JobRecord *> byId;
    for (JobRecord &job : *jobs)
        byId.insert(job.id, &job);
    const char *const rest = onlyJob.isEmpty() ? "ORDER BY job, position" : "WHERE job = ? ORDER BY position";
    TW_ASSIGN(rows, database.read(selectNodes(rest), onlyJob));
    while (rows.next())
        if (JobRecord *job = byId.value(rows.value(0).toString()))
            job->nodes.append(nodeFromRow(rows));
    return {};
}

Result<void> Workspace::Private::addTags(QList<JobRecord> *jobs, const QVariantList &onlyJob) const
{
    QHash<QString, JobRecord *> byId;
    for (JobRecord &job : *jobs)
        byId.insert(job.id, &job);
    const char *const rest = onlyJob.isEmpty() ? "" : " WHERE job = ?";
    TW_ASSIGN(rows, database.read(QStringLiteral("SELECT job, name, value FROM tags") + QLatin1String(rest), onlyJob));
    while (rows.next())
        if (JobRecord *job = byId.value(rows.value(0).toString()))
            job->tags.insert(rows.value(1).toString(), rows.value(2).toString());
    return {};
}

Result<QList<JobRecord>> Workspace::Private::readJobs(const QVariantList &onlyJob) const
{
    QList<JobRecord> jobs;
    {
        const char *const rest = onlyJob.isEmpty() ? "ORDER BY created_ms DESC, id DESC" : "WHERE id = ?";
        TW_ASSIGN(rows, database.read(selectJobs(rest), onlyJob));
        while (rows.next())
            jobs.append(jobFromRow(rows));
    }
    TW_TRY(addNodes(&jobs, onlyJob));
    TW_TRY(addTags(&jobs, onlyJob));
    return jobs;
}

Workspace::Workspace(fs::path folder) : d(std::make_unique<Private>(std::move(folder))) {}
Workspace::~Workspace() = default;

fs::path Workspace::defaultFolder()
{
    const QString data = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
    return pathFromText(data) / "trainwright";
}

bool Workspace::exists(const fs::path &folder)
{
    std::error_code fault;
    return fs::exists(folder / "studio.db", fault);
}

Result<std::unique_ptr<Workspace>> Workspace::open(const fs::path &folder)
{
    std::error_code fault;
    const fs::path absolute = fs::absolute(folder, fault);
    TW_TRY(checkFolder(fault ? folder : absolute));
    std::unique_ptr<Workspace> workspace(new Workspace(fault ? folder : absolute));
    TW_TRY(makeFolder(workspace->folder() / "jobs"));
    TW_TRY(makeFolder(workspace->cacheFolder()));
    TW_TRY(workspace->d->database.prepare());
    for (const auto &entry : fs::directory_iterator(workspace->folder() / "jobs", fault))
        if (entry.path().filename().string().rfind(deletedPrefix, 0) == 0)
            fs::remove_all(entry.path(), fault);
    TW_TRY(workspace->tidyInterrupted());
    return workspace;
}

Result<void> Workspace::tidyInterrupted()
{
    TW_ASSIGN(all, jobs());
    for (const JobRecord &job : all) {
        if (job.state != JobState::Interrupted)
            continue;
        const auto lock = RunLock::acquire(lockFile(job.id));
        if (lock.ok())
            removeHalfOutputs(jobFolder(job.id));
    }
    return {};
}

const fs::path &Workspace::folder() const
{
    return d->folder;
}

fs::path Workspace::jobFolder(const QString &job) const
{
    return d->folder / "jobs" / pathFromBytes(job.toUtf8());
}

fs::path Workspace::nodeFolder(const QString &job, const QString &node) const
{
    return jobFolder(job) / "nodes" / pathFromBytes(node.toUtf8());
}

fs::path Workspace::outputFolder(const QString &job, const QString &node, const QString &port) const
{
    return nodeFolder(job, node) / "outputs" / pathFromBytes(port.toUtf8());
}

fs::path Workspace::cacheFolder() const
{
    return d->folder / "cache";
}

fs::path Workspace::lockFile(const QString &job) const
{
    return jobFolder(job) / "run.lock";
}

Result<void> Workspace::insertJob(const JobRecord &job)
{
    return d->database.write([&](QSqlDatabase &connection) -> Result<void> {
        const QString jobSql = QStringLiteral("INSERT INTO jobs (%1) VALUES (?,?,?,?,?,?,?,?,?)");
        TW_TRY(d->database.run(connection, jobSql.arg(QLatin1String(jobColumns)), jobValues(job)));
        for (auto tag = job.tags.constBegin(); tag != job.tags.constEnd(); ++tag)
            TW_TRY(d->database.run(connection, QStringLiteral("INSERT INTO tags (job, name, value) VALUES (?,?,?)"),
                                   {job.id, tag.key(), tag->isNull() ? QStringLiteral("") : *tag}));
        const QString nodeSql =
            QStringLiteral("INSERT INTO nodes (job, id, position, %1) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
        for (int i = 0; i < job.nodes.size(); ++i)
            TW_TRY(d->database.run(connection, nodeSql.arg(QLatin1String(nodeColumns)),
                                   QVariantList{job.id, job.nodes[i].id, i} + nodeValues(job.nodes[i])));
        return {};
    });
}

Result<void> Workspace::setJobState(const QString &job, JobState state)
{
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    const qint64 started = state == JobState::Preparing ? now : 0;
    const qint64 finished = isFinal(state) ? now : 0;
    return d->database.write([&](QSqlDatabase &connection) -> Result<void> {
        TW_TRY(d->database.run(connection,
                               QStringLiteral("UPDATE jobs SET state = ?, started_ms = max(started_ms, ?),"
                                              " finished_ms = max(finished_ms, ?) WHERE id = ? AND state NOT IN"
                                              " ('Completed','Failed','Canceled','Interrupted')"),
                               {jobStateId(state), started, finished, job}));
        return {};
    });
}

Result<void> Workspace::setJobError(const QString &job, const Error &error)
{
    return d->database.write([&](QSqlDatabase &connection) -> Result<void> {
        TW_TRY(d->database.run(connection, QStringLiteral("UPDATE jobs SET error = ? WHERE id = ?"),
                               {errorToText(error), job}));
        return {};
    });
}

Result<void> Workspace::updateNode(const QString &job, const NodeRecord &node)
{
    return updateNodes(job, {node});
}

Result<void> Workspace::updateNodes(const QString &job, const QList<NodeRecord> &nodes)
{
    return d->database.write([&](QSqlDatabase &connection) -> Result<void> {
        const QString sql = QStringLiteral("UPDATE nodes SET (%1) = (?,?,?,?,?,?,?,?,?,?) WHERE job = ? AND id = ?")
                                .arg(QLatin1String(nodeColumns));
        for (const NodeRecord &node : nodes) {
            TW_ASSIGN(done, d->database.run(connection, sql, nodeValues(node) + QVariantList{job, node.id}));
            if (done.numRowsAffected() != 1)
                return makeError(errors::InvalidWorkspace, QT_TRANSLATE_NOOP("Error", "The job %1 has no node %2."),
                                 {job, node.id});
        }
        return {};
    });
}

Result<void> Workspace::updateSeries(const QString &job, const QList<SeriesSummary> &series)
{
    return d->database.write([&](QSqlDatabase &connection) -> Result<void> {
        const QString sql =
            QStringLiteral("INSERT OR REPLACE INTO series (job, node, series, rank, last, last_kind, last_step,"
                           " best, best_kind, best_step) VALUES (?,?,?,?,?,?,?,?,?,?)");
        for (const SeriesSummary &one : series)
            TW_TRY(d->database.run(connection, sql,
                                   {job, one.node, one.series, one.rank, finiteOrNull(one.last), numberKind(one.last),
                                    one.lastStep, finiteOrNull(one.best), numberKind(one.best), one.bestStep}));
        return {};
    });
}

Result<void> Workspace::settle(JobRecord *job) const
{
    if (isFinal(job->state) || RunLock::isHeld(lockFile(job->id)))
        return {};
    // The runner writes the final state before it lets the lock go: read once more.
    TW_ASSIGN(again, d->readJobs({job->id}));
    if (!again.isEmpty())
        *job = again.first();
    if (!isFinal(job->state))
        markInterrupted(job);
    return {};
}

Result<QList<JobRecord>> Workspace::jobs() const
{
    TW_ASSIGN(list, d->readJobs());
    for (JobRecord &one : list)
        TW_TRY(settle(&one));
    return list;
}

Result<JobRecord> Workspace::job(const QString &id) const
{
    TW_ASSIGN(found, d->readJobs({id}));
    if (found.isEmpty())
        return noJob(id);
    TW_TRY(settle(&found.first()));
    return found.first();
}

Result<QList<SeriesSummary>> Workspace::series(const QString &job) const
{
    TW_ASSIGN(rows, d->database.read(QStringLiteral("SELECT node, series, rank, last, last_kind, last_step, best,"
                                                    " best_kind, best_step FROM series WHERE job = ?"
                                                    " ORDER BY node, series, rank"),
                                     {job}));
    QList<SeriesSummary> list;
    while (rows.next()) {
        SeriesSummary one;
        one.node = rows.value(0).toString();
        one.series = rows.value(1).toString();
        one.rank = rows.value(2).toInt();
        one.last = numberFromRow(rows.value(3), rows.value(4).toInt());
        one.lastStep = rows.value(5).toLongLong();
        one.best = numberFromRow(rows.value(6), rows.value(7).toInt());
        one.bestStep = rows.value(8).toLongLong();
        list.append(one);
    }
    return list;
}

Result<void> Workspace::deleteJob(const QString &id)
{
    TW_TRY(job(id));
    const fs::path folder = jobFolder(id);
    std::error_code fault;
    RunLock lock;
    if (fs::exists(folder, fault)) {
        auto taken = RunLock::acquire(lockFile(id));
        if (!taken.ok() && taken.error().name == QLatin1String(errors::InvalidWorkspace))
            return makeError(errors::InvalidWorkspace, QT_TRANSLATE_NOOP("Error", "The job %1 is still running."), {id},
                             QT_TRANSLATE_NOOP("Error", "Cancel it first."));
        if (!taken.ok())
            return taken.error();
        lock = std::move(*taken);
    }
    const fs::path doomed = folder.parent_path() / (deletedPrefix + folder.filename().string());
    fs::rename(folder, doomed, fault);
    if (fault && fault != std::errc::no_such_file_or_directory)
        return writeError(folder, fault.value());
    const Result<void> deleted = d->database.write([&](QSqlDatabase &connection) -> Result<void> {
        TW_TRY(d->database.run(connection, QStringLiteral("DELETE FROM jobs WHERE id = ?"), {id}));
        return {};
    });
    if (!deleted.ok()) {
        fs::rename(doomed, folder, fault);
        return deleted;
    }
    fs::remove_all(doomed, fault);
    return {};
}

QList<std::pair<QString, QString>> Workspace::reusableNodes(const QString &nodeKey, const QString &exceptJob) const
{
    QList<std::pair<QString, QString>> found;
    if (nodeKey.isEmpty())
        return found;
    auto rows = d->database.read(selectNodes("WHERE key = ? AND state IN ('Completed', 'Reused') AND stopped = ''"
                                             " ORDER BY finished_ms DESC"),
                                 {nodeKey});
    while (rows.ok() && rows->next()) {
        const QString job = rows->value(0).toString();
        const NodeRecord node = nodeFromRow(*rows);
        bool complete = job != exceptJob;
        for (const QString &port : node.outputs) {
            std::error_code fault;
            complete = complete && fs::is_directory(outputFolder(job, node.id, port), fault);
        }
        if (complete)
            found.append({job, node.id});
    }
    return found;
}

} // namespace tw

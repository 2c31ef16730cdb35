// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/json.h"

#include <QDateTime>
#include <QJsonArray>
#include <QThread>

namespace tw::cli {

namespace {

constexpr unsigned long pollMs = 200;

QString timeText(qint64 utcMs)
{
    return utcMs == 0 ? QStringLiteral("-")
                      : QDateTime::fromMSecsSinceEpoch(utcMs, Qt::UTC).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
}

QJsonObject nodeJson(const NodeRecord &node)
{
    QJsonObject json{{QStringLiteral("id"), node.id},
                     {QStringLiteral("component"), node.component},
                     {QStringLiteral("state"), nodeStateId(node.state)},
                     {QStringLiteral("started_ms"), node.startedMs},
                     {QStringLiteral("finished_ms"), node.finishedMs},
                     {QStringLiteral("results"), node.results}};
    if (!node.stopped.isEmpty())
        json.insert(QStringLiteral("stopped"), node.stopped);
    if (!node.reusedFrom.isEmpty())
        json.insert(QStringLiteral("reused_from"), node.reusedFrom);
    if (node.error)
        json.insert(QStringLiteral("error"), node.error->toJson());
    return json;
}

QJsonObject jobJson(const JobRecord &job)
{
    QJsonObject tags;
    for (auto it = job.tags.begin(); it != job.tags.end(); ++it)
        tags.insert(it.key(), it.value());
    QJsonArray nodes;
    for (const NodeRecord &node : job.nodes)
        nodes.append(nodeJson(node));
    QJsonObject json{{QStringLiteral("id"), job.id},
                     {QStringLiteral("experiment"), job.experiment},
                     {QStringLiteral("name"), job.name},
                     {QStringLiteral("description"), job.description},
                     {QStringLiteral("tags"), tags},
                     {QStringLiteral("state"), jobStateId(job.state)},
                     {QStringLiteral("created_ms"), job.createdMs},
                     {QStringLiteral("started_ms"), job.startedMs},
                     {QStringLiteral("finished_ms"), job.finishedMs},
                     {QStringLiteral("nodes"), nodes}};
    if (job.error)
        json.insert(QStringLiteral("error"), job.error->toJson());
    return json;
}

int failWith(const Error &error)
{
    printError(error);
    return exitFailed;
}

int list(const Workspace &workspace, bool json)
{
    const auto jobs = workspace.jobs();
    if (!jobs.ok())
        return failWith(jobs.error());
    for (const JobRecord &job : *jobs)
        writeOut(json ? jsonCompact(jobJson(job)) + '\n'
                      : job.id.toUtf8() + "  " + jobStateId(job.state).toUtf8().leftJustified(15) + ' '
                            + timeText(job.createdMs).toUtf8() + "  " + job.experiment.toUtf8()
                            + (job.name.isEmpty() ? "" : " / " + job.name.toUtf8()) + '\n');
    return exitDone;
}

void showText(const JobRecord &job)
{
    writeOut("Job " + job.id.toUtf8() + ": " + jobStateId(job.state).toUtf8() + "\n  created "
             + timeText(job.createdMs).toUtf8() + " UTC, finished " + timeText(job.finishedMs).toUtf8() + '\n');
    for (const NodeRecord &node : job.nodes) {
        writeOut("  " + node.id.toUtf8().leftJustified(20) + nodeStateId(node.state).toUtf8()
                 + (node.stopped.isEmpty() ? "" : " (stopped early: " + node.stopped.toUtf8() + ')') + '\n');
        for (auto it = node.results.begin(); it != node.results.end(); ++it)
            writeOut("      " + it.key().toUtf8() + ": " + jsonCompact(it.value()) + '\n');
        if (node.error)
            writeOut("      " + node.error->toString().toUtf8() + '\n');
    }
}

int show(const Workspace &workspace, const QString &id, bool json)
{
    const auto job = workspace.job(id);
    if (!job.ok())
        return failWith(job.error());
    if (json)
        writeOut(jsonCompact(jobJson(*job)) + '\n');
    else
        showText(*job);
    return exitDone;
}

int wait(const Workspace &workspace, const QString &id, bool json)
{
    for (;;) {
        const auto job = workspace.job(id);
        if (!job.ok())
            return failWith(job.error());
        if (isFinal(job->state)) {
            writeOut(json ? jsonCompact(jobJson(*job)) + '\n' : jobStateId(job->state).toUtf8() + '\n');
            if (job->state == JobState::Completed)
                return exitDone;
            return job->state == JobState::Canceled || job->state == JobState::Interrupted ? exitCanceled : exitFailed;
        }
        QThread::msleep(pollMs);
    }
}

int run(const Arguments &arguments)
{
    const QByteArray verb = arguments.words().value(0, "list");
    const bool needsJob = verb == "show" || verb == "wait";
    if (verb != "list" && !needsJob)
        return usageError(QStringLiteral("'jobs' knows no '%1'.").arg(QString::fromUtf8(verb)),
                          QStringLiteral("It knows list, show JOB and wait JOB."));
    if (needsJob != (arguments.words().size() == 2))
        return usageError(needsJob ? QStringLiteral("'jobs %1' needs the id of a job.").arg(QString::fromUtf8(verb))
                                   : QStringLiteral("'jobs list' takes no more words."),
                          QStringLiteral("'jobs list' shows the ids."));
    const auto workspace = openWorkspace(arguments);
    if (!workspace.ok())
        return failWith(workspace.error());
    const bool json = arguments.has("json");
    const QString id = QString::fromUtf8(arguments.words().value(1));
    return verb == "list"   ? list(**workspace, json)
           : verb == "show" ? show(**workspace, id, json)
                            : wait(**workspace, id, json);
}

} // namespace

Command jobsCommand()
{
    return {"jobs",
            "[list | show JOB | wait JOB]",
            "Lists jobs, shows one, or waits for its end.",
            {{"workspace", "DIR", "workspace folder"}, {"json", nullptr, "print one JSON object a line"}},
            0,
            2,
            run};
}

} // namespace tw::cli

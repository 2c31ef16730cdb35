// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/jobs/jobfilter.h"

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

/// Nothing when a word is no state: said already.
std::optional<JobFilter> filterOf(const Arguments &arguments)
{
    JobFilter filter{arguments.text("experiment"), {}, {}};
    for (const QByteArray &words : arguments.all("search"))
        filter.search += QString::fromUtf8(words) + u' ';
    for (const QByteArray &given : arguments.all("state")) {
        const auto state = jobStateFromText(QString::fromUtf8(given));
        if (!state) {
            usageError(QStringLiteral("'%1' is no state of a job.").arg(QString::fromUtf8(given)),
                       QStringLiteral("The states are %1.").arg(jobStateIds().join(QStringLiteral(", "))));
            return std::nullopt;
        }
        filter.states.append(*state);
    }
    return filter;
}

QByteArray tagsText(const JobRecord &job)
{
    QByteArray text;
    for (auto tag = job.tags.begin(); tag != job.tags.end(); ++tag)
        text += (text.isEmpty() ? "  [" : ", ") + tag.key().toUtf8() + '=' + tag.value().toUtf8();
    return text.isEmpty() ? text : text + ']';
}

int list(const Workspace *workspace, const Arguments &arguments)
{
    const auto filter = filterOf(arguments);
    if (!filter)
        return exitUsage;
    if (workspace == nullptr)
        return exitDone;
    const auto jobs = workspace->jobs();
    if (!jobs.ok())
        return failWith(jobs.error());
    for (const JobRecord &job : *jobs) {
        if (!matches(job, *filter))
            continue;
        writeOut(arguments.has("json")
                     ? jsonCompact(jobJson(job)) + '\n'
                     : job.id.toUtf8() + "  " + jobStateId(job.state).toUtf8().leftJustified(15) + ' '
                           + timeText(job.createdMs).toUtf8() + "  " + job.experiment.toUtf8()
                           + (job.name.isEmpty() ? "" : " / " + job.name.toUtf8()) + tagsText(job) + '\n');
    }
    return exitDone;
}

void showNode(const NodeRecord &node)
{
    QByteArray state = nodeStateId(node.state).toUtf8();
    if (!node.reusedFrom.isEmpty())
        state += " from job " + node.reusedFrom.toUtf8();
    if (!node.stopped.isEmpty())
        state += " (stopped early: " + node.stopped.toUtf8() + ')';
    writeOut("  " + node.id.toUtf8().leftJustified(20) + state + '\n');
    for (auto it = node.results.begin(); it != node.results.end(); ++it)
        writeOut("      " + it.key().toUtf8() + ": " + jsonCompact(it.value()) + '\n');
    if (node.error)
        writeOut("      " + node.error->toString().toUtf8() + '\n');
}

void showText(const JobRecord &job)
{
    writeOut("Job " + job.id.toUtf8() + ": " + jobStateId(job.state).toUtf8() + "\n  created "
             + timeText(job.createdMs).toUtf8() + " UTC, finished " + timeText(job.finishedMs).toUtf8() + '\n');
    for (const auto &[title, text] : {std::pair("experiment", job.experiment), std::pair("name", job.name),
                                      std::pair("description", job.description)})
        if (!text.isEmpty())
            writeOut("  " + QByteArray(title) + ": " + text.toUtf8() + '\n');
    if (!job.tags.isEmpty())
        writeOut("  tags:" + tagsText(job).mid(1) + '\n');
    for (const NodeRecord &node : job.nodes)
        showNode(node);
    if (job.error && job.error->nodeId.isEmpty())
        writeOut("  " + job.error->toString().toUtf8() + '\n');
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

int remove(Workspace &workspace, const QString &id)
{
    if (const auto deleted = workspace.deleteJob(id); !deleted.ok())
        return failWith(deleted.error());
    writeOut("Deleted job " + id.toUtf8() + '\n');
    return exitDone;
}

int run(const Arguments &arguments)
{
    const QByteArray verb = arguments.words().value(0, "list");
    const bool needsJob = verb == "show" || verb == "wait" || verb == "delete";
    if (verb != "list" && !needsJob)
        return usageError(QStringLiteral("'jobs' knows no '%1'.").arg(QString::fromUtf8(verb)),
                          QStringLiteral("It knows list, show JOB, wait JOB and delete JOB."));
    if (needsJob != (arguments.words().size() == 2))
        return usageError(needsJob ? QStringLiteral("'jobs %1' needs the id of a job.").arg(QString::fromUtf8(verb))
                                   : QStringLiteral("'jobs list' takes no more words."),
                          QStringLiteral("'jobs list' shows the ids."));
    const auto workspace = findWorkspace(arguments);
    if (!workspace.ok())
        return failWith(workspace.error());
    if (verb == "list")
        return list(workspace->get(), arguments);
    if (*workspace == nullptr)
        return failWith(noWorkspace(arguments));
    const bool json = arguments.has("json");
    const QString id = QString::fromUtf8(arguments.words().value(1));
    return verb == "show"   ? show(**workspace, id, json)
           : verb == "wait" ? wait(**workspace, id, json)
                            : remove(**workspace, id);
}

} // namespace

Command jobsCommand()
{
    return {"jobs",
            "[list | show JOB | wait JOB | delete JOB]",
            "Lists jobs, shows one, waits for its end, or deletes it.",
            {{"experiment", "NAME", "list only jobs of this experiment"},
             {"search", "TEXT", "list only jobs with these words in id, name, description or a tag"},
             {"state", "STATE", "list only jobs in this state; may be repeated"},
             {"workspace", "DIR", "workspace folder"},
             {"json", nullptr, "print one JSON object a line"}},
            0,
            2,
            run};
}

} // namespace tw::cli

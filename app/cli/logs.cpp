// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"

#include <QFile>
#include <QMap>
#include <QThread>

namespace tw::cli {

namespace {

constexpr unsigned long pollMs = 200;

fs::path logFile(const Workspace &workspace, const QString &job, const QString &node, std::optional<qint64> rank)
{
    const fs::path folder = workspace.nodeFolder(job, node) / "logs";
    return rank ? folder / ("70_driver_log_" + std::to_string(*rank) + ".txt") : folder / "std_log.txt";
}

/// Prints what stands beyond `offset`; whole lines only while more may come.
void printRest(const fs::path &file, const QByteArray &prefix, qint64 &offset, bool finished)
{
    QFile in(QFile::decodeName(bytesFromPath(file)));
    if (!in.open(QIODevice::ReadOnly) || !in.seek(offset))
        return;
    while (!in.atEnd()) {
        QByteArray line = in.readLine();
        if (!line.endsWith('\n') && !finished)
            return;
        offset += line.size();
        writeOut(prefix + line + (line.endsWith('\n') ? "" : "\n"));
    }
}

int run(const Arguments &arguments)
{
    const QString id = QString::fromUtf8(arguments.words().first());
    std::optional<qint64> rank;
    if (arguments.has("rank")) {
        rank = integerOption(arguments, "rank", 0, 0, 1'000'000);
        if (!rank)
            return exitUsage;
    }
    const auto workspace = openWorkspace(arguments);
    if (!workspace.ok()) {
        printError(workspace.error());
        return exitFailed;
    }
    QMap<QString, qint64> offsets;
    for (;;) {
        const auto job = (*workspace)->job(id);
        if (!job.ok()) {
            printError(job.error());
            return exitFailed;
        }
        const bool finished = isFinal(job->state) || !arguments.has("follow");
        bool known = !arguments.has("node");
        for (const NodeRecord &node : job->nodes) {
            if (arguments.has("node") && node.id != arguments.text("node"))
                continue;
            known = true;
            const QByteArray prefix = arguments.has("node") ? QByteArray() : node.id.toUtf8() + ": ";
            printRest(logFile(**workspace, id, node.id, rank), prefix, offsets[node.id], finished);
        }
        if (!known)
            return usageError(QStringLiteral("The job has no node '%1'.").arg(arguments.text("node")),
                              QStringLiteral("'jobs show %1' lists its nodes.").arg(id));
        if (finished)
            return exitDone;
        QThread::msleep(pollMs);
    }
}

} // namespace

Command logsCommand()
{
    return {"logs",
            "JOB",
            "Prints the log of a job.",
            {{"node", "NODE", "one node only"},
             {"rank", "N", "the training log of process N"},
             {"follow", nullptr, "go on until the job ends"},
             {"workspace", "DIR", "workspace folder"}},
            1,
            1,
            run};
}

} // namespace tw::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"

#include <QThread>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

namespace tw::cli {

namespace {

constexpr unsigned long pollMs = 200;
constexpr char driverPrefix[] = "70_driver_log_";

std::string driverName(qint64 rank)
{
    return driverPrefix + std::to_string(rank) + ".txt";
}

/// Prints logs as they grow, under a heading where several are shown.
class LogPrinter
{
public:
    LogPrinter(const Workspace &workspace, const Arguments &arguments, std::optional<qint64> rank)
        : m_workspace(workspace), m_node(arguments.text("node")), m_oneNode(arguments.has("node")), m_rank(rank)
    {
    }

    bool wants(const NodeRecord &node) const { return !m_oneNode || node.id == m_node; }

    /// What is new of every log; `finished`: also a last line without an end.
    void print(const JobRecord &job, bool finished)
    {
        for (const NodeRecord &node : job.nodes) {
            if (!wants(node))
                continue;
            const fs::path logs = m_workspace.nodeFolder(job.id, node.id) / "logs";
            const QByteArray prefix = m_oneNode ? QByteArray() : node.id.toUtf8() + ": ";
            if (!m_rank)
                printRest(node, logs / "std_log.txt", prefix, finished);
            printRest(node, logs / driverName(m_rank.value_or(0)), prefix, finished);
        }
    }

    bool hasPrinted() const { return !m_offsets.empty(); }

    /// Processes that have a log in the job, of the nodes asked for.
    std::set<qint64> ranks(const JobRecord &job) const
    {
        std::set<qint64> found;
        std::error_code none;
        for (const NodeRecord &node : job.nodes) {
            if (!wants(node))
                continue;
            for (const auto &entry : fs::directory_iterator(m_workspace.nodeFolder(job.id, node.id) / "logs", none)) {
                const QByteArray name = bytesFromPath(entry.path().filename());
                bool isNumber = false;
                const qint64 rank = name.mid(qsizetype(sizeof driverPrefix) - 1).chopped(4).toLongLong(&isNumber);
                if (name.startsWith(driverPrefix) && isNumber)
                    found.insert(rank);
            }
        }
        return found;
    }

private:
    /// Prints what stands beyond what was printed; whole lines only while more may come.
    void printRest(const NodeRecord &node, const fs::path &file, const QByteArray &prefix, bool finished)
    {
        std::ifstream stream(file, std::ios::binary);
        if (!stream)
            return;
        qint64 &offset = m_offsets[file];
        stream.seekg(offset);
        for (std::string line; std::getline(stream, line);) {
            const bool whole = !stream.eof();
            if (!whole && !finished)
                return;
            if (!m_rank && m_heading != file) {
                writeOut((m_heading.empty() ? "==> " : "\n==> ") + node.id.toUtf8() + ": "
                         + bytesFromPath(file.filename()) + " <==\n");
                m_heading = file;
            }
            offset += qint64(line.size()) + (whole ? 1 : 0);
            writeOut(prefix + QByteArray::fromStdString(line) + '\n');
        }
    }

    const Workspace &m_workspace;
    const QString m_node;
    const bool m_oneNode;
    const std::optional<qint64> m_rank;
    std::map<fs::path, qint64> m_offsets; ///< printed so far
    fs::path m_heading;
};

Error noSuchRank(qint64 rank, const std::set<qint64> &known)
{
    QStringList list;
    for (const qint64 one : known)
        list.append(QString::number(one));
    return makeError(errors::NotInRangeValue, QT_TRANSLATE_NOOP("Error", "There is no log of process %1."),
                     {QString::number(rank), list.join(QStringLiteral(", "))},
                     known.empty() ? QT_TRANSLATE_NOOP("Error", "No process has a log there yet: only training nodes "
                                                                "write one.")
                                   : QT_TRANSLATE_NOOP("Error", "Processes with a log: %2."));
}

int failWith(const Error &error)
{
    printError(error);
    return exitFailed;
}

int follow(const Workspace &workspace, const Arguments &arguments, std::optional<qint64> rank)
{
    const QString id = QString::fromUtf8(arguments.words().first());
    LogPrinter printer(workspace, arguments, rank);
    for (;;) {
        const auto job = workspace.job(id);
        if (!job.ok())
            return failWith(job.error());
        if (std::none_of(job->nodes.begin(), job->nodes.end(),
                         [&](const NodeRecord &one) { return printer.wants(one); }))
            return usageError(QStringLiteral("The job has no node '%1'.").arg(arguments.text("node")),
                              QStringLiteral("'jobs show %1' lists its nodes.").arg(id));
        const bool finished = isFinal(job->state) || !arguments.has("follow");
        printer.print(*job, finished);
        if (finished && rank && !printer.hasPrinted())
            return failWith(noSuchRank(*rank, printer.ranks(*job)));
        if (finished || outputFailure() != 0)
            return exitDone;
        QThread::msleep(pollMs);
    }
}

int run(const Arguments &arguments)
{
    std::optional<qint64> rank;
    if (arguments.has("rank")) {
        rank = integerOption(arguments, "rank", 0, 0, 1'000'000);
        if (!rank)
            return exitUsage;
    }
    const auto workspace = findWorkspace(arguments);
    if (!workspace.ok())
        return failWith(workspace.error());
    if (*workspace == nullptr)
        return failWith(noWorkspace(arguments));
    return follow(**workspace, arguments, rank);
}

} // namespace

Command logsCommand()
{
    return {"logs",
            "JOB",
            "Prints the logs of a job: of its nodes and of the first training process.",
            {{"node", "NODE", "one node only"},
             {"rank", "N", "only the training log of process N"},
             {"follow", nullptr, "go on until the job ends"},
             {"workspace", "DIR", "workspace folder"}},
            1,
            1,
            run};
}

} // namespace tw::cli

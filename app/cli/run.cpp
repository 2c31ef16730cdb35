// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/interrupts.h"
#include "app/cli/jobprinter.h"
#include "app/cli/output.h"
#include "core/jobs/jobqueue.h"
#include "core/jobs/outputfolders.h"
#include "core/pipeline/validator.h"
#include "core/train/devices.h"

#include <QCoreApplication>

#include <unistd.h>

namespace tw::cli {

namespace {

/// NAME=VALUE words; nothing when one has no "=".
bool readTags(const Arguments &arguments, JobRequest &request)
{
    for (const QByteArray &tag : arguments.all("tag")) {
        const qsizetype equals = tag.indexOf('=');
        if (equals <= 0) {
            usageError(QStringLiteral("The tag '%1' is not of the form KEY=VALUE.").arg(QString::fromUtf8(tag)), {});
            return false;
        }
        request.tags.insert(QString::fromUtf8(tag.first(equals)), QString::fromUtf8(tag.mid(equals + 1)));
    }
    return true;
}

bool hasOutput(const Pipeline &pipeline, const PortAddress &address)
{
    const PipelineNode *node = pipeline.find(address.node);
    const ComponentType *type = node ? components().find(node->component) : nullptr;
    return type && type->findOutput(address.port);
}

QStringList outputsOf(const Pipeline &pipeline)
{
    QStringList outputs;
    for (const PipelineNode &node : pipeline.nodes)
        if (const ComponentType *type = components().find(node.component))
            for (const PortSpec &port : type->outputs)
                outputs.append(node.id + u'.' + port.id);
    return outputs;
}

bool readExports(const Arguments &arguments, JobRequest &request)
{
    for (const QByteArray &given : arguments.all("export")) {
        const qsizetype equals = given.indexOf('=');
        const QString address = QString::fromUtf8(given.first(std::max<qsizetype>(0, equals)));
        if (equals <= 0 || equals + 1 >= given.size() || !hasOutput(request.pipeline, PortAddress::fromText(address))) {
            usageError(
                QStringLiteral("The export '%1' is not of the form NODE.PORT=DIR with an "
                               "output of the pipeline.")
                    .arg(QString::fromUtf8(given)),
                QStringLiteral("The outputs are %1.").arg(outputsOf(request.pipeline).join(QStringLiteral(", "))));
            return false;
        }
        if (request.exports.contains(address)) {
            usageError(QStringLiteral("The output '%1' is exported twice.").arg(address),
                       QStringLiteral("Export it once and copy the folder."));
            return false;
        }
        std::error_code failed;
        request.exports.insert(address, fs::absolute(pathFromBytes(given.mid(equals + 1)), failed));
    }
    if (const auto possible = checkExportTargets(request.exports); !possible.ok()) {
        printError(possible.error());
        return false;
    }
    return true;
}

JobPrinter::Mode printerMode(const Arguments &arguments)
{
    if (arguments.has("json"))
        return JobPrinter::Mode::Json;
    return isTerminal(STDOUT_FILENO) ? JobPrinter::Mode::Terminal : JobPrinter::Mode::Plain;
}

/// Runs one job in the event loop.
class JobRun : public QObject
{
public:
    JobRun(Workspace &workspace, JobPrinter::Mode mode)
        : m_workspace(workspace), m_printer(mode), m_queue(workspace, components())
    {
        connect(&m_queue, &JobQueue::eventsReady, this, &JobRun::drain);
        connect(&m_queue, &JobQueue::jobFinished, this, &JobRun::onFinished);
        connect(&m_interrupts, &Interrupts::interrupted, this, &JobRun::onInterrupt);
        connect(&m_interrupts, &Interrupts::terminated, this, [this] { cancel(); });
        connect(&m_interrupts, &Interrupts::hungUp, this, [this] {
            if (!m_stopAsked)
                onInterrupt();
        });
    }

    int execute(const JobRequest &request)
    {
        const auto submitted = m_queue.submit(request);
        if (!submitted.ok()) {
            printError(submitted.error());
            return exitFailed;
        }
        m_job = *submitted;
        m_printer.say("Job " + m_job.toUtf8());
        QCoreApplication::exec();
        drain();
        m_printer.tellDropped(m_queue.droppedEvents(), m_workspace.jobFolder(m_job));
        if (m_stopAsked)
            tellKept();
        m_printer.say("Results: " + bytesFromPath(m_workspace.jobFolder(m_job)));
        m_printer.finish();
        if (m_stopAsked)
            return exitCanceled;
        if (m_state == JobState::Completed)
            return exitDone;
        return m_state == JobState::Canceled || m_state == JobState::Interrupted ? exitCanceled : exitFailed;
    }

private:
    void drain()
    {
        for (const JobEvent &event : m_queue.takeEvents()) {
            if (const auto *node = std::get_if<NodeStateEvent>(&event.body);
                node && node->state == NodeState::Completed && node->stopped == u"user")
                m_kept.append(node->node);
            m_printer.print(event);
        }
    }

    void tellKept() const
    {
        writeError(m_kept.isEmpty()
                       ? QByteArray("No part of a training was kept.\n")
                       : "Kept what training had reached: " + m_kept.join(QStringLiteral(", ")).toUtf8() + '\n');
    }

    void onFinished(const QString &job, JobState state)
    {
        if (job != m_job)
            return;
        m_state = state;
        QCoreApplication::quit();
    }

    void onInterrupt()
    {
        if (m_stopAsked)
            return cancel();
        m_stopAsked = true;
        writeError(m_queue.isTraining()
                       ? "Stopping the training to keep what it has reached. Press Ctrl-C again to cancel at once.\n"
                       : "Canceling: nothing is being trained. What is done already stays for the next run.\n");
        m_queue.interrupt(m_job);
    }

    void cancel()
    {
        m_stopAsked = true;
        writeError("Canceling.\n");
        m_queue.cancel(m_job);
    }

    Workspace &m_workspace;
    JobPrinter m_printer;
    Interrupts m_interrupts;
    JobQueue m_queue;
    QString m_job;
    JobState m_state = JobState::NotStarted;
    bool m_stopAsked = false;
    QStringList m_kept; ///< training nodes that were stopped and kept
};

int run(const Arguments &arguments)
{
    openCudaLibrary();
    auto pipeline = loadWithSettings(arguments);
    if (!pipeline)
        return exitUsage;
    const QList<Error> faults = validate(*pipeline, components());
    for (const Error &fault : faults)
        printError(fault);
    if (!faults.isEmpty())
        return exitUsage;
    JobRequest request;
    request.pipeline = *pipeline;
    if (!readTags(arguments, request) || !readExports(arguments, request))
        return exitUsage;
    request.experiment = arguments.text("experiment");
    request.name = arguments.text("name");
    request.description = arguments.text("description");
    request.force = arguments.has("force");
    auto workspace = openWorkspace(arguments);
    if (!workspace.ok()) {
        printError(workspace.error());
        return exitFailed;
    }
    JobRun job(**workspace, printerMode(arguments));
    return job.execute(request);
}

} // namespace

Command runCommand()
{
    return {"run",
            "FILE",
            "Runs a pipeline file.",
            {{"set", "NAME=VALUE", "set NODE.PARAM or a pipeline parameter; may be repeated"},
             {"experiment", "NAME", "experiment that the job belongs to"},
             {"name", "NAME", "name of the job"},
             {"description", "TEXT", "what the job is for"},
             {"tag", "KEY=VALUE", "tag of the job; may be repeated"},
             {"workspace", "DIR", "workspace folder"},
             {"export", "NODE.PORT=DIR", "copy an output there at the end; may be repeated"},
             {"force", nullptr, "run every node, reuse nothing"},
             {"json", nullptr, "print one JSON object a line"}},
            1,
            1,
            run};
}

} // namespace tw::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/pipeline/planner.h"
#include "core/pipeline/validator.h"
#include "core/train/devices.h"

namespace tw::cli {

static int printFaults(const QList<Error> &faults)
{
    for (const Error &fault : faults)
        printError(fault);
    return exitUsage;
}

static int validateFile(const Arguments &arguments)
{
    openCudaLibrary();
    const auto pipeline = loadWithSettings(arguments);
    if (!pipeline)
        return exitUsage;
    if (const QList<Error> faults = validate(*pipeline, components()); !faults.isEmpty())
        return printFaults(faults);
    const auto planned = plan(*pipeline, components());
    if (!planned.ok())
        return printFaults({planned.error()});
    const PreflightOutcome outcome = preflight(**planned, nullptr, false, Workspace::defaultFolder() / "cache");
    for (const PlanNode &node : (*planned)->nodes) {
        const PreflightReply reply = outcome.replies.value(node.id);
        for (const QString &warning : reply.warnings)
            writeError("Warning: " + warning.toUtf8() + " (" + node.id.toUtf8() + ")\n");
        if (!reply.summary.isEmpty())
            writeOut(node.id.toUtf8() + ": " + reply.summary.toUtf8() + '\n');
    }
    if (!outcome.errors.isEmpty())
        return printFaults(outcome.errors);
    writeOut("The pipeline is valid.\n");
    return exitDone;
}

Command validateCommand()
{
    return {"validate",
            "FILE",
            "Checks a pipeline file, its data and its devices without running it.",
            {{"set", "NAME=VALUE", "set NODE.PARAM or a pipeline parameter; may be repeated"}},
            1,
            1,
            validateFile};
}

} // namespace tw::cli

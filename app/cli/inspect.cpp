// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/inspection.h"
#include "app/cli/output.h"

namespace tw::cli {

namespace {

/// One file that cannot be read does not keep the next from being shown.
int run(const Arguments &arguments)
{
    int exit = exitDone;
    const bool several = arguments.words().size() > 1;
    for (const QByteArray &word : arguments.words()) {
        const fs::path path = pathFromBytes(word);
        const auto found = inspectPath(path);
        if (!found.ok()) {
            printError(found.error());
            exit = exitFailed;
            continue;
        }
        const QString name = several ? displayPath(path) : QString();
        if (arguments.has("json"))
            writeOut(inspectionJson(*found, arguments.has("values"), name));
        else
            writeOut((several ? name.toUtf8() + ": " : QByteArray()) + inspectionText(*found));
    }
    return exit;
}

} // namespace

Command inspectCommand()
{
    return {"inspect",
            "MODEL_OR_FILE…",
            "Shows model directories and the tensors of weights files.",
            {{"values", nullptr, "add sum, first and last value (with --json)"}, {"json", nullptr, "print JSON"}},
            1,
            -1,
            run};
}

} // namespace tw::cli

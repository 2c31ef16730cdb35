// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/pipeline/pipelinefile.h"

namespace tw::cli {

QList<Command> allCommands()
{
    return {runCommand(),        validateCommand(), componentsCommand(), describeCommand(), scoreCommand(),
            evaluateCommand(),   newCommand(),      jobsCommand(),       logsCommand(),     devicesCommand(),
            inspectCommand(),    decodeCommand(),   dataCommand(),       benchCommand(),    explainCommand(),
            completionCommand(), helpCommand()};
}

const ComponentRegistry &components()
{
    static const auto registry = [] {
        auto made = std::make_unique<ComponentRegistry>();
        registerAllComponents(*made);
        return made;
    }();
    return *registry;
}

fs::path workspaceFolder(const Arguments &arguments)
{
    return arguments.has("workspace") ? arguments.path("workspace") : Workspace::defaultFolder();
}

Result<std::unique_ptr<Workspace>> openWorkspace(const Arguments &arguments)
{
    return Workspace::open(workspaceFolder(arguments));
}

Result<std::unique_ptr<Workspace>> findWorkspace(const Arguments &arguments)
{
    const fs::path folder = workspaceFolder(arguments);
    std::error_code fault;
    const bool isFile = fs::exists(folder, fault) && !fs::is_directory(folder, fault);
    if (!isFile && !Workspace::exists(folder))
        return std::unique_ptr<Workspace>();
    return Workspace::open(folder);
}

Error noWorkspace(const Arguments &arguments)
{
    return makeError(errors::InvalidWorkspace, QT_TRANSLATE_NOOP("Error", "There is no workspace in '%1'."),
                     {displayPath(workspaceFolder(arguments))},
                     QT_TRANSLATE_NOOP("Error", "Name the folder that 'run' was given as --workspace."));
}

std::optional<Pipeline> loadWithSettings(const Arguments &arguments)
{
    auto loaded = loadPipelineFile(pathFromBytes(arguments.words().first()), components());
    if (!loaded.ok()) {
        printError(loaded.error());
        return std::nullopt;
    }
    for (const QString &note : loaded->notes)
        writeError("Note: " + note.toUtf8() + '\n');
    bool ok = true;
    for (const QByteArray &assignment : arguments.all("set")) {
        const auto applied = applySettingBytes(loaded->pipeline, assignment, components());
        if (applied.ok())
            continue;
        printError(applied.error());
        ok = false;
    }
    if (!ok)
        return std::nullopt;
    return loaded->pipeline;
}

} // namespace tw::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments.h"
#include "core/component/componentregistry.h"
#include "core/jobs/workspace.h"
#include "core/pipeline/pipeline.h"

#include <memory>

namespace tw::cli {

// One file per command.
Command runCommand();
Command validateCommand();
Command componentsCommand();
Command describeCommand();
Command scoreCommand();
Command evaluateCommand();
Command newCommand();
Command jobsCommand();
Command logsCommand();
Command devicesCommand();
Command benchCommand();
Command decodeCommand();
Command dataCommand();
Command inspectCommand();
Command explainCommand();
Command completionCommand();
Command helpCommand();

/// Every command, in the order of the help.
QList<Command> allCommands();

/// The registry with all components; made at first use.
const ComponentRegistry &components();
/// --workspace DIR, else the platform's data folder; it need not be there.
fs::path workspaceFolder(const Arguments &arguments);
/// The same, opened; made where there is none.
Result<std::unique_ptr<Workspace>> openWorkspace(const Arguments &arguments);
/// The same for commands that only look: nothing is made, null where there is no workspace yet.
Result<std::unique_ptr<Workspace>> findWorkspace(const Arguments &arguments);
/// InvalidWorkspaceError: what findWorkspace() found nothing for.
Error noWorkspace(const Arguments &arguments);
/// The pipeline of a file with every --set applied; errors are printed. Nothing: exit code 2.
std::optional<Pipeline> loadWithSettings(const Arguments &arguments);

} // namespace tw::cli

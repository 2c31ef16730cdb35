// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments.h"

namespace tw::cli {

/// What `--help` prints: the commands with their summaries.
QByteArray overviewText(const QList<Command> &commands);
/// trainwright-cli.1, made of the declarations of the commands and the pages of the errors.
QByteArray manPage(const QList<Command> &commands);
/// A usage error that names the nearest command, or all.
int noSuchCommand(const QByteArray &given, const QList<Command> &commands);

} // namespace tw::cli

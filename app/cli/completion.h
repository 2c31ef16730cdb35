// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments.h"

namespace tw::cli {

/// What may stand at word `at` (from 0: the command) of the `words` behind the program's name, as the
/// shell has divided them (bash makes words of their own of "="). A candidate that ends in "=" or
/// "." goes on; ":files" and ":folders" stand for the names on the disk. Only those that go with
/// what is typed already; of "a=b" the part behind the last "=".
QByteArrayList completions(const QList<Command> &commands, const QByteArrayList &words, qsizetype at);

/// The script that makes bash ask for completions().
QByteArray bashScript(const QList<Command> &commands);

} // namespace tw::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/help.h"
#include "app/cli/output.h"
#include "core/base/files.h"
#include "core/base/startup.h"
#include "core/jobs/environment.h"
#include "core/train/devices.h"

#include <QCoreApplication>

#include <algorithm>
#include <csignal>

using namespace tw;
using namespace tw::cli;

/// Results that nobody could be given are a failure, whatever was computed.
static int withOutput(int code)
{
    const int failure = outputFailure();
    if (failure == 0)
        return code;
    printError(tw::writeError("standard output", failure));
    return code == exitDone ? exitFailed : code;
}

static int dispatch(const QList<QByteArray> &words)
{
    const QList<Command> commands = allCommands();
    if (words.isEmpty() || words.first() == "--help") {
        writeOut(overviewText(commands));
        return words.isEmpty() ? exitUsage : exitDone;
    }
    if (words.first() == "--version") {
        writeOut("trainwright-cli " TRAINWRIGHT_VERSION "\n");
        return exitDone;
    }
    const auto found =
        std::find_if(commands.begin(), commands.end(), [&](const Command &one) { return words.first() == one.name; });
    if (found != commands.end())
        return found->execute(words.mid(1));
    return noSuchCommand(words.first(), commands);
}

static int runCommand(int argc, char **argv)
{
    // Words are bytes: Qt's arguments would lose what is not UTF-8.
    QList<QByteArray> words;
    for (int i = 1; i < argc; ++i)
        words.append(argv[i]);
    std::signal(SIGPIPE, SIG_IGN);
    int qtArguments = 1;
    QCoreApplication application(qtArguments, argv);
    useCNumbers();
    QCoreApplication::setApplicationName(QStringLiteral("trainwright"));
    QCoreApplication::setApplicationVersion(QStringLiteral(TRAINWRIGHT_VERSION));
    setEnvironmentProvider(describeComputation);
    return withOutput(dispatch(words));
}

int main(int argc, char **argv)
{
    prepareProcess(argv);
    leaveProcess(runCommand(argc, argv));
}

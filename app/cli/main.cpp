// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/nearest.h"
#include "core/base/startup.h"
#include "core/jobs/environment.h"
#include "core/train/devices.h"

#include <QCoreApplication>

#include <algorithm>
#include <csignal>

using namespace tw;
using namespace tw::cli;

static QByteArray overview(const QList<Command> &commands)
{
    QByteArray text = "Usage: trainwright-cli COMMAND [options]\nBuilds, trains and uses image "
                      "classifiers.\n\nCommands:\n";
    for (const Command &command : commands)
        text += "  " + QByteArray(command.name).leftJustified(12) + command.summary + '\n';
    return text + "\nHelp for one command: trainwright-cli COMMAND --help\n";
}

static int dispatch(const QList<QByteArray> &words)
{
    const QList<Command> commands = allCommands();
    if (words.isEmpty() || words.first() == "--help" || words.first() == "help") {
        writeOut(overview(commands));
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
    QStringList names;
    for (const Command &command : commands)
        names.append(QString::fromLatin1(command.name));
    const QString given = QString::fromUtf8(words.first());
    const QString nearest = nearestText(given, names);
    return usageError(QStringLiteral("There is no command '%1'.").arg(given),
                      nearest.isEmpty() ? QStringLiteral("The commands are %1.").arg(names.join(QStringLiteral(", ")))
                                        : QStringLiteral("Did you mean %1?").arg(nearest));
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
    return dispatch(words);
}

int main(int argc, char **argv)
{
    prepareProcess(argv);
    leaveProcess(runCommand(argc, argv));
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/help.h"

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/errorpages.h"
#include "core/base/nearest.h"

#include <algorithm>

namespace tw::cli {

namespace {

/// Text as roff takes it: no line may look like a request, hyphens stay ASCII ones.
QByteArray roff(QByteArray text)
{
    text.replace('\\', "\\e").replace('-', "\\-").replace("…", "...");
    return text.startsWith('.') || text.startsWith('\'') ? "\\&" + text : text;
}

QByteArray commandSection(const Command &command)
{
    QByteArray text = ".SS " + roff(command.name) + '\n';
    text += ".B trainwright\\-cli " + roff(command.name) + '\n';
    if (!command.options.isEmpty())
        text += "[options]\n";
    if (*command.usage)
        text += roff(command.usage) + '\n';
    text += ".PP\n" + roff(command.summary) + '\n';
    for (const Option &option : command.options) {
        text += ".TP\n.B \\-\\-" + roff(option.name);
        if (option.value)
            text += " \\fI" + roff(option.value) + "\\fR";
        text += '\n' + roff(option.help) + '\n';
    }
    return text;
}

QByteArray item(const char *term, const char *text)
{
    return QByteArray(".TP\n.B ") + roff(term) + '\n' + roff(text) + '\n';
}

int help(const Arguments &arguments)
{
    const QList<Command> commands = allCommands();
    if (arguments.has("man")) {
        writeOut(manPage(commands));
        return exitDone;
    }
    if (arguments.words().isEmpty()) {
        writeOut(overviewText(commands));
        return exitDone;
    }
    const QByteArray name = arguments.words().first();
    const auto found =
        std::find_if(commands.begin(), commands.end(), [&](const Command &one) { return name == one.name; });
    if (found == commands.end())
        return noSuchCommand(name, commands);
    writeOut(found->helpText());
    return exitDone;
}

} // namespace

QByteArray overviewText(const QList<Command> &commands)
{
    QByteArray text = "Usage: trainwright-cli COMMAND [options]\nBuilds, trains and uses image "
                      "classifiers.\n\nCommands:\n";
    for (const Command &command : commands)
        text += "  " + QByteArray(command.name).leftJustified(12) + command.summary + '\n';
    return text + "\nHelp for one command: trainwright-cli COMMAND --help\n";
}

QByteArray manPage(const QList<Command> &commands)
{
    QByteArray text = ".TH TRAINWRIGHT\\-CLI 1 \"\" \"Trainwright " TRAINWRIGHT_VERSION "\" \"User commands\"\n"
                      ".SH NAME\ntrainwright\\-cli \\- builds, trains and uses image classifiers\n"
                      ".SH SYNOPSIS\n.B trainwright\\-cli\n.I COMMAND\n[options]\n"
                      ".SH DESCRIPTION\nRuns pipelines as the program\n.B trainwright\ndraws them, and uses the models "
                      "that come of them. An option may stand anywhere after the command; \\-\\- ends the options.\n"
                      ".SH COMMANDS\n";
    for (const Command &command : commands)
        text += commandSection(command);
    text += ".SH EXIT STATUS\n" + item("0", "Done.") + item("1", "Failed; the error stands on standard error.")
            + item("2", "The command line or the pipeline is not valid; nothing was run.")
            + item("130", "Canceled, by Ctrl-C for example.");
    text +=
        ".SH FILES\n" + item("~/.local/share/trainwright", "The workspace where none is given: store, jobs and cache.");
    text += ".SH ERRORS\nErrors are printed as NAME: sentence, with a hint on the next line.\n"
            ".B trainwright\\-cli explain\n.I NAME\nsays more.\n";
    for (const ErrorPage &page : errorPages())
        text += item(page.name.toUtf8().constData(), page.meaning.toUtf8().constData());
    return text + ".SH SEE ALSO\n.BR trainwright (1)\n";
}

int noSuchCommand(const QByteArray &given, const QList<Command> &commands)
{
    QStringList names;
    for (const Command &command : commands)
        names.append(QString::fromUtf8(command.name));
    const QString nearest = nearestText(QString::fromUtf8(given), names);
    return usageError(QStringLiteral("There is no command '%1'.").arg(QString::fromUtf8(given)),
                      nearest.isEmpty() ? QStringLiteral("The commands are %1.").arg(names.join(QStringLiteral(", ")))
                                        : QStringLiteral("Did you mean %1?").arg(nearest));
}

Command helpCommand()
{
    return {"help",
            "[COMMAND]",
            "Shows the commands, or the options of one.",
            {{"man", nullptr, "print the manual page of the program"}},
            0,
            1,
            help};
}

} // namespace tw::cli

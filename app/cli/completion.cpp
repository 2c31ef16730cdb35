// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/completion.h"

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/errorpages.h"
#include "core/jobs/jobfilter.h"
#include "core/pipeline/pipelinefile.h"

#include <algorithm>

namespace tw::cli {

namespace {

/// The command line so far, and what is known of the place that is completed.
struct Typed
{
    const Command *command = nullptr;
    QByteArrayList words; ///< without options, up to the place
    QMap<QByteArray, QByteArray> values;
    const Option *option = nullptr; ///< whose value is typed
    QByteArray current;
};

/// bash divides "a=b" into three words: they are one.
QByteArrayList joined(const QByteArrayList &words, qsizetype at)
{
    QByteArrayList whole;
    bool goesOn = false;
    for (qsizetype i = 0; i <= at; ++i) {
        const QByteArray word = words.value(i);
        const bool isEquals = word == "=" && !whole.isEmpty();
        if (isEquals || goesOn)
            whole.last() += word;
        else
            whole.append(word);
        goesOn = isEquals;
    }
    return whole;
}

Typed read(const QList<Command> &commands, const QByteArrayList &words)
{
    Typed typed;
    const auto command =
        std::find_if(commands.begin(), commands.end(), [&](const Command &one) { return words.first() == one.name; });
    typed.command = command == commands.end() ? nullptr : &*command;
    typed.current = words.last();
    for (qsizetype i = 1; typed.command && i + 1 < words.size(); ++i) {
        typed.option = nullptr;
        if (!words[i].startsWith("--")) {
            typed.words.append(words[i]);
            continue;
        }
        const qsizetype equals = words[i].indexOf('=');
        const QByteArray name = words[i].mid(2, equals < 0 ? -1 : equals - 2);
        const auto &options = typed.command->options;
        const auto option =
            std::find_if(options.begin(), options.end(), [&](const Option &one) { return name == one.name; });
        if (option == options.end() || option->value == nullptr)
            continue;
        if (equals >= 0)
            typed.values[name] = words[i].mid(equals + 1);
        else if (i + 2 < words.size())
            typed.values[name] = words[++i];
        else
            typed.option = &*option;
    }
    return typed;
}

QByteArrayList componentIds()
{
    QByteArrayList ids;
    for (const ComponentType *type : components().all())
        ids.append(type->id.toUtf8());
    return ids;
}

QByteArrayList jobIds(const Typed &typed)
{
    const QByteArray folder = typed.values.value("workspace");
    const fs::path place = folder.isEmpty() ? Workspace::defaultFolder() : pathFromBytes(folder);
    QByteArrayList ids;
    if (!Workspace::exists(place))
        return ids;
    if (const auto workspace = Workspace::open(place); workspace.ok())
        if (const auto jobs = (*workspace)->jobs(); jobs.ok())
            for (const JobRecord &job : *jobs)
                ids.append(job.id.toUtf8());
    return ids;
}

Pipeline pipelineOf(const Typed &typed)
{
    if (typed.words.isEmpty())
        return {};
    const auto loaded = loadPipelineFile(pathFromText(QString::fromUtf8(typed.words.first())), components());
    return loaded.ok() ? loaded->pipeline : Pipeline();
}

/// The choices of a parameter, behind "node.parameter=" or "parameter=".
QByteArrayList settingValues(const Pipeline &pipeline, const QByteArray &name)
{
    PortAddress target = PortAddress::fromText(QString::fromUtf8(name));
    for (const PipelineParameter &parameter : pipeline.parameters)
        if (parameter.id.toUtf8() == name && !parameter.targets.isEmpty())
            target = parameter.targets.first();
    const PipelineNode *node = pipeline.find(target.node);
    const ComponentType *type = node ? components().find(node->component) : nullptr;
    const ParameterSpec *spec = type ? type->schema.find(target.port) : nullptr;
    if (spec == nullptr)
        return {};
    if (spec->kind == ParameterKind::Path)
        return {":files"};
    if (spec->kind == ParameterKind::Bool)
        return {name + "=true", name + "=false"};
    QByteArrayList values;
    for (const ParameterChoice &choice : spec->machineChoices ? spec->machineChoices() : spec->choices)
        values.append(name + '=' + choice.id.toUtf8());
    return values;
}

QByteArrayList settings(const Typed &typed)
{
    const Pipeline pipeline = pipelineOf(typed);
    if (const qsizetype equals = typed.current.indexOf('='); equals >= 0)
        return settingValues(pipeline, typed.current.first(equals));
    QByteArrayList names;
    for (const PipelineParameter &parameter : pipeline.parameters)
        names.append(parameter.id.toUtf8() + '=');
    for (const PipelineNode &node : pipeline.nodes)
        if (const ComponentType *type = components().find(node.component))
            for (const ParameterSpec &spec : type->schema.specs())
                names.append((node.id + u'.' + spec.id).toUtf8() + '=');
    return names;
}

QByteArrayList exports(const Typed &typed)
{
    if (typed.current.contains('='))
        return {":folders"};
    QByteArrayList names;
    const Pipeline pipeline = pipelineOf(typed);
    for (const PipelineNode &node : pipeline.nodes)
        if (const ComponentType *type = components().find(node.component))
            for (const PortSpec &port : type->outputs)
                names.append((node.id + u'.' + port.id).toUtf8() + '=');
    return names;
}

/// What a word of a usage line or the name of an option's value stands for.
QByteArrayList meaningOf(const QByteArray &word, const Typed &typed, const QList<Command> &commands)
{
    if (word == "NAME=VALUE")
        return settings(typed);
    if (word == "NODE.PORT=DIR")
        return exports(typed);
    if (word == "COMPONENT")
        return componentIds();
    if (word == "JOB")
        return jobIds(typed);
    QByteArrayList found;
    if (word == "ERROR_NAME")
        for (const ErrorPage &page : errorPages())
            found.append(page.name.toUtf8());
    else if (word == "STATE")
        for (const QString &state : jobStateIds())
            found.append(state.toUtf8());
    else if (word == "COMMAND")
        for (const Command &command : commands)
            found.append(command.name);
    else if (word == "DIR" || word.endsWith("_DIR"))
        found.append(":folders");
    else if (!word.isEmpty() && word == word.toUpper() && word != "N" && word != "S" && word != "NAME" && word != "TEXT"
             && word != "MODEL")
        found.append(":files");
    else if (word == word.toLower())
        found.append(word); // a word to be typed as it stands
    return found;
}

/// The words of the usage line that may stand at the place: "[list | show JOB]" has two ways.
QByteArrayList fromUsage(const Typed &typed, const QList<Command> &commands)
{
    QByteArrayList found;
    QByteArray usage = typed.command->usage;
    usage.replace('[', "").replace(']', "");
    for (const QByteArray &way : usage.split('|')) {
        QByteArrayList words = way.simplified().split(' ');
        if (words.last().endsWith("…")) // repeated
            while (words.size() <= typed.words.size() + 1)
                words.append(words.last());
        bool fits = typed.words.size() < words.size();
        for (qsizetype i = 0; fits && i < typed.words.size(); ++i)
            fits = words[i] != words[i].toLower() || words[i] == typed.words[i];
        if (fits)
            found += meaningOf(QByteArray(words[typed.words.size()]).replace("…", ""), typed, commands);
    }
    return found;
}

} // namespace

QByteArrayList completions(const QList<Command> &commands, const QByteArrayList &given, qsizetype at)
{
    const QByteArrayList words = joined(given, at);
    const Typed typed = read(commands, words);
    QByteArrayList found;
    if (words.size() <= 1)
        found = meaningOf("COMMAND", typed, commands);
    else if (typed.option)
        found = meaningOf(typed.option->value, typed, commands);
    else if (typed.command && typed.current.startsWith('-'))
        for (const Option &option : typed.command->options)
            found.append(QByteArray("--") + option.name);
    else if (typed.command)
        found = fromUsage(typed, commands);
    QByteArrayList fitting;
    const qsizetype kept = typed.current.lastIndexOf('=') + 1;
    for (const QByteArray &one : found)
        if (one.startsWith(':'))
            fitting.append(one);
        else if (one.startsWith(typed.current) && !fitting.contains(one.mid(kept)))
            fitting.append(one.mid(kept));
    return fitting;
}

QByteArray bashScript(const QList<Command> &commands)
{
    QByteArray names, options;
    for (const Command &command : commands) {
        names += (names.isEmpty() ? "" : " ") + QByteArray(command.name);
        options += QByteArray("            ") + command.name + ") words=\"--help";
        for (const Option &option : command.options)
            options += QByteArray(" --") + option.name;
        options += "\" ;;\n";
    }
    return R"SH(# Completion of trainwright-cli for bash; made by: trainwright-cli completion bash
_trainwright_cli() {
    local current="${COMP_WORDS[COMP_CWORD]}" words="" line
    COMPREPLY=()
    [[ $current == "=" ]] && current=""
    if (( COMP_CWORD == 1 )); then
        mapfile -t COMPREPLY < <(compgen -W ")SH"
           + names + R"SH(" -- "$current")
        return
    fi
    if [[ $current == -* ]]; then
        case "${COMP_WORDS[1]}" in
)SH" + options
           + R"SH(        esac
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        return
    fi
    while IFS= read -r line; do
        case "$line" in
            :files) compopt -o filenames 2>/dev/null
                mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current") ;;
            :folders) compopt -o filenames 2>/dev/null
                mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$current") ;;
            *=) compopt -o nospace 2>/dev/null
                COMPREPLY+=("$line") ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done < <("${COMP_WORDS[0]}" completion --at "$((COMP_CWORD - 1))" words -- "${COMP_WORDS[@]:1}" 2>/dev/null)
}
complete -F _trainwright_cli trainwright-cli
)SH";
}

static int complete(const Arguments &arguments)
{
    const QByteArray what = arguments.words().first();
    if (what == "bash" && arguments.words().size() == 1) {
        writeOut(bashScript(allCommands()));
        return exitDone;
    }
    if (what != "words")
        return usageError(QStringLiteral("'completion' knows no '%1'.").arg(QString::fromUtf8(what)),
                          QStringLiteral("It knows bash."));
    const auto at = integerOption(arguments, "at", 0, 0, 100'000);
    if (!at)
        return exitUsage;
    for (const QByteArray &one : completions(allCommands(), arguments.words().mid(1), *at))
        writeOut(one + '\n');
    return exitDone;
}

Command completionCommand()
{
    return {"completion",
            "bash | words WORD…",
            "Prints the script that completes this program's words in a shell, or asks as it does.",
            {{"at", "N", "with words: the one to complete, from 0"}},
            1,
            -1,
            complete};
}

} // namespace tw::cli

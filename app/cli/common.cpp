// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/pipeline/pipelinefile.h"

#include <QStringDecoder>

namespace tw::cli {

QList<Command> allCommands()
{
    return {runCommand(),      validateCommand(), componentsCommand(), describeCommand(), scoreCommand(),
            evaluateCommand(), newCommand(),      jobsCommand(),       logsCommand(),     devicesCommand(),
            inspectCommand(),  decodeCommand(),   dataCommand(),       benchCommand()};
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

Result<std::unique_ptr<Workspace>> openWorkspace(const Arguments &arguments)
{
    return Workspace::open(arguments.has("workspace") ? arguments.path("workspace") : Workspace::defaultFolder());
}

static bool isUtf8(const QByteArray &bytes)
{
    QStringDecoder decoder(QStringDecoder::Utf8);
    [[maybe_unused]] const QString text = decoder.decode(bytes);
    return !decoder.hasError();
}

/// A path that is not UTF-8 cannot pass through text: it is set on the node as bytes.
static Result<void> applyBytes(Pipeline &pipeline, const QByteArray &assignment)
{
    const qsizetype equals = assignment.indexOf('=');
    const auto target = PortAddress::fromText(QString::fromUtf8(assignment.first(std::max<qsizetype>(0, equals))));
    PipelineNode *node = pipeline.find(target.node);
    const ComponentType *type = node ? components().find(node->component) : nullptr;
    const ParameterSpec *spec = type ? type->schema.find(target.port) : nullptr;
    if (!spec || spec->kind != ParameterKind::Path)
        return makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "The setting '%1' is not UTF-8 text."),
                         {QString::fromUtf8(assignment)},
                         QT_TRANSLATE_NOOP("Error", "Only the value of a path may hold other bytes."));
    node->parameters.set(target.port, assignment.mid(equals + 1));
    return {};
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
        const auto applied = isUtf8(assignment)
                                 ? applySetting(loaded->pipeline, QString::fromUtf8(assignment), components())
                                 : applyBytes(loaded->pipeline, assignment);
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

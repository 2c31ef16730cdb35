// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/describe.h"
#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/pipeline/pipelineparameters.h"

#include <QJsonArray>

namespace tw::cli {

static QJsonArray pipelineParametersJson(const Pipeline &pipeline)
{
    QJsonArray list;
    for (const PipelineParameterFacts &facts : describePipelineParameters(pipeline, components())) {
        QJsonArray targets;
        for (const BoundParameter &one : facts.bound)
            targets.append(QJsonObject{{QStringLiteral("node"), one.target.node},
                                       {QStringLiteral("parameter"), one.target.port},
                                       {QStringLiteral("value"), one.spec->toJson(one.value)}});
        QJsonObject json{{QStringLiteral("id"), facts.id},
                         {QStringLiteral("label"), facts.label},
                         {QStringLiteral("range"), facts.rangeText()},
                         {QStringLiteral("targets"), targets}};
        if (!facts.bound.isEmpty() && !facts.differs)
            json.insert(QStringLiteral("value"), facts.bound.first().spec->toJson(facts.bound.first().value));
        list.append(json);
    }
    return list;
}

static QByteArray valuesText(const PipelineParameterFacts &facts)
{
    QByteArray text;
    for (const BoundParameter &one : facts.bound) {
        text += (text.isEmpty() ? "      sets " : ", ") + one.target.toText().toUtf8();
        if (facts.differs)
            text += " (now " + one.spec->toText(one.value).toUtf8() + ')';
    }
    return text + '\n';
}

static void writeAsText(const Pipeline &pipeline)
{
    writeOut("Pipeline " + pipeline.name.toUtf8() + "\n\nParameters (--set NAME=VALUE):\n");
    for (const PipelineParameterFacts &facts : describePipelineParameters(pipeline, components())) {
        const QByteArray value = facts.differs || facts.bound.isEmpty()
                                     ? QByteArray("different values")
                                     : facts.bound.first().spec->toText(facts.bound.first().value).toUtf8();
        writeOut("  " + facts.id.toUtf8() + "  " + facts.label.toUtf8() + "\n      " + facts.rangeText().toUtf8()
                 + "; now: " + (value.isEmpty() ? "empty" : value) + '\n' + valuesText(facts));
    }
    writeOut(pipeline.parameters.isEmpty() ? "  none\n\nNodes and outputs:\n" : "\nNodes and outputs:\n");
    for (const PipelineNode &node : pipeline.nodes) {
        const ComponentType *type = components().find(node.component);
        writeOut("  " + node.id.toUtf8() + "  " + node.component.toUtf8() + '\n');
        for (const PortSpec &port : type ? type->outputs : QList<PortSpec>())
            writeOut("      " + node.id.toUtf8() + '.' + port.id.toUtf8() + ": " + dataTypeName(port.type).toUtf8()
                     + '\n');
    }
}

int describePipeline(const Arguments &arguments)
{
    const auto pipeline = loadWithSettings(arguments);
    if (!pipeline)
        return exitUsage;
    if (arguments.has("json")) {
        QJsonArray outputs;
        for (const PipelineNode &node : pipeline->nodes)
            if (const ComponentType *type = components().find(node.component))
                for (const PortSpec &port : type->outputs)
                    outputs.append(node.id + u'.' + port.id);
        writeOut(jsonCompact(QJsonObject{{QStringLiteral("name"), pipeline->name},
                                         {QStringLiteral("parameters"), pipelineParametersJson(*pipeline)},
                                         {QStringLiteral("outputs"), outputs}})
                 + '\n');
        return exitDone;
    }
    writeAsText(*pipeline);
    return exitDone;
}

} // namespace tw::cli

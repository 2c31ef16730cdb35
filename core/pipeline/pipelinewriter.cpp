// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/pipeline/pipelinefile.h"
#include "core/pipeline/pipelineparameters.h"

namespace tw {

namespace {

enum class Values { Stored, Effective };

QByteArray member(const char *key, const QByteArray &value)
{
    return '"' + QByteArray(key) + "\": " + value;
}

QByteArray object(const QByteArrayList &members)
{
    return '{' + members.join(", ") + '}';
}

/// The keys of `unknown`, to go behind the known ones.
QByteArrayList unknownMembers(const QJsonObject &unknown)
{
    QByteArrayList members;
    for (auto it = unknown.begin(); it != unknown.end(); ++it)
        members.append(jsonString(it.key()) + ": " + jsonCompact(it.value()));
    return members;
}

/// Declared parameters in their order, then others by name.
QByteArray parametersText(const PipelineNode &node, const ComponentType *type, Values which)
{
    if (type == nullptr)
        return object(unknownMembers(node.placeholderParameters));
    QByteArrayList members;
    const ParameterValues effective = type->schema.effective(node.parameters);
    for (const ParameterSpec &spec : type->schema.specs()) {
        const QVariant value = effective.value(spec.id);
        if (which == Values::Stored && (!node.parameters.contains(spec.id) || value == spec.defaultValue))
            continue;
        members.append(jsonString(spec.id) + ": " + jsonCompact(spec.toJson(value)));
    }
    for (const QString &id : node.parameters.ids()) {
        if (type->schema.find(id) == nullptr)
            members.append(jsonString(id) + ": " + jsonCompact(QJsonValue::fromVariant(node.parameters.value(id))));
    }
    return object(members);
}

QByteArray nodeText(const PipelineNode &node, const ComponentRegistry &registry, Values which)
{
    QByteArrayList members{
        member("id", jsonString(node.id)), member("component", jsonString(node.component)),
        member("component_version", QByteArray::number(node.componentVersion)),
        member("parameters", parametersText(node, registry.find(node.component), which)),
        member("position", '[' + jsonNumber(node.position.x()) + ", " + jsonNumber(node.position.y()) + ']')};
    if (!node.comment.isEmpty())
        members.append(member("comment", jsonString(node.comment)));
    return object(members + unknownMembers(node.unknown));
}

QByteArray connectionText(const PipelineConnection &connection)
{
    return object(QByteArrayList{member("from", jsonString(connection.from.toText())),
                                 member("to", jsonString(connection.to.toText()))}
                  + unknownMembers(connection.unknown));
}

QByteArray parameterText(const PipelineParameter &parameter)
{
    QByteArrayList targets;
    for (const PortAddress &target : parameter.targets)
        targets.append(jsonString(target.toText()));
    return object(QByteArrayList{member("id", jsonString(parameter.id)), member("label", jsonString(parameter.label)),
                                 member("targets", '[' + targets.join(", ") + ']')}
                  + unknownMembers(parameter.unknown));
}

/// With the value that ran; reading takes the values from the nodes.
QByteArray effectiveParameterText(const PipelineParameter &parameter, const PipelineParameterFacts &facts)
{
    QByteArray text = parameterText(parameter);
    if (!facts.bound.isEmpty() && !facts.differs)
        text.insert(text.size() - 1,
                    ", " + member("value", jsonCompact(facts.bound.first().spec->toJson(facts.bound.first().value))));
    return text;
}

QByteArray lines(const QByteArrayList &items)
{
    return items.isEmpty() ? QByteArrayLiteral("[]") : "[\n    " + items.join(",\n    ") + "\n  ]";
}

QByteArray pipelineText(const Pipeline &pipeline, const ComponentRegistry &registry, Values which)
{
    QByteArrayList parameters, nodes, connections;
    const auto facts = describePipelineParameters(pipeline, registry);
    for (qsizetype i = 0; i < pipeline.parameters.size(); ++i)
        parameters.append(which == Values::Effective ? effectiveParameterText(pipeline.parameters[i], facts[i])
                                                     : parameterText(pipeline.parameters[i]));
    for (const PipelineNode &node : pipeline.nodes)
        nodes.append(nodeText(node, registry, which));
    for (const PipelineConnection &connection : pipeline.connections)
        connections.append(connectionText(connection));
    const QByteArrayList members = QByteArrayList{member("format", "\"trainwright-pipeline\""),
                                                  member("version", QByteArray::number(pipelineFileVersion)),
                                                  member("name", jsonString(pipeline.name)),
                                                  member("parameters", lines(parameters)),
                                                  member("nodes", lines(nodes)),
                                                  member("connections", lines(connections))}
                                   + unknownMembers(pipeline.unknown);
    return "{\n  " + members.join(",\n  ") + "\n}\n";
}

} // namespace

QByteArray writePipeline(const Pipeline &pipeline, const ComponentRegistry &registry)
{
    return pipelineText(pipeline, registry, Values::Stored);
}

QByteArray writeEffectivePipeline(const Pipeline &pipeline, const ComponentRegistry &registry)
{
    return pipelineText(pipeline, registry, Values::Effective);
}

Result<void> savePipelineFile(const fs::path &file, const Pipeline &pipeline, const ComponentRegistry &registry)
{
    return writeFileAtomically(file, writePipeline(pipeline, registry));
}

} // namespace tw

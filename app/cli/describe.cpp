// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/describe.h"

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/base/nearest.h"

#include <QJsonArray>

#include <algorithm>

namespace tw::cli {

namespace {

QJsonArray portsJson(const QList<PortSpec> &ports)
{
    QJsonArray list;
    for (const PortSpec &port : ports)
        list.append(QJsonObject{{QStringLiteral("id"), port.id},
                                {QStringLiteral("label"), port.label},
                                {QStringLiteral("type"), dataTypeName(port.type)},
                                {QStringLiteral("optional"), port.optional}});
    return list;
}

const char *kindName(ParameterKind kind)
{
    switch (kind) {
    case ParameterKind::Int:
        return "int";
    case ParameterKind::Float:
        return "float";
    case ParameterKind::Bool:
        return "bool";
    case ParameterKind::Choice:
        return "choice";
    case ParameterKind::Text:
        return "text";
    case ParameterKind::Path:
        return "path";
    case ParameterKind::IntList:
        return "int_list";
    case ParameterKind::FloatRange:
        return "float_range";
    }
    return "text";
}

QList<ParameterChoice> choicesOf(const ParameterSpec &spec)
{
    return spec.machineChoices ? spec.machineChoices() : spec.choices;
}

QJsonObject parameterJson(const ParameterSpec &spec)
{
    QJsonObject json{{QStringLiteral("id"), spec.id},
                     {QStringLiteral("kind"), QLatin1String(kindName(spec.kind))},
                     {QStringLiteral("label"), spec.label},
                     {QStringLiteral("help"), spec.help},
                     {QStringLiteral("range"), spec.rangeText()},
                     {QStringLiteral("default"), spec.toJson(spec.defaultValue)},
                     {QStringLiteral("required"), spec.required},
                     {QStringLiteral("automatic"), spec.automatic},
                     {QStringLiteral("advanced"), spec.advanced},
                     {QStringLiteral("affects_result"), spec.affectsResult}};
    if (!spec.unit.isEmpty())
        json.insert(QStringLiteral("unit"), spec.unit);
    QJsonArray choices;
    for (const ParameterChoice &choice : choicesOf(spec))
        choices.append(choice.id);
    if (!choices.isEmpty())
        json.insert(QStringLiteral("choices"), choices);
    if (!spec.visibleWhenId.isEmpty())
        json.insert(QStringLiteral("visible_when"),
                    QJsonObject{{spec.visibleWhenId, QJsonArray::fromStringList(spec.visibleWhenValues)}});
    return json;
}

QString defaultText(const ParameterSpec &spec)
{
    if (spec.required)
        return QStringLiteral("required");
    if (!spec.defaultValue.isValid())
        return spec.automaticLabel.isEmpty() ? QStringLiteral("empty") : spec.automaticLabel;
    const QString text = spec.toText(spec.defaultValue);
    return text.isEmpty() ? QStringLiteral("empty") : text;
}

QString shownWhen(const ParameterSpec &spec)
{
    return spec.visibleWhenId.isEmpty() ? QString() : spec.visibleWhenId + u'=' + spec.visibleWhenValues.join(u'|');
}

QByteArray portLines(const char *title, const QList<PortSpec> &ports)
{
    QByteArray text;
    for (const PortSpec &port : ports)
        text += "  " + QByteArray(title) + ' ' + port.id.toUtf8() + ": " + dataTypeName(port.type).toUtf8()
                + (port.optional ? " (optional)" : "") + '\n';
    return text;
}

int noSuchComponent(const Arguments &arguments)
{
    QStringList ids;
    for (const ComponentType *type : components().all())
        ids.append(type->id);
    if (arguments.words().isEmpty())
        return usageError(QStringLiteral("'describe' needs a component, a pipeline file or --all."),
                          QStringLiteral("The components are %1.").arg(ids.join(QStringLiteral(", "))));
    QString given;
    for (const QByteArray &word : arguments.words())
        if (given.isEmpty() && !ids.contains(QString::fromUtf8(word)))
            given = QString::fromUtf8(word);
    const QString nearest = nearestText(given, ids);
    return usageError(QStringLiteral("There is no component '%1'.").arg(given),
                      nearest.isEmpty() ? QStringLiteral("The components are %1.").arg(ids.join(QStringLiteral(", ")))
                                        : QStringLiteral("Did you mean %1?").arg(nearest));
}

int describe(const Arguments &arguments)
{
    if (arguments.has("models"))
        return describeModels(arguments);
    if (arguments.words().size() == 1 && arguments.words().first().endsWith(".json"))
        return describePipeline(arguments);
    QList<const ComponentType *> types;
    for (const ComponentType *type : components().all())
        if (arguments.has("all") || arguments.words().contains(type->id.toUtf8()))
            types.append(type);
    const auto isUnknown = [](const QByteArray &id) { return components().find(QString::fromUtf8(id)) == nullptr; };
    if (types.isEmpty() || std::any_of(arguments.words().begin(), arguments.words().end(), isUnknown))
        return noSuchComponent(arguments);
    if (arguments.has("markdown"))
        writeOut("# Components\n\n");
    for (const ComponentType *type : types)
        writeOut(arguments.has("json")       ? jsonCompact(describeAsJson(*type)) + '\n'
                 : arguments.has("markdown") ? describeAsMarkdown(*type)
                                             : describeAsText(*type));
    return exitDone;
}

} // namespace

QJsonObject describeAsJson(const ComponentType &type)
{
    QJsonArray parameters;
    for (const ParameterSpec &spec : type.schema.specs())
        parameters.append(parameterJson(spec));
    return {{QStringLiteral("id"), type.id},
            {QStringLiteral("version"), type.version},
            {QStringLiteral("name"), type.displayName},
            {QStringLiteral("category"), type.category},
            {QStringLiteral("description"), type.description},
            {QStringLiteral("inputs"), portsJson(type.inputs)},
            {QStringLiteral("outputs"), portsJson(type.outputs)},
            {QStringLiteral("parameters"), parameters}};
}

QByteArray describeAsText(const ComponentType &type)
{
    QByteArray text = type.displayName.toUtf8() + " (" + type.id.toUtf8() + ", version "
                      + QByteArray::number(type.version) + ")\n" + type.description.toUtf8() + '\n';
    text += portLines("in ", type.inputs) + portLines("out", type.outputs);
    for (const ParameterSpec &spec : type.schema.specs()) {
        text += "\n  " + spec.id.toUtf8() + "  " + spec.label.toUtf8() + (spec.advanced ? "  [advanced]" : "") + '\n';
        text += "      " + spec.rangeText().toUtf8() + (spec.unit.isEmpty() ? "" : ", " + spec.unit.toUtf8())
                + "; default: " + defaultText(spec).toUtf8() + '\n';
        if (const QString when = shownWhen(spec); !when.isEmpty())
            text += "      when " + when.toUtf8() + '\n';
        text += "      " + spec.help.toUtf8() + '\n';
    }
    return text;
}

QByteArray describeAsMarkdown(const ComponentType &type)
{
    QByteArray text = "## " + type.displayName.toUtf8() + "\n\n`" + type.id.toUtf8() + "`, " + type.category.toUtf8()
                      + ". " + type.description.toUtf8() + "\n\n";
    for (const PortSpec &port : type.inputs)
        text += "- In `" + port.id.toUtf8() + "`: " + dataTypeName(port.type).toUtf8()
                + (port.optional ? " (optional)" : "") + '\n';
    for (const PortSpec &port : type.outputs)
        text += "- Out `" + port.id.toUtf8() + "`: " + dataTypeName(port.type).toUtf8() + '\n';
    if (type.schema.specs().isEmpty())
        return text + '\n';
    text += "\n| Parameter | Label | Values | Default | When | Meaning |\n|---|---|---|---|---|---|\n";
    for (const ParameterSpec &spec : type.schema.specs()) {
        QString row = QStringLiteral("| `%1`%2 | %3 | %4 | %5 | %6 | %7 |\n")
                          .arg(spec.id, spec.advanced ? QStringLiteral(" (advanced)") : QString(), spec.label,
                               spec.rangeText().replace(u'|', QStringLiteral("\\|")), defaultText(spec),
                               shownWhen(spec).replace(u'|', QStringLiteral("\\|")), spec.help);
        text += row.toUtf8();
    }
    return text + '\n';
}

Command describeCommand()
{
    return {"describe",
            "COMPONENT… | FILE",
            "Shows a component's ports and parameters, the parameters and outputs of a pipeline file, or all networks.",
            {{"all", nullptr, "every component"},
             {"models", nullptr, "every network: figures, published weights, how pictures are prepared for them"},
             {"set", "NAME=VALUE", "of a pipeline file: show it with this setting; may be repeated"},
             {"markdown", nullptr, "as a Markdown page"},
             {"json", nullptr, "print one JSON object a line"}},
            0,
            -1,
            describe};
}

} // namespace tw::cli

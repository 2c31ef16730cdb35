// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/nearest.h"
#include "core/pipeline/pipelinefile.h"
#include "core/pipeline/pipelineparameters.h"

#include <QStringDecoder>

#include <algorithm>

namespace tw {

static Error unknownName(const QString &name, const QStringList &known, const char *text)
{
    const QString nearest = nearestText(name, known);
    const char *hint = known.isEmpty()     ? QT_TRANSLATE_NOOP("Error", "There is nothing to set there.")
                       : nearest.isEmpty() ? QT_TRANSLATE_NOOP("Error", "Those that exist: %3.")
                                           : QT_TRANSLATE_NOOP("Error", "Did you mean '%2'? Those that exist: %3.");
    return makeError(errors::InvalidPipeline, text, {name, nearest, known.join(QStringLiteral(", "))}, hint);
}

static QStringList settableNames(const Pipeline &pipeline)
{
    QStringList names;
    for (const PipelineParameter &parameter : pipeline.parameters)
        names.append(parameter.id);
    for (const PipelineNode &node : pipeline.nodes)
        names.append(node.id + QStringLiteral(".…"));
    return names;
}

static Result<QVariant> valueFromBytes(const ParameterSpec &spec, const QByteArray &bytes)
{
    QStringDecoder decoder(QStringDecoder::Utf8);
    const QString text = decoder.decode(bytes);
    if (decoder.hasError() && spec.kind != ParameterKind::Path)
        return makeError(errors::InvalidPipeline,
                         QT_TRANSLATE_NOOP("Error", "The value '%2' of parameter '%1' is not UTF-8 text."),
                         {spec.id, text}, QT_TRANSLATE_NOOP("Error", "Only the value of a path may hold other bytes."))
            .atParameter(spec.id);
    // QString would lose the bytes of a path that is not UTF-8; "~/" is the shell's and ours.
    if (spec.kind == ParameterKind::Path && !bytes.startsWith('~'))
        return spec.check(bytes);
    return spec.fromText(text);
}

static Result<void> setOne(Pipeline &pipeline, const PortAddress &target, const QByteArray &value,
                           const ComponentRegistry &registry)
{
    PipelineNode *node = pipeline.find(target.node);
    if (node == nullptr)
        return unknownName(target.node, orderedNodeIds(pipeline),
                           QT_TRANSLATE_NOOP("Error", "There is no node '%1' to set a parameter of."));
    const ComponentType *type = registry.find(node->component);
    if (type == nullptr) {
        return makeError(
                   errors::InvalidPipeline,
                   QT_TRANSLATE_NOOP("Error", "Node '%1' is of component '%2', which this program does not have."),
                   {node->id, node->component}, QT_TRANSLATE_NOOP("Error", "Its parameters cannot be set here."))
            .atNode(node->id);
    }
    const ParameterSpec *spec = type->schema.find(target.port);
    if (spec == nullptr) {
        QStringList ids;
        for (const ParameterSpec &known : type->schema.specs())
            ids.append(known.id);
        return unknownName(target.port, ids, QT_TRANSLATE_NOOP("Error", "There is no parameter '%1'."))
            .atNode(node->id)
            .atParameter(target.port);
    }
    auto checked = valueFromBytes(*spec, value);
    if (!checked.ok())
        return Error(checked.error()).atNode(node->id);
    if (*checked == spec->defaultValue)
        node->parameters.remove(spec->id);
    else
        node->parameters.set(spec->id, *checked);
    return {};
}

static Result<QList<PortAddress>> settingTargets(const Pipeline &pipeline, const QString &name)
{
    if (name.contains(u'.')) {
        const PortAddress address = PortAddress::fromText(name);
        if (!address.node.isEmpty())
            return QList<PortAddress>{address};
    }
    const auto it = std::find_if(pipeline.parameters.begin(), pipeline.parameters.end(),
                                 [&](const PipelineParameter &parameter) { return parameter.id == name; });
    if (it == pipeline.parameters.end())
        return unknownName(name, settableNames(pipeline),
                           QT_TRANSLATE_NOOP("Error", "There is no pipeline parameter '%1'."));
    return it->targets;
}

Result<void> applySettingBytes(Pipeline &pipeline, const QByteArray &assignment, const ComponentRegistry &registry)
{
    const qsizetype equals = assignment.indexOf('=');
    if (equals <= 0) {
        return makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "'%1' is not a setting."),
                         {QString::fromUtf8(assignment)},
                         QT_TRANSLATE_NOOP("Error", "Write NODE.PARAMETER=VALUE or PIPELINE_PARAMETER=VALUE."));
    }
    TW_ASSIGN(targets, settingTargets(pipeline, QString::fromUtf8(assignment.left(equals)).trimmed()));
    Pipeline changed = pipeline;
    for (const PortAddress &target : targets)
        TW_TRY(setOne(changed, target, assignment.mid(equals + 1), registry));
    pipeline = changed;
    return {};
}

Result<void> applySetting(Pipeline &pipeline, const QString &assignment, const ComponentRegistry &registry)
{
    return applySettingBytes(pipeline, assignment.toUtf8(), registry);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow/jobpipeline.h"

#include <algorithm>

namespace tw {

namespace {

bool sameParameters(const PipelineNode &ran, const PipelineNode &open, const ComponentRegistry &registry)
{
    const ComponentType *component = registry.find(open.component);
    if (!component)
        return ran.placeholderParameters == open.placeholderParameters;
    const ParameterValues before = component->schema.effective(ran.parameters);
    const ParameterValues now = component->schema.effective(open.parameters);
    const QList<ParameterSpec> &specs = component->schema.specs();
    return std::all_of(specs.begin(), specs.end(), [&](const ParameterSpec &spec) {
        const QVariant value = now.value(spec.id);
        return value == before.value(spec.id) || (spec.automatic && !value.isValid());
    });
}

QSet<std::pair<QString, QString>> wiresInto(const Pipeline &pipeline, const QString &node)
{
    QSet<std::pair<QString, QString>> wires;
    for (const PipelineConnection &wire : pipeline.connections)
        if (wire.to.node == node)
            wires.insert({wire.from.toText(), wire.to.port});
    return wires;
}

} // namespace

bool isSamePipeline(const Pipeline &ran, const Pipeline &open)
{
    if (ran.name != open.name)
        return false;
    int shared = 0;
    for (const PipelineNode &node : ran.nodes) {
        const PipelineNode *now = open.find(node.id);
        if (now && now->component != node.component)
            return false;
        shared += now != nullptr;
    }
    return ran.name.isEmpty() ? ran.nodeIds() == open.nodeIds() : shared > 0;
}

QSet<QString> nodesChangedSince(const Pipeline &ran, const Pipeline &open, const ComponentRegistry &registry)
{
    QSet<QString> changed;
    for (const PipelineNode &node : open.nodes) {
        const PipelineNode *before = ran.find(node.id);
        const bool same = before && before->component == node.component && sameParameters(*before, node, registry)
                          && wiresInto(ran, node.id) == wiresInto(open, node.id);
        if (!same)
            changed.insert(node.id);
    }
    return changed;
}

} // namespace tw

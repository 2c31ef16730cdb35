// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/canonicalgraph.h"

#include "core/pipeline/pipelinefile.h"
#include "ui/common/resources.h"

#include <QFile>

namespace tw {

constexpr char folderSample[] = ":/samples/folder-resnet18.pipeline.json";

Pipeline canonicalPipeline(const ComponentRegistry &registry, const QByteArray &folder)
{
    initResources();
    QFile resource{QLatin1String(folderSample)};
    if (!resource.open(QIODevice::ReadOnly))
        return {};
    const Result<LoadedPipeline> loaded = readPipeline(resource.readAll(), registry);
    if (!loaded)
        return {};
    Pipeline pipeline = loaded->pipeline;
    pipeline.nodes.removeIf([&](const PipelineNode &node) { return !registry.find(node.component); });
    pipeline.connections.removeIf(
        [&](const PipelineConnection &wire) { return !pipeline.find(wire.from.node) || !pipeline.find(wire.to.node); });
    for (PipelineNode &node : pipeline.nodes) {
        if (node.component == u"image-dataset")
            node.parameters.set(QStringLiteral("path"), folder);
    }
    return pipeline;
}

} // namespace tw

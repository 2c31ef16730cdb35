// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/canonicalgraph.h"

#include <QSet>

namespace tw {

namespace {

PipelineNode node(const ComponentRegistry &registry, const char *id, const char *component, QPointF position)
{
    PipelineNode made;
    made.id = QLatin1String(id);
    made.component = QLatin1String(component);
    if (const ComponentType *type = registry.find(made.component))
        made.componentVersion = type->version;
    made.position = position;
    return made;
}

} // namespace

Pipeline canonicalPipeline(const ComponentRegistry &registry, const QByteArray &folder)
{
    PipelineNode dataset = node(registry, "dataset1", "image-dataset", {0, 0});
    dataset.parameters.set(QStringLiteral("path"), folder);
    PipelineNode forTraining = node(registry, "transformation2", "apply-image-transformation", {912, 0});
    forTraining.parameters.set(QStringLiteral("mode"), QStringLiteral("for_training"));
    PipelineNode forInference = node(registry, "transformation3", "apply-image-transformation", {912, 176});
    forInference.parameters.set(QStringLiteral("mode"), QStringLiteral("for_inference"));
    PipelineNode augment = node(registry, "transformation1", "init-image-transformation", {608, 176});
    augment.parameters.set(QStringLiteral("random_resized_crop"), true);

    Pipeline pipeline;
    const QList<PipelineNode> wanted = {dataset,
                                        node(registry, "directory1", "convert-to-image-directory", {304, 0}),
                                        node(registry, "split1", "split-image-directory", {608, 0}),
                                        augment,
                                        forTraining,
                                        forInference,
                                        node(registry, "resnet1", "resnet", {912, -144}),
                                        node(registry, "model1", "train-pytorch-model", {1216, 0})};
    QSet<QString> made;
    for (const PipelineNode &candidate : wanted) {
        if (!registry.find(candidate.component))
            continue;
        pipeline.nodes.append(candidate);
        made.insert(candidate.id);
    }
    const std::pair<const char *, const char *> wires[] = {
        {"dataset1.dataset", "directory1.dataset"},
        {"directory1.image_directory", "split1.image_directory"},
        {"split1.image_directory1", "transformation2.image_directory"},
        {"split1.image_directory2", "transformation3.image_directory"},
        {"transformation1.transformation", "transformation2.transformation"},
        {"transformation1.transformation", "transformation3.transformation"},
        {"resnet1.untrained_model", "model1.untrained_model"},
        {"transformation2.image_directory", "model1.training_dataset"},
        {"transformation3.image_directory", "model1.validation_dataset"}};
    for (const auto &[from, to] : wires) {
        const PipelineConnection wire{PortAddress::fromText(QLatin1String(from)), PortAddress::fromText(QLatin1String(to))};
        if (made.contains(wire.from.node) && made.contains(wire.to.node))
            pipeline.connections.append(wire);
    }
    return pipeline;
}

} // namespace tw

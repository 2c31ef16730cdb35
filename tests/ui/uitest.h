// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/pipeline/pipeline.h"
#include "tests/support/testsupport.h"

#include <QGraphicsView>
#include <QTest>

namespace tw::test {

/// Small components with every data type and parameter kind that the window's tests need. Their
/// ids end like the real ones.
inline ComponentRegistry uiRegistry()
{
    ComponentRegistry registry;
    ComponentType source;
    source.id = QStringLiteral("test-source");
    source.named("Source", "Data Input", "Gives files.")
        .output("dataset", "Dataset", DataType::AnyDirectory)
        .parameter(ParameterSpec::path("path", "Path").isRequired().withHelp("Folder or archive."));
    registry.add(source);
    ComponentType convert;
    convert.id = QStringLiteral("test-convert");
    convert.named("Convert", "Computer Vision", "Lists images.")
        .input("dataset", "Dataset", DataType::AnyDirectory)
        .output("images", "Images", DataType::ImageDirectory);
    registry.add(convert);
    ComponentType filter;
    filter.id = QStringLiteral("test-filter");
    filter.named("Filter", "Computer Vision", "Images to images.")
        .input("images", "Images", DataType::ImageDirectory)
        .output("images", "Images", DataType::ImageDirectory)
        .parameter(ParameterSpec::real("fraction", "Fraction", 0.9).above(0).below(1).withHelp("Share."));
    registry.add(filter);
    ComponentType model;
    model.id = QStringLiteral("test-model");
    model.named("Network", "Models", "A network.")
        .output("model", "Untrained model", DataType::UntrainedModelDirectory);
    registry.add(model);
    ComponentType train;
    train.id = QStringLiteral("test-train");
    train.named("Train", "Model Training", "Trains.")
        .input("model", "Untrained model", DataType::UntrainedModelDirectory)
        .input("images", "Training images", DataType::ImageDirectory)
        .output("trained", "Trained model", DataType::ModelDirectory)
        .parameter(ParameterSpec::integer("epochs", "Epochs", 5).atLeast(1).withHelp("Passes over the data."))
        .parameter(ParameterSpec::real("rate", "Learning rate", 0.001).above(0))
        .parameter(ParameterSpec::integer("seed", "Seed", 1).isAutomatic("drawn"))
        .parameter(ParameterSpec::choice(
            "optimizer", "Optimizer", "sgd",
            {{QStringLiteral("sgd"), QStringLiteral("SGD")}, {QStringLiteral("adam"), QStringLiteral("Adam")}}))
        .parameter(ParameterSpec::real("momentum", "Momentum", 0.9)
                       .atLeast(0)
                       .below(1)
                       .visibleWhen("optimizer", {QStringLiteral("sgd")}))
        .parameter(ParameterSpec::boolean("shuffle", "Shuffle", true).isAdvanced())
        .parameter(ParameterSpec::integers("sizes", "Sizes", {10}).atLeast(1).isAdvanced())
        .parameter(ParameterSpec::range("scale", "Scale", 0.08, 1).isAdvanced())
        .parameter(ParameterSpec::text("note", "Note", "").isAdvanced());
    registry.add(train);
    return registry;
}

inline PipelineNode uiNode(const char *id, const char *component, QPointF position = {})
{
    PipelineNode node;
    node.id = QLatin1String(id);
    node.component = QLatin1String(component);
    node.position = position;
    return node;
}

/// source1 → convert1 → filter1 → train1 ← model1
inline Pipeline uiPipeline()
{
    Pipeline pipeline;
    pipeline.name = QStringLiteral("test");
    PipelineNode source = uiNode("source1", "test-source", {0, 0});
    source.parameters.set(QStringLiteral("path"), QByteArray("/data"));
    pipeline.nodes = {source, uiNode("convert1", "test-convert", {288, 0}), uiNode("filter1", "test-filter", {576, 0}),
                      uiNode("model1", "test-model", {576, -192}), uiNode("train1", "test-train", {864, 0})};
    const std::pair<const char *, const char *> wires[] = {{"source1.dataset", "convert1.dataset"},
                                                           {"convert1.images", "filter1.images"},
                                                           {"filter1.images", "train1.images"},
                                                           {"model1.model", "train1.model"}};
    for (const auto &[from, to] : wires)
        pipeline.connections.append(
            {PortAddress::fromText(QLatin1String(from)), PortAddress::fromText(QLatin1String(to))});
    return pipeline;
}

/// A drag with the left button through the viewport, in scene coordinates, in small steps.
inline void dragInScene(QGraphicsView &view, const QPointF &from, const QPointF &to, bool release = true)
{
    const auto point = [&view](const QPointF &scene) { return view.mapFromScene(scene); };
    QTest::mouseMove(view.viewport(), point(from));
    QTest::mousePress(view.viewport(), Qt::LeftButton, {}, point(from));
    for (int step = 1; step <= 5; ++step) {
        const QPoint local = point(from + (to - from) * step / 5.0);
        // QTest::mouseMove carries no buttons for widgets; a drag needs them.
        QMouseEvent move(QEvent::MouseMove, local, view.viewport()->mapToGlobal(local), Qt::NoButton, Qt::LeftButton,
                         {});
        QCoreApplication::sendEvent(view.viewport(), &move);
    }
    if (release)
        QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, point(to));
}

} // namespace tw::test

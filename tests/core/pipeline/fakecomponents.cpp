// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/pipeline/fakecomponents.h"

namespace tw::test {

static ComponentType component(const char *id, const char *category)
{
    ComponentType type;
    type.id = QString::fromLatin1(id);
    type.named(id, category, "For tests");
    return type;
}

static ParameterValues migrateTrain(int fromVersion, const ParameterValues &old)
{
    ParameterValues now = old;
    if (fromVersion < 2) {
        if (old.contains("lr"))
            now.set("learning_rate", old.value("lr"));
        now.remove("lr");
        if (!old.contains("epochs"))
            now.set("epochs", 10LL);
    }
    return now;
}

static QList<Error> checkTrain(const ParameterValues &values)
{
    if (values.integer("warmup") <= values.integer("epochs"))
        return {};
    return {makeError(errors::LessThanOrEqualTo, "'warmup' is %1; it must be ≤ %2.",
                      {QString::number(values.integer("warmup")), QString::number(values.integer("epochs"))})
                .atParameter("warmup")};
}

static ComponentType trainComponent()
{
    ComponentType type = component("fake-train", "Model Training");
    type.version = 2;
    type.input("untrained_model", "Model", DataType::UntrainedModelDirectory)
        .input("training_dataset", "Training", DataType::ImageDirectory)
        .input("validation_dataset", "Validation", DataType::ImageDirectory)
        .output("trained_model", "Trained", DataType::ModelDirectory)
        .parameter(ParameterSpec::integer("epochs", "Epochs", 5).above(0))
        .parameter(ParameterSpec::integer("warmup", "Warm-up", 0).atLeast(0))
        .parameter(ParameterSpec::real("learning_rate", "Learning rate", 0.001).above(0))
        .parameter(ParameterSpec::integer("random_seed", "Seed", 1).isAutomatic("drawn"))
        .parameter(ParameterSpec::integers("sizes", "Sizes", {10}).atLeast(1))
        .parameter(ParameterSpec::range("scale", "Scale", 0.08, 1).atLeast(0).atMost(1));
    type.validate = checkTrain;
    type.migrate = migrateTrain;
    return type;
}

static void addDataComponents(ComponentRegistry &registry)
{
    ComponentType source = component("fake-source", "Data Input");
    source.output("dataset", "Data", DataType::AnyDirectory)
        .parameter(ParameterSpec::path("path", "Path").isRequired())
        .parameter(ParameterSpec::text("label_column", "Label column", "label"));
    registry.add(source);
    ComponentType convert = component("fake-convert", "Computer Vision");
    convert.input("dataset", "Data", DataType::AnyDirectory)
        .output("image_directory", "Images", DataType::ImageDirectory);
    registry.add(convert);
    ComponentType split = component("fake-split", "Computer Vision");
    split.input("image_directory", "Images", DataType::ImageDirectory)
        .output("image_directory1", "First", DataType::ImageDirectory)
        .output("image_directory2", "Second", DataType::ImageDirectory)
        .parameter(ParameterSpec::real("fraction", "Fraction", 0.9).above(0).below(1));
    registry.add(split);
    ComponentType transform = component("fake-transform", "Computer Vision");
    transform.output("transformation", "Transformation", DataType::TransformationDirectory)
        .parameter(ParameterSpec::integer("size", "Size", 256).atLeast(1));
    registry.add(transform);
    ComponentType factor = component("fake-factor", "Computer Vision");
    factor.output("transformation", "Transformation", DataType::TransformationDirectory)
        .parameter(ParameterSpec::real("factor", "Factor", 1).atLeast(1))
        .parameter(ParameterSpec::choice("mode", "Mode", "once", {{"once", "Once"}, {"twice", "Twice"}}));
    registry.add(factor);
    ComponentType apply = component("fake-apply", "Computer Vision");
    apply.input("transformation", "Transformation", DataType::TransformationDirectory)
        .input("image_directory", "Images", DataType::ImageDirectory)
        .output("image_directory", "Images", DataType::ImageDirectory)
        .parameter(ParameterSpec::choice("mode", "Mode", "",
                                         {{"for_training", "For training"}, {"for_inference", "For inference"}}));
    registry.add(apply);
}

static void addModelComponents(ComponentRegistry &registry)
{
    ComponentType model = component("fake-model", "Models");
    model.output("untrained_model", "Model", DataType::UntrainedModelDirectory);
    registry.add(model);
    registry.add(trainComponent());
    ComponentType score = component("fake-score", "Model Scoring");
    score.input("trained_model", "Model", DataType::ModelDirectory)
        .input("dataset", "Data", DataType::ImageDirectory)
        .output("scored_dataset", "Scored", DataType::DataTable);
    registry.add(score);
    ComponentType evaluate = component("fake-evaluate", "Model Evaluation");
    evaluate.input("scored_dataset", "Scored", DataType::DataTable)
        .input("scored_dataset_to_compare", "To compare", DataType::DataTable, true)
        .output("evaluation_results", "Results", DataType::EvaluationResult);
    registry.add(evaluate);
}

const ComponentRegistry &fakeComponents()
{
    static const ComponentRegistry &filled = []() -> const ComponentRegistry & {
        static ComponentRegistry registry;
        addDataComponents(registry);
        addModelComponents(registry);
        return registry;
    }();
    return filled;
}

PipelineNode node(const char *id, const char *componentId, const ParameterValues &parameters)
{
    PipelineNode made;
    made.id = QString::fromLatin1(id);
    made.component = QString::fromLatin1(componentId);
    const ComponentType *type = fakeComponents().find(made.component);
    made.componentVersion = type ? type->version : 1;
    made.parameters = parameters;
    return made;
}

PipelineConnection wire(const char *from, const char *to)
{
    return {PortAddress::fromText(QString::fromLatin1(from)), PortAddress::fromText(QString::fromLatin1(to))};
}

ParameterValues values(std::initializer_list<std::pair<const char *, QVariant>> pairs)
{
    ParameterValues made;
    for (const auto &[id, value] : pairs)
        made.set(QString::fromLatin1(id), value);
    return made;
}

Pipeline wholePipeline()
{
    Pipeline pipeline;
    pipeline.name = QStringLiteral("Whole");
    pipeline.nodes = {node("source1", "fake-source", values({{"path", QByteArray("/data/flowers")}})),
                      node("convert1", "fake-convert"),
                      node("split1", "fake-split"),
                      node("transform1", "fake-transform"),
                      node("apply1", "fake-apply", values({{"mode", "for_training"}})),
                      node("model1", "fake-model"),
                      node("train1", "fake-train"),
                      node("score1", "fake-score"),
                      node("evaluate1", "fake-evaluate")};
    pipeline.connections = {wire("source1.dataset", "convert1.dataset"),
                            wire("convert1.image_directory", "split1.image_directory"),
                            wire("split1.image_directory1", "apply1.image_directory"),
                            wire("transform1.transformation", "apply1.transformation"),
                            wire("model1.untrained_model", "train1.untrained_model"),
                            wire("apply1.image_directory", "train1.training_dataset"),
                            wire("split1.image_directory2", "train1.validation_dataset"),
                            wire("train1.trained_model", "score1.trained_model"),
                            wire("split1.image_directory2", "score1.dataset"),
                            wire("score1.scored_dataset", "evaluate1.scored_dataset")};
    return pipeline;
}

} // namespace tw::test

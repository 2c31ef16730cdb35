// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/components/faultypipelines.h"

#include "core/model/weightsfile.h"
#include "core/train/architectures.h"
#include "tests/core/data/archivesamples.h"
#include "tests/core/data/datasamples.h"

#include <sys/stat.h>

namespace tw::test {

namespace {

/// `each` pictures of every class; without a class name they lie in the folder itself.
void writeSet(const fs::path &folder, const std::vector<std::string> &classes, int each, int size = 8)
{
    for (std::size_t c = 0; c < classes.size(); ++c)
        for (int i = 0; i < each; ++i)
            writeBytes(folder / classes[c] / (std::to_string(i) + ".ppm"),
                       ppmOf(patternImage(size, size, unsigned(100 * c) + unsigned(i))));
}

void writeSets(const fs::path &folder)
{
    writeSet(folder / "good", {"ant", "bee"}, 8);
    writeSet(folder / "more", {"ant", "bee"}, 2);
    writeSet(folder / "one_class", {"ant"}, 16);
    writeSet(folder / "one_picture", {"ant"}, 1);
    writeSet(folder / "singles", {"ant", "bee"}, 1);
    writeSet(folder / "unlabelled", {""}, 16);
    writeSet(folder / "third", {"ant", "bee", "cow"}, 2);
    writeSet(folder / "others", {"cow", "dog"}, 2);
    writeSet(folder / "large", {"ant", "bee"}, 2, 9);
    writeSet(folder / "sizes", {"ant", "bee"}, 8);
    writeBytes(folder / "sizes" / "bee" / "odd.ppm", ppmOf(patternImage(9, 7, 1)));
    writeSet(folder / "hollow", {"ant"}, 16);
    fs::create_directories(folder / "hollow" / "bee");
    fs::create_directories(folder / "empty");
    for (const char *name : {"torn", "vast"})
        writeSet(folder / name, {"ant", "bee"}, 8);
    const QByteArray whole = ppmOf(patternImage(8, 8, 1));
    for (const char *name : {"torn/ant/1.ppm", "torn/ant/2.ppm", "torn/bee/2.ppm", "all_torn/ant/1.ppm"})
        writeBytes(folder / name, whole.left(whole.size() - 20));
    writeBytes(folder / "all_torn" / "bee" / "1.ppm", whole.left(30));
    writeBytes(folder / "vast" / "bee" / "vast.ppm", "P6\n20000 20000\n255\nabc");
}

void writeSources(const fs::path &folder)
{
    writeBytes(folder / "notes.txt", "no pictures here\n");
    for (const char *name : {"broken.zip", "broken.tar", "broken.tar.gz", "broken.tar.bz2"})
        writeBytes(folder / name, "no archive");
    const QByteArray picture = ppmOf(patternImage(8, 8, 1));
    writeZip(folder / "climbing.zip", {{"ant/1.ppm", picture}, {"../evil.ppm", picture}});
    writeBytes(folder / "list.csv", "path,kind\ngood/ant/0.ppm,x\ngood/bee/0.ppm,y\n");
    writeBytes(folder / "lost.csv", "path,label\ngone/1.ppm,x\n");
    writeIdxPair(folder / "pair", 12, 8, 8);
    for (const char *name : {"first", "second"})
        for (const char *part : {"images-idx3-ubyte", "labels-idx1-ubyte"}) {
            fs::create_directories(folder / "two_pairs");
            fs::copy_file(folder / "pair" / (std::string("small-") + part),
                          folder / "two_pairs" / (std::string(name) + "-" + part));
        }
    fs::create_directories(folder / "half_pair");
    fs::copy_file(folder / "pair" / "small-images-idx3-ubyte", folder / "half_pair" / "small-images-idx3-ubyte");
}

void writeModels(const fs::path &folder)
{
    writeBytes(folder / "notes.pth", "weights: see the other folder\n");
    const auto weights =
        freshWeights({QStringLiteral("mlp"), {{"num_classes", 2}, {"height", 8}, {"width", 8}}}, 1).value();
    if (!writePth(folder / "mlp.pth", weights).ok())
        qFatal("the weights could not be written");
    if (::mkfifo((folder / "pipe.pth").c_str(), 0600) != 0)
        qFatal("the pipe could not be made");
    TensorBlob strange = weights.front();
    strange.name.assign(1, 'w'); // GCC 12 warns falsely of = "w"
    if (!writeSafetensors(folder / "strange.safetensors", {strange}).ok())
        qFatal("the weights could not be written");
}

PipelineNode node(const char *id, const char *component, const QVariantMap &values = {})
{
    PipelineNode made;
    made.id = QString::fromLatin1(id);
    made.component = QString::fromLatin1(component);
    for (auto value = values.begin(); value != values.end(); ++value)
        made.parameters.set(value.key(), *value);
    return made;
}

Pipeline soundPipeline(const fs::path &folder)
{
    Pipeline pipeline;
    pipeline.nodes = {
        node("data", "image-dataset", {{"path", bytesFromPath(folder / "good")}}),
        node("convert", "convert-to-image-directory"),
        node("split", "split-image-directory", {{"fraction", 0.75}}),
        node("ops", "init-image-transformation", {{"resize", false}, {"center_crop", false}}),
        node("augment", "apply-image-transformation", {{"mode", "for_training"}}),
        node("valdata", "image-dataset", {{"path", bytesFromPath(folder / "more")}}),
        node("valconvert", "convert-to-image-directory"),
        node("model", "basic-network", {{"network", "mlp"}, {"hidden_sizes", QVariantList{4LL}}}),
        node("train", "train-pytorch-model",
             {{"epochs", 1LL}, {"batch_size", 4LL}, {"device", "cpu"}, {"threads", 1LL}, {"num_workers", 0LL}}),
        node("score", "score-image-model", {{"device", "cpu"}}),
        node("evaluate", "evaluate-model"),
    };
    const QList<std::pair<const char *, const char *>> wires{
        {"data.dataset", "convert.dataset"},
        {"convert.image_directory", "split.image_directory"},
        {"ops.transformation", "augment.transformation"},
        {"split.image_directory1", "augment.image_directory"},
        {"valdata.dataset", "valconvert.dataset"},
        {"model.untrained_model", "train.untrained_model"},
        {"augment.image_directory", "train.training_dataset"},
        {"valconvert.image_directory", "train.validation_dataset"},
        {"train.trained_model", "score.trained_model"},
        {"valconvert.image_directory", "score.dataset"},
        {"score.scored_dataset", "evaluate.scored_dataset"},
    };
    for (const auto &[from, to] : wires)
        pipeline.connections.append(
            {PortAddress::fromText(QLatin1String(from)), PortAddress::fromText(QLatin1String(to))});
    return pipeline;
}

void rewire(Pipeline &pipeline, const QString &to, const QString &from)
{
    const PortAddress target = PortAddress::fromText(to);
    pipeline.connections.removeIf([&](const PipelineConnection &wire) { return wire.to == target; });
    if (!from.isEmpty())
        pipeline.connections.append({PortAddress::fromText(from), target});
}

} // namespace

void writeFaultyData(const fs::path &folder)
{
    writeSets(folder);
    writeSources(folder);
    writeModels(folder);
}

Pipeline faultyPipeline(const fs::path &folder, const QVariantMap &changes)
{
    Pipeline pipeline = soundPipeline(folder);
    // "node" sorts before "node.parameter": what the new component takes is set after it is there.
    for (auto change = changes.begin(); change != changes.end(); ++change) {
        const QString &key = change.key();
        if (key.startsWith(u'>')) {
            rewire(pipeline, key.mid(1), change->toString());
            continue;
        }
        const PortAddress at = PortAddress::fromText(key);
        PipelineNode *changed = pipeline.find(at.node.isEmpty() ? key : at.node);
        if (at.node.isEmpty()) {
            changed->component = change->toString();
            changed->parameters = {};
            continue;
        }
        const bool isPath = at.port == QLatin1String("path") || at.port == QLatin1String("weights_file");
        const QString name = change->toString();
        changed->parameters.set(
            at.port,
            isPath ? QVariant(name.isEmpty() ? QByteArray() : bytesFromPath(folder / name.toStdString())) : *change);
    }
    return pipeline;
}

} // namespace tw::test

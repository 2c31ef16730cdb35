// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/commandline.h"

#include "tests/support/idxfiles.h"

#include <QJsonDocument>

#include <fstream>

namespace tw::test {

QString cliProgram()
{
    return displayPath(programFolder() / "trainwright-cli");
}

ProcessOutcome cli(const QStringList &arguments, int timeoutMs)
{
    return runProcess(cliProgram(), arguments, timeoutMs);
}

QList<QJsonObject> jsonLines(const QByteArray &bytes)
{
    QList<QJsonObject> lines;
    for (const QByteArray &line : bytes.split('\n'))
        if (!line.isEmpty())
            lines.append(QJsonDocument::fromJson(line).object());
    return lines;
}

QList<QJsonObject> ofKind(const QList<QJsonObject> &lines, const char *kind)
{
    QList<QJsonObject> found;
    for (const QJsonObject &line : lines)
        if (line.value(QLatin1String("kind")).toString() == QLatin1String(kind))
            found.append(line);
    return found;
}

fs::path writeTinyPipeline(const fs::path &folder, int images, int epochs)
{
    const fs::path data = writeIdxPair(folder, "tiny", images, 3);
    const fs::path file = folder / "tiny.pipeline.json";
    std::ofstream(file) << R"({"format": "trainwright-pipeline", "version": 1, "name": "Tiny",
"parameters": [{"id": "rate", "label": "Rate", "targets": ["train.learning_rate"]}],
"nodes": [
{"id": "data", "component": "image-dataset", "component_version": 1, "parameters": {"path": ")"
                        << data.string() << R"("}},
{"id": "convert", "component": "convert-to-image-directory", "component_version": 1, "parameters": {"class_names": "ant,bee,cow"}},
{"id": "split", "component": "split-image-directory", "component_version": 1, "parameters": {"fraction": 0.8}},
{"id": "transforms", "component": "init-image-transformation", "component_version": 1, "parameters": {"resize": false, "center_crop": false, "random_horizontal_flip": true}},
{"id": "augment", "component": "apply-image-transformation", "component_version": 1, "parameters": {"mode": "for_training"}},
{"id": "model", "component": "basic-network", "component_version": 1, "parameters": {"input_channels": "1"}},
{"id": "train", "component": "train-pytorch-model", "component_version": 1, "parameters": {"epochs": )"
                        << epochs << R"(, "learning_rate": 0.05, "patience": 100000, "threads": 1, "device": "cpu"}},
{"id": "score", "component": "score-image-model", "component_version": 1, "parameters": {"device": "cpu"}},
{"id": "evaluate", "component": "evaluate-model", "component_version": 1, "parameters": {}}],
"connections": [
{"from": "data.dataset", "to": "convert.dataset"},
{"from": "convert.image_directory", "to": "split.image_directory"},
{"from": "transforms.transformation", "to": "augment.transformation"},
{"from": "split.image_directory1", "to": "augment.image_directory"},
{"from": "model.untrained_model", "to": "train.untrained_model"},
{"from": "augment.image_directory", "to": "train.training_dataset"},
{"from": "split.image_directory2", "to": "train.validation_dataset"},
{"from": "train.trained_model", "to": "score.trained_model"},
{"from": "split.image_directory2", "to": "score.dataset"},
{"from": "score.scored_dataset", "to": "evaluate.scored_dataset"}]}
)";
    return file;
}

} // namespace tw::test

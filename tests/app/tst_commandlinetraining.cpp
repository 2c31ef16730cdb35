// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "tests/support/commandline.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>

using namespace tw;
using namespace tw::test;

/// Whole trainings on tiny data through the built program.
class TestCommandLineTraining : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void trainsAndEvaluates();
    void reusesUnlessForced();
    void seedLeftEmptyIsStored();
    void recordsSeedAndMachine();
    void failsAtTheNode();
    void trainsResnetOnAFolderAndScores();

private:
    QString at(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    fs::path folder() const { return m_folder->path().toStdString(); }
    QString tiny(int images, int epochs) const { return displayPath(writeTinyPipeline(folder(), images, epochs)); }
    QJsonObject onlyJob() const;
    /// Three classes of plain colours as JPEG files; false without PIL.
    bool writeJpegFolder() const;

    std::unique_ptr<QTemporaryDir> m_folder;
};

QJsonObject TestCommandLineTraining::onlyJob() const
{
    const ProcessOutcome outcome = cli({"jobs", "--json", "--workspace", at("ws")});
    const QList<QJsonObject> jobs = jsonLines(outcome.out);
    return jobs.size() == 1 ? jobs.first() : QJsonObject();
}

void TestCommandLineTraining::trainsAndEvaluates()
{
    const ProcessOutcome outcome =
        cli({"run", tiny(300, 1), "--workspace", at("ws"), "--json", "--experiment", "first", "--name", "tiny run",
             "--tag", "kind=test", "--set", "rate=0.04", "--set", "train.epochs=2", "--export",
             "train.trained_model=" + at("model"), "--export", "evaluate.evaluation_results=" + at("evaluation")});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    const QList<QJsonObject> lines = jsonLines(outcome.out);
    const QStringList kinds{"job", "node", "progress", "metric", "log", "error", "result"};
    for (const QJsonObject &line : lines)
        QVERIFY2(kinds.contains(line.value("kind").toString()), outcome.out.constData());
    QCOMPARE(ofKind(lines, "job").last().value("state").toString(), QStringLiteral("Completed"));
    QVERIFY(ofKind(lines, "error").isEmpty());

    QStringList completed;
    for (const QJsonObject &line : ofKind(lines, "node"))
        if (line.value("state").toString() == "Completed")
            completed.append(line.value("node").toString());
    QCOMPARE(completed.size(), 9);
    int steps = 0, validations = 0;
    double firstRate = 0;
    for (const QJsonObject &line : ofKind(lines, "metric")) {
        const QString series = line.value("series").toString();
        steps += series == "train_loss";
        validations += series == "val_loss";
        if (series == "learning_rate" && line.value("step").toInt() == 1)
            firstRate = line.value("value").toDouble();
        QCOMPARE(line.value("node").toString(), QStringLiteral("train"));
    }
    QCOMPARE(steps, 2 * 15); // 240 training pictures, batches of 16
    QCOMPARE(validations, 2);
    QCOMPARE(firstRate, 0.04);

    for (const char *name : {"model.json", "weights.pth", "weights.safetensors", "labels.txt", "score.py",
                             "metrics.jsonl", "pipeline.json", "parity.json"})
        QVERIFY2(fs::file_size(folder() / "model" / name) > 0, name);
    const auto model = readJsonObject(folder() / "model" / "model.json", errors::InvalidDataset);
    TW_VERIFY(model);
    QCOMPARE(jsonCompact(model->value("classes")), QByteArray("[\"ant\",\"bee\",\"cow\"]"));
    const auto metrics = readFile(folder() / "model" / "metrics.jsonl", errors::InvalidDataset);
    QCOMPARE(metrics->count("\"val_loss\""), 2);

    const auto evaluation = readJsonObject(folder() / "evaluation" / "evaluation.json", errors::InvalidDataset);
    TW_VERIFY(evaluation);
    const QJsonObject row = evaluation->value("results").toArray().first().toObject();
    QCOMPARE(row.value("Total").toInt(), 60);
    QVERIFY2(row.value("Overall_Accuracy").toDouble() > 0.9, "bars are easy to tell apart");

    const QJsonObject job = onlyJob();
    QCOMPARE(job.value("experiment").toString(), QStringLiteral("first"));
    QCOMPARE(job.value("name").toString(), QStringLiteral("tiny run"));
    QCOMPARE(job.value("tags").toObject().value("kind").toString(), QStringLiteral("test"));
    const QString id = job.value("id").toString();
    QCOMPARE(cli({"jobs", "wait", id, "--workspace", at("ws")}).out, QByteArray("Completed\n"));
    const ProcessOutcome log = cli({"logs", id, "--node", "train", "--rank", "0", "--workspace", at("ws")});
    QVERIFY2(log.out.contains("Epoch: 002/002 | Train Loss: "), log.out.constData());
    QVERIFY(cli({"jobs", "show", id, "--workspace", at("ws")}).out.contains("best_val_top1"));
}

void TestCommandLineTraining::reusesUnlessForced()
{
    const QString file = tiny(90, 1);
    const auto reused = [&](const QStringList &more) {
        const ProcessOutcome outcome = cli(QStringList{"run", file, "--workspace", at("ws"), "--json"} + more);
        int count = 0;
        for (const QJsonObject &line : ofKind(jsonLines(outcome.out), "node"))
            count += line.value("state").toString() == "Reused";
        return outcome.exitCode == 0 ? count : -1;
    };
    QCOMPARE(reused({}), 0);
    QCOMPARE(reused({}), 9);
    QCOMPARE(reused({"--set", "train.num_workers=0"}), 9);
    QCOMPARE(reused({"--set", "train.learning_rate=0.01"}), 6);
    QCOMPARE(reused({"--force"}), 0);
    writeTinyPipeline(folder(), 120, 1); // other data at the same place
    QCOMPARE(reused({}), 2);             // transforms and model
}

void TestCommandLineTraining::seedLeftEmptyIsStored()
{
    const ProcessOutcome outcome = cli({"run", tiny(90, 1), "--workspace", at("ws"), "--set", "train.random_seed="});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    const fs::path job = folder() / "ws" / "jobs" / onlyJob().value("id").toString().toStdString();
    const auto pipeline = readJsonObject(job / "pipeline.json", errors::InvalidPipeline);
    TW_VERIFY(pipeline);
    for (const QJsonValue &node : pipeline->value("nodes").toArray())
        if (node.toObject().value("id").toString() == "train")
            QVERIFY(node.toObject().value("parameters").toObject().value("random_seed").isDouble());
}

void TestCommandLineTraining::recordsSeedAndMachine()
{
    const QString seed = QStringLiteral("-9007199254740993"); // a double would lose the last digit
    const ProcessOutcome outcome = cli({"run", tiny(60, 1), "--workspace", at("ws"), "--set",
                                        "train.random_seed=" + seed, "--export", "train.trained_model=" + at("model")});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    const auto model = readJsonObject(folder() / "model" / "model.json", errors::InvalidDataset);
    TW_VERIFY(model);
    QCOMPARE(model->value("training").toObject().value("random_seed").toInteger(), seed.toLongLong());
    QCOMPARE(model->value("provenance").toObject().value("seed").toString(), seed);

    const fs::path job = folder() / "ws" / "jobs" / onlyJob().value("id").toString().toStdString();
    const auto environment = readJsonObject(job / "environment.json", errors::InvalidWorkspace);
    TW_VERIFY(environment);
    QCOMPARE(environment->value("libtorch").toString(),
             model->value("provenance").toObject().value("libtorch").toString());
    QVERIFY(environment->value("libtorch").toString().startsWith("2."));
    const auto cards = jsonLines(cli({"devices", "--json"}).out).size() - 1;
    QCOMPARE(environment->value("gpus").toArray().size(), cards);
    QVERIFY(environment->contains("gpu_driver"));
}

void TestCommandLineTraining::failsAtTheNode()
{
    const ProcessOutcome outcome =
        cli({"run", tiny(60, 1), "--workspace", at("ws"), "--json", "--set", "data.path=" + at("nowhere")});
    QCOMPARE(outcome.exitCode, 1);
    QVERIFY2(outcome.err.startsWith("InvalidDatasetError: "), outcome.err.constData());
    const QList<QJsonObject> faults = ofKind(jsonLines(outcome.out), "error");
    QVERIFY(!faults.isEmpty());
    QCOMPARE(faults.first().value("name").toString(), QStringLiteral("InvalidDatasetError"));
    QCOMPARE(faults.first().value("node").toString(), QStringLiteral("data"));
    QVERIFY(faults.first().value("message").toString().contains("nowhere"));
    QCOMPARE(onlyJob().value("state").toString(), QStringLiteral("Failed"));
}

bool TestCommandLineTraining::writeJpegFolder() const
{
    const char *script = R"(
import os, sys
try:
    from PIL import Image
except ImportError:
    sys.exit(77)
for c, colour in (("blue", (20, 30, 220)), ("green", (30, 210, 40)), ("red", (220, 20, 30))):
    os.makedirs(os.path.join(sys.argv[1], c))
    for i in range(8):
        Image.new("RGB", (70 + i, 66), tuple(min(255, v + 3 * i) for v in colour)).save(
            os.path.join(sys.argv[1], c, f"{i}.jpg"))
)";
    return runProcess("/usr/bin/python3", {"-c", QString::fromUtf8(script), at("pictures")}).exitCode == 0;
}

void TestCommandLineTraining::trainsResnetOnAFolderAndScores()
{
    if (!writeJpegFolder())
        QSKIP("PIL not found");
    const fs::path sample = sourceFolder() / "resources/samples/folder-resnet18.pipeline.json";
    const ProcessOutcome outcome = cli({"run",         displayPath(sample),
                                        "--workspace", at("ws"),
                                        "--set",       "data.path=" + at("pictures"),
                                        "--set",       "split.fraction=0.75",
                                        "--set",       "transform.size=64",
                                        "--set",       "transform.crop_size=64",
                                        "--set",       "transform.random_size=64",
                                        "--set",       "train.epochs=1",
                                        "--set",       "train.batch_size=6",
                                        "--set",       "train.device=cpu",
                                        "--export",    "train.trained_model=" + at("model")});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());

    const ProcessOutcome scored = cli(
        {"score", at("model"), at("pictures/red/0.jpg"), at("pictures/blue"), "--json", "--logits", "--device", "cpu"});
    QVERIFY2(scored.exitCode == 0, scored.err.constData());
    const QList<QJsonObject> lines = jsonLines(scored.out);
    QCOMPARE(lines.size(), 9);
    for (const QJsonObject &line : lines) {
        const QJsonObject probabilities = line.value("probabilities").toObject();
        QCOMPARE(probabilities.keys(), (QStringList{"blue", "green", "red"}));
        double sum = 0, best = 0;
        for (const QJsonValue &value : probabilities) {
            sum += value.toDouble();
            best = std::max(best, value.toDouble());
        }
        QVERIFY(std::abs(sum - 1) < 1e-6);
        QCOMPARE(probabilities.value(line.value("label").toString()).toDouble(), best);
        QCOMPARE(line.value("logits").toArray().size(), 3);
    }
    QVERIFY(lines.first().value("path").toString().endsWith("red/0.jpg"));

    // One that is no picture is named; the rest is scored.
    std::ofstream(at("bad.jpg").toStdString()) << "no picture";
    const ProcessOutcome partly =
        cli({"score", at("model"), at("bad.jpg"), at("pictures/red/1.jpg"), "--csv", at("table.csv")});
    QCOMPARE(partly.exitCode, 1);
    QVERIFY2(partly.err.startsWith("InvalidImageError: "), partly.err.constData());
    const auto table = readFile(folder() / "table.csv", errors::InvalidDataset);
    TW_VERIFY(table);
    QVERIFY(table->startsWith("path,Scored Probabilities_blue,Scored Probabilities_green,"
                              "Scored Probabilities_red,Scored Labels\r\n"));
    QCOMPARE(table->count('\n'), 2);
    const ProcessOutcome noModel = cli({"score", at("pictures"), at("pictures/red/1.jpg")});
    QCOMPARE(noModel.exitCode, 1);
    QVERIFY2(noModel.err.startsWith("InvalidModelDirectoryError: "), noModel.err.constData());
}

QTEST_GUILESS_MAIN(TestCommandLineTraining)
#include "tst_commandlinetraining.moc"

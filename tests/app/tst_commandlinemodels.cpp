// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/commandline.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;
using namespace tw::test;

/// Models on the command line: made, inspected, loaded into a pipeline.
class TestCommandLineModels : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void freshModelsScoreAnyPicture_data();
    void freshModelsScoreAnyPicture();
    void newRefuses_data();
    void newRefuses();
    void inspectsAModelDirectory();
    void inspectNotesChangedWeights();
    void inspectSaysWhatAFileIs_data();
    void inspectSaysWhatAFileIs();
    void aLoadedModelScoresAndTrainsOn();
    void loadFaultsHaveTheirPlace_data();
    void loadFaultsHaveTheirPlace();

private:
    QString at(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    QByteArray content(const char *name) const;
    void write(const char *name, const QByteArray &bytes) const;
    /// The tiny pipeline with Load Model at `path` in place of the network; its model scores too.
    QString loadPipeline(const QString &path, bool scored) const;

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestCommandLineModels::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
}

QByteArray TestCommandLineModels::content(const char *name) const
{
    QFile file(at(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void TestCommandLineModels::write(const char *name, const QByteArray &bytes) const
{
    std::ofstream(at(name).toStdString(), std::ios::binary).write(bytes.constData(), bytes.size());
}

void TestCommandLineModels::freshModelsScoreAnyPicture_data()
{
    QTest::addColumn<QStringList>("model");
    QTest::addColumn<int>("size");
    QTest::newRow("small_cnn") << QStringList{"small_cnn"} << 28;
    QTest::newRow("mlp") << QStringList{"mlp"} << 28;
    QTest::newRow("small_cnn, own size") << QStringList{"small_cnn", "--set", "height=20",    "--set",
                                                        "width=20",  "--set", "in_channels=1"}
                                         << 20;
    QTest::newRow("densenet121") << QStringList{"densenet121"} << 224;
    QTest::newRow("efficientnet_lite1") << QStringList{"efficientnet_lite1"} << 240;
    QTest::newRow("mobilenet_v3_small") << QStringList{"mobilenet_v3_small"} << 224;
}

void TestCommandLineModels::freshModelsScoreAnyPicture()
{
    QFETCH(QStringList, model);
    QFETCH(int, size);
    write("picture.ppm", "P6\n31 43\n255\n" + QByteArray(31 * 43 * 3, 'x'));
    const ProcessOutcome made = cli(QStringList{"new"} + model + QStringList{"--classes", "3", "--out", at("m")});
    QVERIFY2(made.exitCode == 0, made.err.constData());
    const ProcessOutcome scored = cli({"score", at("m"), at("picture.ppm"), "--json", "--device", "cpu"});
    QVERIFY2(scored.exitCode == 0, scored.err.constData());
    QCOMPARE(jsonLines(scored.out).value(0).value("probabilities").toObject().size(), 3);
    const QJsonObject input = jsonLines(cli({"inspect", at("m"), "--json"}).out).value(0).value("input").toObject();
    QCOMPARE(input.value("height").toInt(), size);
    QCOMPARE(input.value("crop").toInt(), size);
}

void TestCommandLineModels::newRefuses_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("unknown argument") << QStringList{"densenet121", "--set", "depth=3"} << QByteArray("depth");
    QTest::newRow("text for a number") << QStringList{"mlp", "--set", "height=tall"} << QByteArray("tall");
    QTest::newRow("no whole patches") << QStringList{"vit_b_32", "--set", "image_size=100"} << QByteArray("100");
    QTest::newRow("too small") << QStringList{"small_cnn", "--set", "height=2"} << QByteArray("28×2");
}

void TestCommandLineModels::newRefuses()
{
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, says);
    const ProcessOutcome made = cli(QStringList{"new"} + arguments + QStringList{"--classes", "2", "--out", at("m")});
    QCOMPARE(made.exitCode, 1);
    QVERIFY2(made.err.startsWith("InvalidModelDirectoryError: ") && made.err.contains(says), made.err.constData());
    QVERIFY(!QFile::exists(at("m")));
    QVERIFY(QDir(m_folder->path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).isEmpty());
}

void TestCommandLineModels::inspectsAModelDirectory()
{
    QCOMPARE(cli({"new", "resnet18", "--classes", "5", "--out", at("m")}).exitCode, 0);
    const QJsonObject seen = jsonLines(cli({"inspect", at("m"), "--json"}).out).value(0);
    QCOMPARE(seen.value("format").toString(), QStringLiteral("trainwright-model"));
    QCOMPARE(seen.value("architecture").toString(), QStringLiteral("resnet18"));
    QCOMPARE(seen.value("tensors").toArray().size(), 122);
    QCOMPARE(seen.value("parameters").toInteger(), 11179077); // 11176512 without a head, 513·5 in it
    qint64 total = 0;
    QJsonObject layers;
    for (const QJsonValue &layer : seen.value("layers").toArray()) {
        total += layer["parameters"].toInteger();
        layers.insert(layer["name"].toString(), layer["parameters"]);
    }
    QCOMPARE(total, seen.value("parameters").toInteger());
    QCOMPARE(layers.value("fc").toInt(), 513 * 5);
    QCOMPARE(layers.value("layer1.0.bn1").toInt(), 128); // its running statistics are no parameters
    QCOMPARE(seen.value("classes").toArray().size(), 5);
    QCOMPARE(seen.value("weights").toObject().value("pth").toString().size(), 64);
    QVERIFY(seen.value("training").isObject() && seen.value("warnings").toArray().isEmpty());
    const QByteArray text = cli({"inspect", at("m")}).out;
    for (const char *part : {"trainwright-model, resnet18", "classes (5): class0, class1", "input: 3 x 224 x 224",
                             "\"center_crop\"", "mean [0.485,0.456,0.406]", "11179077  parameters", "2565  fc\n"})
        QVERIFY2(text.contains(part), part);
    const QJsonObject file = jsonLines(cli({"inspect", at("m/weights.pth"), "--json", "--values"}).out).value(0);
    QCOMPARE(file.value("architecture").toString(), QStringLiteral("resnet18"));
    QVERIFY(file.value("notes").toArray().first().toString().contains("all 122 names and shapes agree"));
    QVERIFY(!file.contains("classes"));
    QCOMPARE(file.value("parameters"), seen.value("parameters"));
    QVERIFY(file.value("tensors").toArray().first().toObject().contains("sum"));
}

void TestCommandLineModels::inspectNotesChangedWeights()
{
    QCOMPARE(cli({"new", "mlp", "--classes", "2", "--out", at("m")}).exitCode, 0);
    QCOMPARE(cli({"new", "mlp", "--classes", "2", "--seed", "9", "--out", at("n")}).exitCode, 0);
    write("m/weights.pth", content("n/weights.pth"));
    const ProcessOutcome seen = cli({"inspect", at("m"), "--json"});
    QCOMPARE(seen.exitCode, 0);
    const QJsonArray warnings = jsonLines(seen.out).value(0).value("warnings").toArray();
    QCOMPARE(warnings.size(), 1);
    QVERIFY(warnings.first().toString().startsWith("weights.pth is not the file"));
    QFile::remove(at("m/weights.pth"));
    QVERIFY(cli({"inspect", at("m")}).out.contains("warning: model.json states a weights.pth, which is not there."));
}

void TestCommandLineModels::inspectSaysWhatAFileIs_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("text") << QByteArray("epoch,loss\n1,0.5\n") << QByteArray("a text file");
    QTest::newRow("HDF5") << QByteArray("\x89HDF\r\n\x1a\n") + QByteArray(64, '\0') << QByteArray("HDF5");
    QTest::newRow("picture") << QByteArray("\x89PNG\r\n\x1a\n") + QByteArray(64, '\0') << QByteArray("a picture");
    QTest::newRow("gzip") << QByteArray("\x1f\x8b\x08") + QByteArray(64, '\0') << QByteArray("gzip");
    QTest::newRow("NumPy") << QByteArray("\x93NUMPY\x01") + QByteArray(64, '\0') << QByteArray("NumPy");
    QTest::newRow("empty") << QByteArray() << QByteArray("is empty");
}

void TestCommandLineModels::inspectSaysWhatAFileIs()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, says);
    write("file.pth", bytes);
    const ProcessOutcome seen = cli({"inspect", at("file.pth")});
    QCOMPARE(seen.exitCode, 1);
    QVERIFY2(seen.err.startsWith("InvalidModelDirectoryError: ") && seen.err.contains("file.pth")
                 && seen.err.contains(says),
             seen.err.constData());
    QCOMPARE(seen.err.count('\n'), 2); // the sentence and the hint
}

QString TestCommandLineModels::loadPipeline(const QString &path, bool scored) const
{
    const fs::path file = writeTinyPipeline(m_folder->path().toStdString(), 30, 1);
    QByteArray json = content("tiny.pipeline.json");
    json.replace(R"("basic-network", "component_version": 1, "parameters": {"input_channels": "1"})",
                 R"("load-model", "component_version": 1, "parameters": {"path": ")" + path.toUtf8() + "\"}");
    if (scored) {
        json.replace(R"({"id": "evaluate")",
                     R"({"id": "loaded", "component": "score-image-model", "component_version": 1,)"
                     R"( "parameters": {"device": "cpu"}}, {"id": "evaluate")");
        json.replace(R"({"from": "data.dataset")", R"({"from": "model.trained_model", "to": "loaded.trained_model"},)"
                                                   R"({"from": "convert.image_directory", "to": "loaded.dataset"},)"
                                                   R"({"from": "data.dataset")");
    }
    write("tiny.pipeline.json", json);
    return displayPath(file);
}

void TestCommandLineModels::aLoadedModelScoresAndTrainsOn()
{
    QCOMPARE(cli({"new", "small_cnn", "--classes", "3", "--set", "in_channels=1", "--out", at("m")}).exitCode, 0);
    const QString pipeline = loadPipeline(at("m"), true);
    const QStringList run{"run",         pipeline,
                          "--workspace", at("w"),
                          "--export",    "model.trained_model=" + at("copy"),
                          "--export",    "loaded.scored_dataset=" + at("table")};
    const ProcessOutcome ran = cli(run);
    QVERIFY2(ran.exitCode == 0, (ran.out.right(500) + ran.err).constData());
    QCOMPARE(content("copy/model.json"), content("m/model.json"));
    QCOMPARE(content("copy/weights.pth"), content("m/weights.pth"));
    QVERIFY(content("table/scored.csv").contains("class2"));
    // The second job needs neither the first one's run nor the model, as long as the path says the same.
    const ProcessOutcome again = cli({"run", pipeline, "--workspace", at("w"), "--json"});
    QCOMPARE(again.exitCode, 0);
    int reused = 0;
    for (const QJsonObject &line : ofKind(jsonLines(again.out), "node"))
        reused += line.value("state").toString().compare(QLatin1String("reused"), Qt::CaseInsensitive) == 0;
    QVERIFY2(reused >= 5, again.out.right(2000).constData());
}

void TestCommandLineModels::loadFaultsHaveTheirPlace_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QByteArray>("error");
    QTest::newRow("nothing chosen") << "" << QByteArray("NullOrEmptyError");
    QTest::newRow("missing") << "nowhere" << QByteArray("InvalidModelDirectoryError");
    QTest::newRow("no classes") << "bare.pth" << QByteArray("InvalidModelDirectoryError");
    QTest::newRow("another height") << "m" << QByteArray("InvalidModelDirectoryError");
}

/// validate: exit 2. run: 2 without a job where the file alone is wrong, 1 where the machine is.
void TestCommandLineModels::loadFaultsHaveTheirPlace()
{
    QFETCH(QString, path);
    QFETCH(QByteArray, error);
    QCOMPARE(cli({"new", "small_cnn", "--classes", "3", "--set", "in_channels=1", "--out", at("m")}).exitCode, 0);
    write("bare.pth", content("m/weights.pth"));
    write("m/model.json", content("m/model.json")
                              .replace("\"height\":28,\"width\":28,\"resize\":28,\"crop\":28",
                                       "\"height\":30,\"width\":30,\"resize\":30,\"crop\":30")
                              .replace("\"size\":28", "\"size\":30"));
    const QString pipeline = loadPipeline(path.isEmpty() ? QString() : m_folder->filePath(path), true);
    const ProcessOutcome checked = cli({"validate", pipeline});
    QCOMPARE(checked.exitCode, 2);
    const ProcessOutcome ran = cli({"run", pipeline, "--workspace", at("w")});
    QCOMPARE(ran.exitCode, path.isEmpty() ? 2 : 1);
    for (const QByteArray &said : {checked.err + checked.out, ran.err + ran.out}) {
        QVERIFY2(said.contains(error + ": ") && said.contains("model.path"), said.constData());
        QVERIFY2(path != QLatin1String("m") || said.contains("\"input.height\" is 30; it must be 28"),
                 said.constData());
    }
}

QTEST_GUILESS_MAIN(TestCommandLineModels)
#include "tst_commandlinemodels.moc"

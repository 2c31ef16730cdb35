// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/commandline.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;
using namespace tw::test;

/// Usage, lists, descriptions, and everything else that trains nothing.
class TestCommandLine : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void helpOfEveryCommand();
    void usage_data();
    void usage();
    void componentsAsJson();
    void describeOne();
    void referencePage();
    void validatesWithFacts();
    void allFaultsAtOnce();
    void settingsThatDoNotFit_data();
    void settingsThatDoNotFit();
    void preflightFaultsLeaveWithTwo();
    void jobsOfANewWorkspace();
    void dataOfAnIdxPair();
    void dataSources();
    void decodesAPicture();
    void freshModelsAreReproducible();
    void scoresAnIdxPair();
    void tableReplacesNoInput();

private:
    QString at(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    fs::path folder() const { return m_folder->path().toStdString(); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestCommandLine::helpOfEveryCommand()
{
    const ProcessOutcome overview = cli({"--help"});
    QCOMPARE(overview.exitCode, 0);
    for (const char *command : {"run", "validate", "components", "describe", "score", "new", "jobs", "logs", "devices",
                                "inspect", "decode", "data", "bench"}) {
        QVERIFY2(overview.out.contains(QByteArray("\n  ") + command), command);
        const ProcessOutcome help = cli({QLatin1String(command), "--help"});
        QCOMPARE(help.exitCode, 0);
        QVERIFY2(help.out.startsWith(QByteArray("Usage: trainwright-cli ") + command), command);
    }
    QVERIFY(cli({"--version"}).out.startsWith("trainwright-cli "));
}

void TestCommandLine::usage_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("no command") << QStringList{} << QByteArray();
    QTest::newRow("misspelt command") << QStringList{"valdate"} << QByteArray("Did you mean validate?");
    QTest::newRow("misspelt option") << QStringList{"run", "x", "--workspce", "y"}
                                     << QByteArray("Did you mean --workspace?");
    QTest::newRow("no file") << QStringList{"run"} << QByteArray("FILE");
    QTest::newRow("two files") << QStringList{"run", "a", "b"} << QByteArray("'b'");
    QTest::newRow("no value") << QStringList{"run", "a", "--set"} << QByteArray("--set");
    QTest::newRow("a value for a switch") << QStringList{"components", "--json=yes"} << QByteArray("--json");
    QTest::newRow("unknown component") << QStringList{"describe", "resnt"} << QByteArray("Did you mean resnet?");
    QTest::newRow("bad number") << QStringList{"new", "mlp", "--classes", "two", "--out", "x"} << QByteArray("two");
    QTest::newRow("jobs verb") << QStringList{"jobs", "kill"} << QByteArray("kill");
    QTest::newRow("bench what") << QStringList{"bench", "disk"} << QByteArray("disk");
}

void TestCommandLine::usage()
{
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, text);
    const ProcessOutcome outcome = cli(arguments);
    QCOMPARE(outcome.exitCode, 2);
    QVERIFY2(outcome.err.contains(text), outcome.err.constData());
}

void TestCommandLine::componentsAsJson()
{
    const ProcessOutcome outcome = cli({"components", "--json"});
    QCOMPARE(outcome.exitCode, 0);
    QStringList ids;
    for (const QJsonObject &line : jsonLines(outcome.out)) {
        ids.append(line.value("id").toString());
        QVERIFY(!line.value("name").toString().isEmpty());
        QVERIFY(line.value("parameters").isArray());
    }
    QVERIFY(ids.contains("train-pytorch-model"));
    QCOMPARE(ids.removeDuplicates(), 0);
}

void TestCommandLine::describeOne()
{
    const ProcessOutcome text = cli({"describe", "split-image-directory"});
    QCOMPARE(text.exitCode, 0);
    for (const char *word : {"image_directory1", "fraction", "default: 0.9", "stratified"})
        QVERIFY2(text.out.contains(word), word);
    const QJsonObject json = jsonLines(cli({"describe", "split-image-directory", "--json"}).out).value(0);
    QCOMPARE(json.value("parameters").toArray().first().toObject().value("default").toDouble(), 0.9);
}

void TestCommandLine::referencePage()
{
    const ProcessOutcome page = cli({"describe", "--all", "--markdown"});
    QCOMPARE(page.exitCode, 0);
    QVERIFY(page.out.startsWith("# Components\n"));
    QVERIFY(page.out.contains("| `learning_rate` | Learning rate |"));
}

void TestCommandLine::validatesWithFacts()
{
    const ProcessOutcome outcome = cli({"validate", displayPath(writeTinyPipeline(folder(), 60, 1))});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    QVERIFY2(outcome.out.contains("convert: 60 images \xc2\xb7 3 classes"), outcome.out.constData());
    QVERIFY(outcome.out.contains("split: 48 + 12 images"));
}

void TestCommandLine::allFaultsAtOnce()
{
    const QString file = displayPath(writeTinyPipeline(folder(), 60, 1));
    const ProcessOutcome outcome = cli({"run", file, "--workspace", at("ws"), "--set", "train.process_count_per_node=4",
                                        "--set", "transforms.resize=true", "--set", "transforms.center_crop=true",
                                        "--set", "transforms.size=20", "--set", "transforms.crop_size=24"});
    QCOMPARE(outcome.exitCode, 2);
    QVERIFY2(outcome.err.contains("InvalidResourceLayoutError: "), outcome.err.constData());
    QVERIFY2(outcome.err.contains("LessThanOrEqualToError: "), outcome.err.constData());
    QVERIFY(outcome.err.contains("(transforms.crop_size)"));
    QVERIFY2(!fs::exists(folder() / "ws" / "jobs") || fs::is_empty(folder() / "ws" / "jobs"), "no job is made");
}

void TestCommandLine::settingsThatDoNotFit_data()
{
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("offender");
    QTest::newRow("range") << "train.epochs=0" << QByteArray("GreaterThanError") << QByteArray("0");
    QTest::newRow("two bounds") << "split.fraction=1.5" << QByteArray("NotInRangeValueError") << QByteArray("1.5");
    QTest::newRow("kind") << "train.epochs=many" << QByteArray("InvalidPipelineError") << QByteArray("many");
    QTest::newRow("node") << "trian.epochs=1" << QByteArray("InvalidPipelineError") << QByteArray("trian");
    QTest::newRow("parameter") << "train.epoch=1" << QByteArray("InvalidPipelineError") << QByteArray("epoch");
    QTest::newRow("pipeline parameter") << "speed=1" << QByteArray("InvalidPipelineError") << QByteArray("speed");
    QTest::newRow("form") << "train.epochs" << QByteArray("InvalidPipelineError") << QByteArray("train.epochs");
}

void TestCommandLine::settingsThatDoNotFit()
{
    QFETCH(QString, setting);
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, offender);
    const ProcessOutcome outcome = cli({"validate", displayPath(writeTinyPipeline(folder(), 30, 1)), "--set", setting});
    QCOMPARE(outcome.exitCode, 2);
    QVERIFY2(outcome.err.startsWith(name + ": "), outcome.err.constData());
    QVERIFY2(outcome.err.contains(offender), outcome.err.constData());
}

void TestCommandLine::preflightFaultsLeaveWithTwo()
{
    const ProcessOutcome outcome = cli({"validate", displayPath(writeTinyPipeline(folder(), 60, 1)), "--set",
                                        "train.batch_size=49", "--set", "train.device=cuda:77"});
    QCOMPARE(outcome.exitCode, 2);
    QVERIFY2(outcome.err.contains("LessThanOrEqualToError: ") && outcome.err.contains("49"), outcome.err.constData());
    QVERIFY2(outcome.err.contains("DeviceUnavailableError: "), outcome.err.constData());
}

void TestCommandLine::jobsOfANewWorkspace()
{
    const ProcessOutcome none = cli({"jobs", "--workspace", at("ws")});
    QCOMPARE(none.exitCode, 0);
    QCOMPARE(none.out, QByteArray());
    QCOMPARE(cli({"jobs", "show", "20200101-000000-dead", "--workspace", at("ws")}).exitCode, 1);
    QCOMPARE(cli({"logs", "20200101-000000-dead", "--workspace", at("ws")}).exitCode, 1);
}

void TestCommandLine::dataOfAnIdxPair()
{
    writeTinyPipeline(folder(), 30, 1);
    const ProcessOutcome outcome = cli({"data", at("tiny-images-idx3-ubyte"), "--json", "--samples"});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    const QJsonObject json = jsonLines(outcome.out).value(0);
    QCOMPARE(json.value("images").toInt(), 30);
    QCOMPARE(json.value("classes").toArray().size(), 3);
    QCOMPARE(json.value("classes").toArray().first().toObject().value("count").toInt(), 10);
    QCOMPARE(json.value("samples").toArray().size(), 30);
    QCOMPARE(json.value("samples").toArray()[4].toArray()[1].toInt(), 1);
    const ProcessOutcome missing = cli({"data", at("nowhere"), "--json"});
    QCOMPARE(missing.exitCode, 1);
    QVERIFY2(missing.err.startsWith("InvalidDatasetError: ") && missing.err.contains("nowhere"),
             missing.err.constData());
}

void TestCommandLine::dataSources()
{
    const fs::path folder = m_folder->path().toStdString();
    fs::create_directories(folder / "set" / "val" / "a");
    std::ofstream(folder / "set" / "val" / "a" / "1.ppm", std::ios::binary) << "P6\n1 1\n255\nabc";
    std::ofstream(folder / "list.csv") << "path,kind\nset/val/a/1.ppm,x\n";
    const ProcessOutcome inside = cli({"data", at("set"), "--subfolder", "val", "--json", "--samples"});
    QCOMPARE(inside.exitCode, 0);
    QVERIFY2(inside.out.contains("\"samples\":[[\"a/1.ppm\",0]]"), inside.out.constData());
    const ProcessOutcome list = cli({"data", at("list.csv"), "--label-column", "kind", "--json"});
    QVERIFY2(list.out.contains("{\"name\":\"x\",\"count\":1}"), list.out.constData());
    const ProcessOutcome column = cli({"data", at("list.csv"), "--json"});
    QCOMPARE(column.exitCode, 1);
    QVERIFY2(column.err.contains("InvalidDatasetError") && column.err.contains("'kind'"), column.err.constData());
    const ProcessOutcome gone = cli({"data", at("set"), "--subfolder", "gone"});
    QCOMPARE(gone.exitCode, 1);
    QVERIFY(gone.err.contains("InvalidDatasetError") && gone.err.contains("'gone'"));
    for (const QString &endless : {QStringLiteral("/dev/zero"), at("set")}) {
        const ProcessOutcome refused = cli({"decode", endless});
        QCOMPARE(refused.exitCode, 1);
        QVERIFY2(refused.err.contains("InvalidImageError"), refused.err.constData());
    }
}

void TestCommandLine::decodesAPicture()
{
    std::ofstream(at("two.ppm").toStdString(), std::ios::binary) << "P6\n2 1\n255\n"
                                                                 << std::string("\xff\x00\x0a\x01\x02\x04", 6);
    const ProcessOutcome outcome = cli({"decode", at("two.ppm"), "--json", "--probe", "1,0"});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    QCOMPARE(outcome.out, QByteArray("{\"width\":2,\"height\":1,\"mean_rgb\":[128,1,7],\"probes\":[[1,2,4]]}\n"));
    QCOMPARE(cli({"decode", at("two.ppm"), "--probe", "2,0"}).exitCode, 2);
    std::ofstream(at("bad.jpg").toStdString()) << "no picture";
    const ProcessOutcome bad = cli({"decode", at("bad.jpg")});
    QCOMPARE(bad.exitCode, 1);
    QVERIFY2(bad.err.startsWith("InvalidImageError: ") && bad.err.contains("bad.jpg"), bad.err.constData());
}

void TestCommandLine::freshModelsAreReproducible()
{
    const QStringList common{"--classes", "2",        "--set", "hidden_sizes=[10]", "--set", "in_channels=1",
                             "--set",     "height=1", "--set", "width=2",           "--out"};
    for (const auto &[name, seed] : {std::pair("a", "3"), std::pair("b", "3"), std::pair("c", "4")}) {
        const ProcessOutcome made = cli(QStringList{"new", "mlp", "--seed", seed} + common + QStringList{at(name)});
        QVERIFY2(made.exitCode == 0, made.err.constData());
    }
    const auto look = [&](const char *name) {
        return jsonLines(cli({"inspect", at(name), "--json", "--values"}).out).value(0);
    };
    QCOMPARE(look("a"), look("b"));
    QVERIFY(look("a").value("tensors") != look("c").value("tensors"));
    qint64 parameters = 0;
    for (const QJsonValue &tensor : look("a").value("tensors").toArray()) {
        qint64 elements = 1;
        for (const QJsonValue &size : tensor.toObject().value("shape").toArray())
            elements *= size.toInteger();
        parameters += elements;
    }
    QCOMPARE(parameters, 52);
    const ProcessOutcome again = cli(QStringList{"new", "mlp"} + common + QStringList{at("a")});
    QCOMPARE(again.exitCode, 1);
    QVERIFY2(again.err.startsWith("FailedToWriteOutputsError: "), again.err.constData());
    QCOMPARE(cli({"new", "no_such_network", "--classes", "2", "--out", at("d")}).exitCode, 1);
}

void TestCommandLine::tableReplacesNoInput()
{
    writeTinyPipeline(folder(), 6, 1);
    const ProcessOutcome made = cli({"new", "small_cnn", "--classes", "3", "--set", "in_channels=1", "--set",
                                     "height=28", "--set", "width=28", "--out", at("model")});
    QVERIFY2(made.exitCode == 0, made.err.constData());
    const QString picture = at("tiny-images-idx3-ubyte");
    const auto content = [&] {
        QFile file(picture);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    const QByteArray before = content();
    QVERIFY(!before.isEmpty());
    for (const QString &target : {picture, at("model/model.json"), at("model/new.csv"), QStringLiteral("/dev/null")}) {
        const ProcessOutcome refused = cli({"score", at("model"), picture, "--csv", target});
        QCOMPARE(refused.exitCode, 2);
        QVERIFY2(refused.err.contains(target.toUtf8()), refused.err.constData());
    }
    QCOMPARE(content(), before);
    QCOMPARE(cli({"score", at("model"), picture, "--csv", at("table.csv")}).exitCode, 0);
    QVERIFY(QFile::exists(at("table.csv")));
}

void TestCommandLine::scoresAnIdxPair()
{
    writeTinyPipeline(folder(), 6, 1);
    const ProcessOutcome made = cli({"new", "small_cnn", "--classes", "3", "--set", "in_channels=1", "--set",
                                     "height=28", "--set", "width=28", "--out", at("model")});
    QVERIFY2(made.exitCode == 0, made.err.constData());
    QStringList labels;
    for (const QString &data : {m_folder->path(), at("tiny-images-idx3-ubyte")}) {
        const ProcessOutcome scored = cli({"score", at("model"), data, "--json", "--device", "cpu"});
        QVERIFY2(scored.exitCode == 0, scored.err.constData());
        const QList<QJsonObject> lines = jsonLines(scored.out);
        QCOMPARE(lines.size(), 6);
        QCOMPARE(lines[4].value("path").toString(), data + "/4");
        QCOMPARE(lines[4].value("probabilities").toObject().size(), 3);
        labels.append(QString::fromUtf8(scored.out).replace(data, QString()));
    }
    QCOMPARE(labels[0], labels[1]);
    // Class names that are no UTF-8 stay apart.
    QFile model(at("model/model.json"));
    QVERIFY(model.open(QIODevice::ReadWrite));
    const QByteArray text = model.readAll().replace(R"(["class0","class1",)",
                                                    R"([{"path":"caf%E8","raw":true},{"path":"caf%E9","raw":true},)");
    QVERIFY(model.seek(0) && model.write(text) == text.size());
    model.close();
    const ProcessOutcome latin = cli({"score", at("model"), m_folder->path(), "--json", "--device", "cpu"});
    QVERIFY2(latin.exitCode == 0, latin.err.constData());
    QCOMPARE(jsonLines(latin.out)[0].value("probabilities").toObject().keys(),
             (QStringList{"caf%E8", "caf%E9", "class2"}));
    QFile::remove(at("tiny-labels-idx1-ubyte"));
    const ProcessOutcome half = cli({"score", at("model"), m_folder->path()});
    QCOMPARE(half.exitCode, 1);
    QVERIFY2(half.err.startsWith("InvalidDatasetError: ") && half.err.count("Error: ") == 1, half.err.constData());
}

QTEST_GUILESS_MAIN(TestCommandLine)
#include "tst_commandline.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/metrics/csv.h"
#include "tests/support/commandline.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <fstream>
#include <sstream>

using namespace tw;
using namespace tw::test;

/// score and evaluate, on fresh models and small pictures.
class TestCommandLineEvaluate : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup() { fs::remove_all(m_folder->path().toStdString()); } // names that are not UTF-8 too
    void figuresAgreeWithTheScores();
    void textForPeople();
    void twoModels();
    void writesItsFiles();
    void help();
    void placesOfErrors_data();
    void placesOfErrors();
    void refused_data();
    void refused();
    void categoriesOfOthers();
    void unreadablePictures();
    void idxLabelsAreClassIds();
    void scoreTopK_data();
    void scoreTopK();
    void scoreTable();
    void scoreGoesOnAfterFaults();
    void oddClassNames();
    void interruptLeavesNothing_data();
    void interruptLeavesNothing();

private:
    QString at(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    QString model(const char *name) const { return m_models.filePath(QLatin1String(name)); }
    fs::path folder() const { return m_folder->path().toStdString(); }
    static void makeModel(const QString &place, int seed, const QByteArray &classes);
    /// `count` pictures in each of the folders.
    void pictures(const char *set, const std::vector<std::string> &classes, int count) const;

    QTemporaryDir m_models;
    std::unique_ptr<QTemporaryDir> m_folder;
};

static void writePicture(const fs::path &file, unsigned seed)
{
    fs::create_directories(file.parent_path());
    std::string pixels(std::size_t(16 * 16 * 3), '\0');
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = char((seed * 7919 + unsigned(i) * (seed % 13 + 3)) % 251);
    std::ofstream(file, std::ios::binary) << "P6\n16 16\n255\n" << pixels;
}

void TestCommandLineEvaluate::makeModel(const QString &place, int seed, const QByteArray &classes)
{
    const ProcessOutcome made = cli({"new", "small_cnn", "--classes", "3", "--seed", QString::number(seed), "--set",
                                     "in_channels=3", "--set", "height=16", "--set", "width=16", "--out", place});
    QVERIFY2(made.exitCode == 0, made.err.constData());
    QFile file(place + "/model.json");
    QVERIFY(file.open(QIODevice::ReadWrite));
    // Without operations: pictures of another size do not fit.
    const QByteArray text = file.readAll()
                                .replace(R"("class0","class1","class2")", classes)
                                .replace(R"("resize":16,"crop":16)", R"("resize":null,"crop":null)")
                                .replace(R"([{"op":"resize","size":16},{"op":"center_crop","size":16}])", "[]");
    QVERIFY(text.contains(classes) && text.contains(R"("transforms":[])"));
    QVERIFY(file.resize(0) && file.seek(0) && file.write(text) == text.size());
}

void TestCommandLineEvaluate::initTestCase()
{
    makeModel(model("first"), 1, R"("ant","bee","cow")");
    makeModel(model("second"), 5, R"("ant","bee","cow")");
}

void TestCommandLineEvaluate::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
}

void TestCommandLineEvaluate::pictures(const char *set, const std::vector<std::string> &classes, int count) const
{
    for (std::size_t c = 0; c < classes.size(); ++c)
        for (int i = 0; i < count; ++i)
            writePicture(folder() / set / classes[c] / (std::to_string(100 + i) + ".ppm"),
                         unsigned(c) * 50 + unsigned(i));
}

static QJsonObject jsonOf(const ProcessOutcome &outcome)
{
    return jsonLines(outcome.out).value(0);
}

void TestCommandLineEvaluate::figuresAgreeWithTheScores()
{
    pictures("set", {"ant", "bee", "cow"}, 12);
    const ProcessOutcome evaluated = cli({"evaluate", model("first"), at("set"), "--json", "--device", "cpu"});
    QVERIFY2(evaluated.exitCode == 0, evaluated.err.constData());
    QCOMPARE(evaluated.err, QByteArray());
    QCOMPARE(evaluated.out.count('\n'), 1);
    const QJsonObject json = jsonOf(evaluated);
    const QList<QJsonObject> scores =
        jsonLines(cli({"score", model("first"), at("set"), "--json", "--device", "cpu"}).out);
    QCOMPARE(scores.size(), 36);
    int right = 0;
    double loss = 0;
    for (const QJsonObject &score : scores) {
        const QString category = score["path"].toString().section(u'/', -2, -2);
        right += score["label"].toString() == category;
        loss -= std::log(score["probabilities"].toObject()[category].toDouble()) / 36;
    }
    QCOMPARE(json["Total"].toInt(), 36);
    QCOMPARE(json["Correct"].toInt(), right);
    QCOMPARE(json["Overall_Accuracy"].toDouble(), right / 36.0);
    QVERIFY(std::abs(json["Log_Loss"].toDouble() - loss) < 1e-6);
    const QJsonObject row = json["results"].toArray().first().toObject();
    QCOMPARE(row["classes"].toArray().size(), 3);
    QCOMPARE(row["curves"].toObject()["method"].toString(), QStringLiteral("exact"));
    QVERIFY(json["comparison"].isNull());
}

void TestCommandLineEvaluate::textForPeople()
{
    pictures("set", {"ant", "bee", "cow"}, 4);
    const ProcessOutcome outcome = cli({"evaluate", model("first"), at("set"), "--device", "cpu"});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    for (const char *text : {"Accuracy ", " of 12)", "Macro F1", "Log-loss", "  precision", "  ant\n", "  cow\n"})
        QVERIFY2(outcome.out.contains(text), outcome.out.constData());
}

void TestCommandLineEvaluate::twoModels()
{
    pictures("set", {"ant", "bee", "cow"}, 12);
    const QStringList command{"evaluate", model("first"), at("set"), "--compare", model("second"), "--device", "cpu"};
    const ProcessOutcome outcome = cli(command + QStringList("--json"));
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    const QJsonObject json = jsonOf(outcome), pairs = json["comparison"].toObject();
    const QJsonArray rows = json["results"].toArray();
    QCOMPARE(rows.size(), 2);
    QCOMPARE(rows[1].toObject()["input"].toString(), model("second"));
    QCOMPARE(pairs["images"].toInt(), 36);
    QCOMPARE(pairs["both_right"].toInt() + pairs["only_first_right"].toInt(), rows[0].toObject()["Correct"].toInt());
    QCOMPARE(pairs["both_right"].toInt() + pairs["only_second_right"].toInt(), rows[1].toObject()["Correct"].toInt());
    QVERIFY(pairs["lower"].toDouble() <= pairs["accuracy_difference"].toDouble());
    QVERIFY(pairs["upper"].toDouble() >= pairs["accuracy_difference"].toDouble());
    QVERIFY(pairs["changed_file"].isNull());
    const ProcessOutcome text = cli(command);
    QVERIFY2(text.out.contains("Second model less first: "), text.out.constData());
    QCOMPARE(cli(command + QStringList{"--compare", "x"}).exitCode, 2);
}

void TestCommandLineEvaluate::writesItsFiles()
{
    pictures("set", {"ant", "bee", "cow"}, 12);
    const QStringList command{"evaluate", model("first"), at("set"), "--compare", model("second"), "--out", at("out")};
    const ProcessOutcome outcome = cli(command);
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    const auto json = readJsonObject(folder() / "out" / "evaluation.json", errors::InvalidDataset);
    TW_VERIFY(json);
    const QJsonObject pairs = json->value("comparison").toObject();
    const auto csv = readFile(folder() / "out" / "changed.csv", errors::InvalidDataset);
    TW_VERIFY(csv);
    QCOMPARE(csv->count('\n'), 1 + pairs["only_first_right"].toInt() + pairs["only_second_right"].toInt());
    const ProcessOutcome again = cli(command);
    QCOMPARE(again.exitCode, 1);
    QVERIFY2(again.err.startsWith("FailedToWriteOutputsError: "), again.err.constData());
}

void TestCommandLineEvaluate::help()
{
    QVERIFY(cli({"--help"}).out.contains("\n  evaluate "));
    const ProcessOutcome outcome = cli({"evaluate", "--help"});
    QCOMPARE(outcome.exitCode, 0);
    QVERIFY2(outcome.out.startsWith("Usage: trainwright-cli evaluate [options] MODEL_DIR DATA\n"),
             outcome.out.constData());
    QCOMPARE(cli({"evaluate", "x"}).exitCode, 2);
    QCOMPARE(cli({"evaluate", "x", "y", "z"}).exitCode, 2);
}

void TestCommandLineEvaluate::placesOfErrors_data()
{
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("offender");
    QTest::newRow("batch_size") << "score.batch_size=0" << QByteArray("GreaterThanError: ") << QByteArray("0");
    QTest::newRow("device") << "score.device=cuda:77" << QByteArray("DeviceUnavailableError: ")
                            << QByteArray("cuda:77");
}

// The node and the parameter stand with the sentence.
void TestCommandLineEvaluate::placesOfErrors()
{
    QFETCH(QString, setting);
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, offender);
    const QString file = displayPath(writeTinyPipeline(folder(), 9, 1));
    const ProcessOutcome outcome = cli({"validate", file, "--set", setting});
    QCOMPARE(outcome.exitCode, 2);
    QVERIFY2(outcome.err.contains(name), outcome.err.constData());
    QVERIFY2(outcome.err.contains("(" + setting.section(u'=', 0, 0).toUtf8() + ")"), outcome.err.constData());
    QVERIFY2(outcome.err.contains(offender), outcome.err.constData());
}

void TestCommandLineEvaluate::refused_data()
{
    QTest::addColumn<QString>("modelName");
    QTest::addColumn<QString>("data");
    QTest::addColumn<QByteArray>("error");
    QTest::addColumn<QByteArray>("offender");
    QTest::newRow("no labels") << "first"
                               << "flat" << QByteArray("NotLabeledDatasetError: ") << QByteArray("flat");
    QTest::newRow("no data") << "first"
                             << "none" << QByteArray("InvalidDatasetError: ") << QByteArray("none");
    QTest::newRow("no model") << "none"
                              << "set" << QByteArray("InvalidModelDirectoryError: ") << QByteArray("none");
    QTest::newRow("other classes") << "first"
                                   << "others" << QByteArray("InvalidDatasetError: ") << QByteArray("'xerus'");
    QTest::newRow("other size") << "first"
                                << "large" << QByteArray("InvalidDatasetError: ")
                                << QByteArray("2 × 1 pixels; it takes 16 × 16");
}

void TestCommandLineEvaluate::refused()
{
    QFETCH(QString, modelName);
    QFETCH(QString, data);
    QFETCH(QByteArray, error);
    QFETCH(QByteArray, offender);
    pictures("set", {"ant", "bee"}, 1);
    pictures("others", {"xerus", "yak"}, 2);
    writePicture(folder() / "flat" / "1.ppm", 1);
    fs::create_directories(folder() / "large" / "ant");
    std::ofstream(folder() / "large" / "ant" / "1.ppm", std::ios::binary) << "P6\n2 1\n255\nabcdef";
    const ProcessOutcome outcome = cli({"evaluate", m_models.filePath(modelName), m_folder->filePath(data), "--json"});
    QCOMPARE(outcome.exitCode, 1);
    QCOMPARE(outcome.out, QByteArray());
    QVERIFY2(outcome.err.startsWith(error) && outcome.err.contains(offender), outcome.err.constData());
    QVERIFY2(outcome.err.count('\n') >= 2, "a hint on the next line");
}

void TestCommandLineEvaluate::categoriesOfOthers()
{
    pictures("set", {"ant", "bee", "cow", "yak"}, 3);
    const ProcessOutcome outcome = cli({"evaluate", model("first"), at("set"), "--json"});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    QVERIFY2(outcome.err.startsWith("Warning: ") && outcome.err.contains("'yak'"), outcome.err.constData());
    const QJsonObject json = jsonOf(outcome);
    QCOMPARE(json["Total"].toInt(), 12);
    QVERIFY(json["Log_Loss"].isNull());
}

void TestCommandLineEvaluate::unreadablePictures()
{
    pictures("set", {"ant", "bee", "cow"}, 8);
    std::ofstream(folder() / "set" / "ant" / "broken.ppm") << "P6\n16 16\n255\n";
    const ProcessOutcome outcome = cli({"evaluate", model("first"), at("set"), "--json"});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    QVERIFY2(outcome.err.contains("broken.ppm"), outcome.err.constData());
    QCOMPARE(jsonOf(outcome)["Total"].toInt(), 24);
    for (const char *name : {"ant/b1.ppm", "ant/b2.ppm", "bee/b3.ppm"})
        std::ofstream(folder() / "set" / name) << "P6\n16 16\n255\n";
    const ProcessOutcome lost = cli({"evaluate", model("first"), at("set"), "--json"});
    QCOMPARE(lost.exitCode, 1);
    QVERIFY2(lost.err.contains("InvalidDatasetError: ") && lost.err.contains("more than 10 %"), lost.err.constData());
}

void TestCommandLineEvaluate::idxLabelsAreClassIds()
{
    writeTinyPipeline(folder(), 9, 1);
    const ProcessOutcome made = cli({"new", "small_cnn", "--classes", "3", "--set", "in_channels=1", "--set",
                                     "height=28", "--set", "width=28", "--out", at("grey")});
    QVERIFY2(made.exitCode == 0, made.err.constData());
    const ProcessOutcome outcome = cli({"evaluate", at("grey"), at("tiny-images-idx3-ubyte"), "--json"});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    QVERIFY2(outcome.err.startsWith("Note: "), outcome.err.constData());
    const QJsonObject json = jsonOf(outcome);
    QCOMPARE(json["Total"].toInt(), 9);
    QCOMPARE(json["results"].toArray()[0].toObject()["classes"].toArray()[2].toObject()["support"].toInt(), 3);
}

void TestCommandLineEvaluate::scoreTopK_data()
{
    QTest::addColumn<QString>("k");
    QTest::addColumn<int>("shown");
    QTest::newRow("1") << "1" << 1;
    QTest::newRow("2") << "2" << 2;
    QTest::newRow("more than there are") << "50" << 3;
}

void TestCommandLineEvaluate::scoreTopK()
{
    QFETCH(QString, k);
    QFETCH(int, shown);
    writePicture(folder() / "a.ppm", 3);
    const QJsonObject all = jsonOf(cli({"score", model("first"), at("a.ppm"), "--json"}));
    const QJsonObject best = jsonOf(cli({"score", model("first"), at("a.ppm"), "--json", "--top-k", k}));
    QCOMPARE(all["probabilities"].toObject().size(), 3);
    const QJsonObject kept = best["probabilities"].toObject();
    QCOMPARE(kept.size(), shown);
    QCOMPARE(best["label"], all["label"]);
    QVERIFY(kept.contains(all["label"].toString()));
    const ProcessOutcome plain = cli({"score", model("first"), at("a.ppm"), "--top-k", k});
    QCOMPARE(plain.out.count(" %)"), shown);
    for (const char *bad : {"0", "-1", "many"}) {
        const ProcessOutcome refused = cli({"score", model("first"), at("a.ppm"), "--top-k", bad});
        QCOMPARE(refused.exitCode, 2);
        QVERIFY2(refused.err.contains(bad), refused.err.constData());
    }
}

void TestCommandLineEvaluate::scoreTable()
{
    pictures("set", {"ant", "bee"}, 2);
    writePicture(folder() / "a,b.ppm", 3);
    QCOMPARE(cli({"score", model("first"), at("set"), "--csv", at("t.csv"), "--logits"}).exitCode, 0);
    auto bytes = readFile(folder() / "t.csv", errors::InvalidDataset);
    TW_VERIFY(bytes);
    QCOMPARE(bytes->left(bytes->indexOf('\r')),
             QByteArray("path,category,Scored Probabilities_ant,Scored Probabilities_bee,Scored Probabilities_cow,"
                        "Scored Logits_ant,Scored Logits_bee,Scored Logits_cow,Scored Labels"));
    QCOMPARE(bytes->count('\n'), 5);
    QVERIFY2(bytes->contains("/set/bee/100.ppm,bee,0."), bytes->constData());
    QFile::setPermissions(at("t.csv"), QFile::ReadOwner | QFile::WriteOwner);
    // Unlabelled pictures among them: no category for any; the old table is replaced, with its mode.
    QCOMPARE(cli({"score", model("first"), at("set"), at("a,b.ppm"), "--csv", at("t.csv"), "--top-k", "1"}).exitCode,
             0);
    bytes = readFile(folder() / "t.csv", errors::InvalidDataset);
    TW_VERIFY(bytes);
    QVERIFY2(bytes->startsWith("path,Top 1 Label,Top 1 Probability,Scored Labels\r\n"), bytes->constData());
    QVERIFY2(bytes->contains("/a,b.ppm\","), bytes->constData());
    QCOMPARE(QFile::permissions(at("t.csv")) & QFile::ReadOther, QFile::Permissions());
    QCOMPARE(cli({"score", model("first"), at("set"), "--csv", at("none/t.csv")}).exitCode, 1);
    QCOMPARE(QDir(m_folder->path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
             (QStringList{"a,b.ppm", "set", "t.csv"}));
}

void TestCommandLineEvaluate::scoreGoesOnAfterFaults()
{
    writePicture(folder() / "1.ppm", 1);
    writePicture(folder() / "3.ppm", 3);
    std::ofstream(folder() / "2.jpg") << "no picture";
    std::ofstream(folder() / "small.ppm", std::ios::binary) << "P6\n2 1\n255\nabcdef";
    const ProcessOutcome outcome = cli(
        {"score", model("first"), at("1.ppm"), at("2.jpg"), at("gone.ppm"), at("small.ppm"), at("3.ppm"), "--json"});
    QCOMPARE(outcome.exitCode, 1);
    const QList<QJsonObject> lines = jsonLines(outcome.out);
    QCOMPARE(lines.size(), 2);
    QCOMPARE(lines[1]["path"].toString(), at("3.ppm"));
    QCOMPARE(outcome.err.count("InvalidImageError: "), 2);
    QCOMPARE(outcome.err.count("InvalidDatasetError: "), 1);
    QVERIFY2(outcome.err.contains("small.ppm' reaches the network with 2 × 1 pixels"), outcome.err.constData());
    QVERIFY2(outcome.err.contains("2.jpg") && outcome.err.contains("gone.ppm"), outcome.err.constData());
}

// Names that break lists, tables and shells come back as they are.
void TestCommandLineEvaluate::oddClassNames()
{
    const QByteArray names[] = {"=1+1", "comma,\"name\"", "caf\xe9"};
    const QByteArray rows[] = {names[0], names[2], names[1]}; // byte order
    makeModel(at("odd"), 2, R"("=1+1","comma,\"name\"",{"path":"caf%E9","raw":true})");
    pictures("set", {"=1+1", "comma,\"name\"", "caf\xe9"}, 3);
    QCOMPARE(cli({"score", at("odd"), at("set"), "--csv", at("t.csv")}).exitCode, 0);
    const auto bytes = readFile(folder() / "t.csv", errors::InvalidDataset);
    TW_VERIFY(bytes);
    std::istringstream in(bytes->toStdString());
    std::vector<std::string> fields;
    QVERIFY(readCsvRecord(in, fields));
    for (std::size_t i = 0; i < 3; ++i)
        QCOMPARE(QByteArray::fromStdString(fields[2 + i]), "Scored Probabilities_" + names[i]);
    for (int row = 0; row < 9; ++row) {
        QVERIFY(readCsvRecord(in, fields));
        QCOMPARE(QByteArray::fromStdString(fields[1]), rows[row / 3]);
    }
    const ProcessOutcome evaluated = cli({"evaluate", at("odd"), at("set"), "--json"});
    QVERIFY2(evaluated.exitCode == 0 && evaluated.err.isEmpty(), evaluated.err.constData());
    const QJsonArray classes = jsonOf(evaluated)["results"].toArray()[0].toObject()["classes"].toArray();
    for (qsizetype i = 0; i < 3; ++i) {
        QCOMPARE(bytesFromPath(pathFromJson(classes[i].toObject()["name"])), names[i]);
        QCOMPARE(classes[i].toObject()["support"].toInt(), 3);
    }
}

void TestCommandLineEvaluate::interruptLeavesNothing_data()
{
    QTest::addColumn<QStringList>("command");
    QTest::addColumn<int>("number");
    QTest::newRow("score, Ctrl-C") << QStringList{"score", "--csv"} << SIGINT;
    QTest::newRow("evaluate, SIGTERM") << QStringList{"evaluate", "--out"} << SIGTERM;
}

void TestCommandLineEvaluate::interruptLeavesNothing()
{
    QFETCH(QStringList, command);
    QFETCH(int, number);
    // Work for half a minute: the signal comes long before its end.
    pictures("set", {"ant", "bee", "cow"}, 100);
    const ProcessOutcome made = cli({"new", "resnet18", "--classes", "3", "--out", at("large")});
    QVERIFY2(made.exitCode == 0, made.err.constData());
    QFile file(at("large/model.json"));
    QVERIFY(file.open(QIODevice::ReadWrite));
    const QByteArray text = file.readAll().replace(R"("class0","class1","class2")", R"("ant","bee","cow")");
    QVERIFY(file.resize(0) && file.seek(0) && file.write(text) == text.size());
    file.close();
    QProcess process;
    const QStringList arguments{command[0], at("large"), at("set"), command[1], at("result")};
    process.start(cliProgram(), arguments);
    QVERIFY(process.waitForStarted());
    const auto isWorking = [&] {
        return QDir(m_folder->path()).entryList({".result.*"}, QDir::AllEntries | QDir::Hidden).size() == 1;
    };
    QTRY_VERIFY_WITH_TIMEOUT(isWorking() || process.state() == QProcess::NotRunning, 60000);
    ::kill(pid_t(process.processId()), number);
    QVERIFY(process.waitForFinished(60000));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 130);
    QCOMPARE(process.readAllStandardError(), QByteArray());
    QCOMPARE(QDir(m_folder->path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
             (QStringList{"large", "set"}));
}

QTEST_GUILESS_MAIN(TestCommandLineEvaluate)
#include "tst_commandlineevaluate.moc"

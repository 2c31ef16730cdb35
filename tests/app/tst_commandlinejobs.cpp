// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/commandline.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;
using namespace tw::test;

/// Jobs of a workspace on the command line: list, search, logs, reuse, delete, exports.
class TestCommandLineJobs : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void jobsAreFound_data();
    void jobsAreFound();
    void showSaysWhatTheJobIs();
    void pipelineParameterIsStoredWithItsValue();
    void logsOfNodesAndOfTheTraining();
    void logsOfAnUnknownProcess();
    void secondRunIsReused();
    void damagedModelIsTrainedAgain();
    void deletedJobBreaksNoOther();
    void exportsThatCannotBe_data();
    void exportsThatCannotBe();
    void machineFaultsLeaveWithOne();
    void pathsThatAreNotUtf8();
    void everyJsonLineIsAnObject();
    void decimalCommaLocale();
    void cleanupTestCase();

private:
    QString at(const char *name) const { return m_folder.filePath(QLatin1String(name)); }
    ProcessOutcome run(const QStringList &more = {})
    {
        return cli(QStringList{"run", m_file, "--workspace", at("ws"), "--json"} + more);
    }
    QList<QJsonObject> list(const QStringList &filters = {}) const
    {
        return jsonLines(cli(QStringList{"jobs", "list", "--json", "--workspace", at("ws")} + filters).out);
    }
    static QJsonObject nodeOf(const QJsonObject &job, const char *id);
    ProcessOutcome logs(const QStringList &more) const
    {
        return cli(QStringList{"logs", m_first, "--workspace", at("ws")} + more);
    }

    QTemporaryDir m_folder;
    QString m_file, m_first;
};

QJsonObject TestCommandLineJobs::nodeOf(const QJsonObject &job, const char *id)
{
    for (const QJsonValue &node : job.value("nodes").toArray())
        if (node.toObject().value("id").toString() == QLatin1String(id))
            return node.toObject();
    return {};
}

void TestCommandLineJobs::initTestCase()
{
    m_file = displayPath(writeTinyPipeline(m_folder.path().toStdString(), 30, 1));
    const ProcessOutcome done =
        run({"--experiment", "Flowers", "--name", "first try", "--description", "Does it learn at all?", "--tag",
             "owner=Zoë", "--tag", "kind=smoke", "--set", "rate=0.03"});
    QVERIFY2(done.exitCode == 0, done.err.constData());
    m_first = list().value(0).value("id").toString();
    QVERIFY(!m_first.isEmpty());
}

void TestCommandLineJobs::jobsAreFound_data()
{
    QTest::addColumn<QStringList>("filters");
    QTest::addColumn<int>("found");
    QTest::newRow("all") << QStringList{} << 1;
    QTest::newRow("experiment") << QStringList{"--experiment", "Flowers"} << 1;
    QTest::newRow("another experiment") << QStringList{"--experiment", "Flower"} << 0;
    QTest::newRow("name") << QStringList{"--search", "First"} << 1;
    QTest::newRow("description") << QStringList{"--search", "learn at"} << 1;
    QTest::newRow("tag") << QStringList{"--search", "owner=zoë"} << 1;
    QTest::newRow("words apart") << QStringList{"--search", "smoke first"} << 1;
    QTest::newRow("one word too many") << QStringList{"--search", "smoke second"} << 0;
    QTest::newRow("state") << QStringList{"--state", "completed"} << 1;
    QTest::newRow("either state") << QStringList{"--state", "Failed", "--state", "Completed"} << 1;
    QTest::newRow("another state") << QStringList{"--state", "Failed"} << 0;
}

void TestCommandLineJobs::jobsAreFound()
{
    QFETCH(QStringList, filters);
    QFETCH(int, found);
    QCOMPARE(list(filters).size(), found);
    const ProcessOutcome wrong = cli({"jobs", "list", "--state", "Done", "--workspace", at("ws")});
    QCOMPARE(wrong.exitCode, 2);
    QVERIFY(wrong.err.contains("'Done'") && wrong.err.contains("Completed"));
}

void TestCommandLineJobs::showSaysWhatTheJobIs()
{
    const QByteArray text = cli({"jobs", "show", m_first, "--workspace", at("ws")}).out;
    for (const char *part : {"experiment: Flowers\n", "name: first try\n", "description: Does it learn at all?\n",
                             "tags: [kind=smoke, owner=Zoë]\n"})
        QVERIFY2(text.contains(part), text.constData());
}

void TestCommandLineJobs::pipelineParameterIsStoredWithItsValue()
{
    QFile file(at("ws/jobs/") + m_first + "/pipeline.json");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY2(text.contains(R"({"id": "rate", "label": "Rate", "targets": ["train.learning_rate"], "value": 0.03})"),
             text.constData());
    QVERIFY2(text.contains("\"learning_rate\": 0.03,"), text.constData());
}

void TestCommandLineJobs::logsOfNodesAndOfTheTraining()
{
    const QByteArray all = logs({}).out;
    QVERIFY2(all.contains("==> train: 70_driver_log_0.txt <==\n") && all.contains("\ntrain: Epoch: 001/001"),
             all.constData());
    QVERIFY2(all.contains("==> data: std_log.txt <==\n") && all.contains(" INFO Data set: "), all.constData());
    const QByteArray train = logs({"--node", "train"}).out;
    QVERIFY2(train.contains("==> train: 70_driver_log_0.txt <==\n") && train.contains("\nEpoch: 001/001"),
             train.constData());
    QVERIFY(!train.contains("data: "));
    const QByteArray driver = logs({"--node", "train", "--rank", "0"}).out;
    QVERIFY(driver.contains("Epoch: 001/001") && !driver.contains("==>"));
}

void TestCommandLineJobs::logsOfAnUnknownProcess()
{
    const ProcessOutcome absent = logs({"--rank", "5"});
    QCOMPARE(absent.exitCode, 1);
    QCOMPARE(absent.out, QByteArray());
    QVERIFY2(absent.err.startsWith("NotInRangeValueError: There is no log of process 5.\n")
                 && absent.err.contains("Processes with a log: 0."),
             absent.err.constData());
    QVERIFY(logs({"--rank", "0", "--node", "data"}).err.contains("only training nodes"));
    QCOMPARE(logs({"--node", "nothing"}).exitCode, 2);
}

void TestCommandLineJobs::secondRunIsReused()
{
    const ProcessOutcome second = run({"--set", "rate=0.03"});
    QVERIFY2(second.exitCode == 0, second.err.constData());
    const QJsonObject job = list().value(0);
    for (const QJsonValue &node : job.value("nodes").toArray()) {
        QCOMPARE(node.toObject().value("state").toString(), QStringLiteral("Reused"));
        QCOMPARE(node.toObject().value("reused_from").toString(), m_first);
    }
    const QByteArray text = cli({"jobs", "show", job.value("id").toString(), "--workspace", at("ws")}).out;
    QVERIFY2(text.contains("Reused from job " + m_first.toUtf8()), text.constData());
}

void TestCommandLineJobs::damagedModelIsTrainedAgain()
{
    const QString weights = QStringLiteral("/nodes/train/outputs/trained_model/weights.pth");
    QVERIFY(QFile(at("ws/jobs/") + m_first + weights).resize(100)); // of both jobs: hard links
    const ProcessOutcome third = run({"--set", "rate=0.03", "--export", "train.trained_model=" + at("model")});
    QVERIFY2(third.exitCode == 0, third.err.constData());
    const QJsonObject job = list().value(0);
    QCOMPARE(nodeOf(job, "split").value("state").toString(), QStringLiteral("Reused"));
    for (const char *node : {"train", "score", "evaluate"})
        QCOMPARE(nodeOf(job, node).value("state").toString(), QStringLiteral("Completed"));
    QVERIFY(QFile(at("model/weights.pth")).size() > 100);
    const QByteArray log = cli({"logs", job.value("id").toString(), "--node", "train", "--workspace", at("ws")}).out;
    QVERIFY2(log.contains("Not reused from job " + m_first.toUtf8()) && log.contains("100 bytes instead of"),
             log.constData());
}

void TestCommandLineJobs::deletedJobBreaksNoOther()
{
    const ProcessOutcome gone = cli({"jobs", "delete", m_first, "--workspace", at("ws")});
    QVERIFY2(gone.exitCode == 0, gone.err.constData());
    QVERIFY(!QFile::exists(at("ws/jobs/") + m_first));
    QCOMPARE(cli({"jobs", "delete", m_first, "--workspace", at("ws")}).exitCode, 1);
    const ProcessOutcome again = run({"--set", "rate=0.03", "--export", "score.scored_dataset=" + at("table")});
    QVERIFY2(again.exitCode == 0, again.err.constData());
    QVERIFY(QFile::exists(at("table/scored.csv")));
    QCOMPARE(nodeOf(list().value(0), "train").value("state").toString(), QStringLiteral("Reused"));
}

void TestCommandLineJobs::exportsThatCannotBe_data()
{
    QTest::addColumn<QStringList>("exports");
    QTest::addColumn<QByteArray>("text");
    const QString model = QStringLiteral("train.trained_model="), table = QStringLiteral("score.scored_dataset=");
    QTest::newRow("one folder for two") << QStringList{model + "DIR/a", table + "DIR/a"} << QByteArray("meet in");
    QTest::newRow("nested") << QStringList{model + "DIR/a", table + "DIR/a/b"} << QByteArray("meet in");
    QTest::newRow("no disk") << QStringList{model + "/proc/a"} << QByteArray("Cannot write '/proc/a'");
    QTest::newRow("not empty") << QStringList{model + "DIR"} << QByteArray("not an empty folder");
    QTest::newRow("twice") << QStringList{model + "DIR/a", model + "DIR/b"} << QByteArray("exported twice");
    QTest::newRow("no such output") << QStringList{"train.weights=DIR/a"} << QByteArray("train.trained_model");
}

void TestCommandLineJobs::exportsThatCannotBe()
{
    QFETCH(QStringList, exports);
    QFETCH(QByteArray, text);
    QStringList options;
    for (QString &one : exports)
        options << "--export" << one.replace("DIR", m_folder.path());
    const qsizetype before = list().size();
    const ProcessOutcome refused = run(options);
    QCOMPARE(refused.exitCode, 2);
    QVERIFY2(refused.err.contains(text), refused.err.constData());
    QCOMPARE(list().size(), before);
}

/// What depends on the machine: a job is made and fails (1); asked beforehand, the file is not valid (2).
void TestCommandLineJobs::machineFaultsLeaveWithOne()
{
    const QStringList set{"--set", "train.device=cuda:77"};
    const ProcessOutcome ran = run(set);
    QCOMPARE(ran.exitCode, 1);
    QVERIFY2(ran.err.startsWith("DeviceUnavailableError: "), ran.err.constData());
    QCOMPARE(list().value(0).value("state").toString(), QStringLiteral("Failed"));
    QCOMPARE(cli(QStringList{"validate", m_file} + set).exitCode, 2);
    QCOMPARE(run({"--set", "train.epochs=0"}).exitCode, 2);
    QCOMPARE(cli({"validate", m_file, "--set", "train.epochs=0"}).exitCode, 2);
}

void TestCommandLineJobs::pathsThatAreNotUtf8()
{
    const std::string odd = m_folder.path().toStdString() + "/gr\xf6\xdf";
    fs::create_directories(odd + "/data");
    for (const char *name : {"tiny-images-idx3-ubyte", "tiny-labels-idx1-ubyte"})
        fs::copy_file(m_folder.path().toStdString() + '/' + name, odd + "/data/" + name);
    fs::copy_file(m_file.toStdString(), odd + "/p.pipeline.json");
    // A shell passes the bytes as they are.
    const std::string script =
        "cd \"$(printf '" + m_folder.path().toStdString() + "/gr\\366\\337')\" && P='" + cliProgram().toStdString()
        + "' && \"$P\" run \"$PWD/p.pipeline.json\" --workspace \"$PWD/ws\" --set "
          "data.path=\"$PWD/data/tiny-images-idx3-ubyte\" --export train.trained_model=\"$PWD/m\" "
          "&& J=$(\"$P\" jobs list --workspace \"$PWD/ws\" | cut -c1-20) "
          "&& \"$P\" logs \"$J\" --workspace \"$PWD/ws\" && test -f m/model.json && test -f ws/studio.db";
    const ProcessOutcome done =
        runProcess(QStringLiteral("/bin/bash"), {QStringLiteral("-c"), QString::fromStdString(script)}, 120000);
    QVERIFY2(done.exitCode == 0, (done.out + done.err).constData());
    QVERIFY2(done.out.contains("train: Epoch: 001/001"), done.out.constData());
}

void TestCommandLineJobs::everyJsonLineIsAnObject()
{
    const ProcessOutcome done = run({"--force", "--name", "two\nlines \"quoted\""});
    QVERIFY2(done.exitCode == 0, done.err.constData());
    const QList<QJsonObject> lines = jsonLines(done.out);
    QVERIFY(lines.size() > 20);
    for (const QJsonObject &line : lines)
        QVERIFY(!line.value("kind").toString().isEmpty());
    for (const QJsonObject &job : list())
        QVERIFY(!job.value("id").toString().isEmpty());
}

/// A German system writes 0,001: our files, lines and settings do not.
void TestCommandLineJobs::decimalCommaLocale()
{
    const ProcessOutcome made =
        runProcess(QStringLiteral("localedef"), {"-i", "de_DE", "-f", "UTF-8", at("de_DE.UTF-8")});
    if (!QFile::exists(at("de_DE.UTF-8/LC_NUMERIC")))
        QSKIP("a German locale cannot be made here");
    const QString script =
        QStringLiteral("export LOCPATH='%1' LC_ALL=de_DE.UTF-8; test \"$(locale decimal_point)\" = , "
                       "|| exit 9; '%2' describe '%3' --json --set %4")
            .arg(m_folder.path(), cliProgram(), m_file);
    const auto ran = [&](const char *setting) {
        return runProcess(QStringLiteral("/bin/bash"), {QStringLiteral("-c"), script.arg(QLatin1String(setting))});
    };
    const ProcessOutcome point = ran("rate=0.001");
    if (point.exitCode == 9)
        QSKIP("the German locale is not used here");
    QVERIFY2(point.exitCode == 0 && point.out.contains("\"value\":0.001"), (point.out + point.err).constData());
    const ProcessOutcome comma = ran("rate=0,001");
    QCOMPARE(comma.exitCode, 2);
    QVERIFY2(comma.err.contains("decimal point"), comma.err.constData());
}

/// QTemporaryDir leaves what is not UTF-8.
void TestCommandLineJobs::cleanupTestCase()
{
    std::error_code ignored;
    fs::remove_all(m_folder.path().toStdString(), ignored);
}

QTEST_GUILESS_MAIN(TestCommandLineJobs)
#include "tst_commandlinejobs.moc"

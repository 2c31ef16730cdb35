// SPDX-License-Identifier: GPL-3.0-or-later
// The place of an error on the command line: which exit code, whether a job is made, and what is said.
#include "tests/support/commandline.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;
using namespace tw::test;

class TestCommandLineErrors : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void places_data();
    void places();
    void faultsOfTheFileComeTogether();

private:
    QString at(const char *name) const { return m_folder.filePath(QString::fromUtf8(name)); }
    qsizetype jobs() const;

    QTemporaryDir m_folder;
};

/// Sixteen pictures of two classes and one that is cut short; data → convert → split.
void TestCommandLineErrors::initTestCase()
{
    const fs::path folder = m_folder.path().toStdString();
    for (const char *name : {"ant", "bee"}) {
        fs::create_directories(folder / "set" / name);
        for (int i = 0; i < 8; ++i)
            std::ofstream(folder / "set" / name / (std::to_string(i) + ".ppm"), std::ios::binary)
                << "P6\n2 2\n255\n"
                << std::string(12, char(20 * i));
    }
    std::ofstream(folder / "set" / "bee" / "torn.ppm", std::ios::binary) << "P6\n2 2\n255\nabc";
    std::ofstream(folder / "p.pipeline.json") << R"({"format": "trainwright-pipeline", "version": 1, "name": "P",
"nodes": [
{"id": "data", "component": "image-dataset", "component_version": 1, "parameters": {"path": ")"
                                              << (folder / "set").string() << R"("}},
{"id": "convert", "component": "convert-to-image-directory", "component_version": 1, "parameters": {}},
{"id": "split", "component": "split-image-directory", "component_version": 1, "parameters": {"stratified": false}}],
"connections": [
{"from": "data.dataset", "to": "convert.dataset"},
{"from": "convert.image_directory", "to": "split.image_directory"}]}
)";
}

qsizetype TestCommandLineErrors::jobs() const
{
    std::error_code none;
    const fs::path folder = at("ws").toStdString() + "/jobs";
    return fs::exists(folder, none) ? std::distance(fs::directory_iterator(folder), fs::directory_iterator()) : 0;
}

void TestCommandLineErrors::places_data()
{
    QTest::addColumn<QString>("setting");
    QTest::addColumn<int>("validated"); // exit code
    QTest::addColumn<int>("ran");
    QTest::addColumn<QByteArray>("error");
    QTest::addColumn<QString>("place"); // "node" or "node.parameter"
    QTest::addColumn<QByteArray>("offender");
    QTest::newRow("the file") << "split.fraction=1.5" << 2 << 2 << QByteArray("NotInRangeValueError")
                              << "split.fraction" << QByteArray("1.5");
    QTest::newRow("the data") << "data.path=" + at("nowhere") << 2 << 1 << QByteArray("InvalidDatasetError")
                              << "data.path" << QByteArray("nowhere");
    QTest::newRow("file and data") << "split.fraction=0.01" << 2 << 1 << QByteArray("NotInRangeValueError")
                                   << "split.fraction" << QByteArray("0.01");
    QTest::newRow("the run") << "convert.on_unreadable=fail" << 0 << 1 << QByteArray("InvalidDatasetError") << "convert"
                             << QByteArray("torn.ppm");
}

void TestCommandLineErrors::places()
{
    QFETCH(QString, setting);
    QFETCH(QByteArray, error);
    QFETCH(QString, place);
    QFETCH(QByteArray, offender);
    QFETCH(int, ran);
    const auto lineOf = [&](const QByteArray &err) {
        const qsizetype from = err.startsWith(error + ": ") ? 0 : err.indexOf('\n' + error + ": ") + 1;
        return err.mid(from, err.indexOf('\n', from) - from);
    };
    const ProcessOutcome validated = cli({"validate", at("p.pipeline.json"), "--set", setting});
    QTEST(validated.exitCode, "validated");
    const qsizetype before = jobs();
    const ProcessOutcome outcome =
        cli({"run", at("p.pipeline.json"), "--workspace", at("ws"), "--json", "--set", setting});
    QCOMPARE(outcome.exitCode, ran);
    QCOMPARE(jobs() - before, qsizetype(ran == 2 ? 0 : 1));
    for (const QByteArray &err : {validated.err, outcome.err}) {
        if (err.isEmpty() && validated.exitCode == 0)
            continue;
        const QByteArray line = lineOf(err);
        QVERIFY2(line.startsWith(error + ": ") && line.contains(offender), err.constData());
        QVERIFY2(line.endsWith(" (" + place.toUtf8() + ')'), line.constData());
        const QByteArray hint = err.mid(err.indexOf(line) + line.size() + 1);
        QVERIFY2(hint.left(hint.indexOf('\n')).endsWith('.'), err.constData());
    }
    const QList<QJsonObject> faults = ofKind(jsonLines(outcome.out), "error");
    QCOMPARE(faults.size(), ran == 2 ? 0 : 1);
    for (const QJsonObject &fault : faults) {
        QCOMPARE(fault.value("name").toString().toUtf8(), error);
        QCOMPARE(fault.value("node").toString(), place.section(u'.', 0, 0));
        QCOMPARE(fault.value("parameter").toString(), place.section(u'.', 1));
        QVERIFY(!fault.value("hint").toString().isEmpty());
    }
}

void TestCommandLineErrors::faultsOfTheFileComeTogether()
{
    const ProcessOutcome outcome = cli({"validate", at("p.pipeline.json"), "--set", "convert.class_names=a,a", "--set",
                                        "data.subfolder=../x", "--set", "split.fraction=0.5"});
    QCOMPARE(outcome.exitCode, 2);
    for (const char *said :
         {"DuplicateNameError: ", "(convert.class_names)", "InvalidDatasetError: ", "(data.subfolder)", "'../x'"})
        QVERIFY2(outcome.err.contains(said), outcome.err.constData());
    QCOMPARE(outcome.err.count("Error: "), 2);
}

QTEST_GUILESS_MAIN(TestCommandLineErrors)
#include "tst_commandlineerrors.moc"

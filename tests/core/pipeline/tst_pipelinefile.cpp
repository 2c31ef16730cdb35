// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/pipelinefile.h"

#include "core/base/files.h"
#include "core/pipeline/validator.h"
#include "tests/core/pipeline/fakecomponents.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QTest>

using namespace tw;
using namespace tw::test;

namespace {

fs::path golden(const char *name)
{
    return sourceFolder() / "tests/data/pipelines" / name;
}

/// A file with one node; `keys` are the node's keys, `rest` further keys of the file.
QByteArray fileWith(const QByteArray &keys, const QByteArray &rest = {})
{
    return "{\"format\":\"trainwright-pipeline\",\"version\":1,\"nodes\":[{" + keys + "}]" + rest + '}';
}

QByteArray trainWith(const QByteArray &parameters)
{
    return fileWith(R"("id":"t","component":"fake-train","component_version":2,"parameters":{)" + parameters + '}');
}

} // namespace

class TestPipelineFile : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void goldenFileIsReadInFull()
    {
        const auto loaded = loadPipelineFile(golden("golden.pipeline.json"), fakeComponents());
        TW_VERIFY(loaded);
        const Pipeline &pipeline = loaded->pipeline;
        QCOMPARE(pipeline.name, QString::fromUtf8("Blumen \"groß\" 花"));
        QCOMPARE(pipeline.nodes.size(), 5);
        QCOMPARE(pipeline.nodes[0].parameters.path("path"), pathFromBytes("/data/gr\xf6\xdf"
                                                                          "e"));
        QCOMPARE(pipeline.nodes[0].position, QPointF(-120.5, 40));
        QCOMPARE(pipeline.nodes[0].comment, QStringLiteral("first\nsecond line"));
        QVERIFY(pipeline.nodes[1].unknown.contains("color"));
        QCOMPARE(pipeline.nodes[2].parameters.integers("sizes"), QList<qlonglong>({64, 32}));
        QVERIFY(pipeline.nodes[2].parameters.contains("random_seed"));
        QVERIFY(!pipeline.nodes[2].parameters.isSet("random_seed"));
        QCOMPARE(pipeline.nodes[4].placeholderParameters.size(), 2);
        QCOMPARE(pipeline.parameters[0].targets.size(), 2);
        QCOMPARE(pipeline.connections[1].to.toText(), QStringLiteral("train1.training_dataset"));
        QCOMPARE(pipeline.unknown.keys(), QStringList({"author_note", "zoom"}));
        QCOMPARE(loaded->notes.size(), 1);
        QVERIFY(loaded->notes[0].contains("mystery1") && loaded->notes[0].contains("from-tomorrow"));
    }

    void goldenFileIsWrittenByteForByte()
    {
        const auto bytes = readFile(golden("golden.pipeline.json"), errors::Library);
        TW_VERIFY(bytes);
        const auto loaded = readPipeline(*bytes, fakeComponents());
        TW_VERIFY(loaded);
        QCOMPARE(writePipeline(loaded->pipeline, fakeComponents()), *bytes);
    }

    void unknownComponentIsAFaultNotALoss()
    {
        const auto loaded = loadPipelineFile(golden("golden.pipeline.json"), fakeComponents());
        TW_VERIFY(loaded);
        const QList<Error> faults = validate(loaded->pipeline, fakeComponents());
        QVERIFY(std::any_of(faults.begin(), faults.end(), [](const Error &fault) {
            return fault.nodeId == "mystery1" && fault.sentence().contains("from-tomorrow");
        }));
    }

    void olderComponentIsMigrated()
    {
        const auto loaded = loadPipelineFile(golden("version1-train.pipeline.json"), fakeComponents());
        TW_VERIFY(loaded);
        const PipelineNode &train = loaded->pipeline.nodes[0];
        QCOMPARE(train.componentVersion, 2);
        QCOMPARE(train.parameters, values({{"learning_rate", 0.5}, {"epochs", 10LL}}));
        QCOMPARE(loaded->notes.size(), 1);
        QVERIFY(loaded->notes[0].contains("from version 1 of component 'fake-train' to version 2"));
    }

    void roundTripOnDisk()
    {
        QTemporaryDir folder;
        const fs::path file = pathFromText(folder.filePath("p.pipeline.json"));
        TW_VERIFY(savePipelineFile(file, wholePipeline(), fakeComponents()));
        const auto loaded = loadPipelineFile(file, fakeComponents());
        TW_VERIFY(loaded);
        QCOMPARE(loaded->pipeline, wholePipeline());
        QVERIFY(loaded->notes.isEmpty());
    }

    void emptyPipelineRoundTrip()
    {
        const QByteArray bytes = writePipeline({}, fakeComponents());
        QVERIFY(bytes.endsWith("}\n"));
        const auto loaded = readPipeline(bytes, fakeComponents());
        TW_VERIFY(loaded);
        QCOMPARE(loaded->pipeline, Pipeline());
    }

    void onlyValuesThatDifferAreStored()
    {
        Pipeline pipeline;
        pipeline.nodes = {node("t", "fake-train", values({{"epochs", 5LL}, {"warmup", 1LL}}))};
        const QByteArray bytes = writePipeline(pipeline, fakeComponents());
        QVERIFY(!bytes.contains("epochs"));
        QVERIFY(bytes.contains("\"parameters\": {\"warmup\": 1}"));
        QCOMPARE(readPipeline(bytes, fakeComponents())->pipeline.nodes[0].parameters, values({{"warmup", 1LL}}));
    }

    void effectiveFileHoldsEveryValueAndReadsBack()
    {
        const QByteArray bytes = writeEffectivePipeline(wholePipeline(), fakeComponents());
        const QJsonArray nodes = QJsonDocument::fromJson(bytes).object().value("nodes").toArray();
        for (const QJsonValue &json : nodes) {
            const ComponentType *type = fakeComponents().find(json["component"].toString());
            QCOMPARE(json["parameters"].toObject().size(), type->schema.specs().size());
        }
        const auto loaded = readPipeline(bytes, fakeComponents());
        TW_VERIFY(loaded);
        QCOMPARE(loaded->pipeline, wholePipeline());
    }

    void englishLabelsBecomeIdsWithANote()
    {
        const auto loaded = readPipeline(
            fileWith(R"("id":"a","component":"fake-apply","parameters":{"mode":"For Training"})"), fakeComponents());
        TW_VERIFY(loaded);
        QCOMPARE(loaded->pipeline.nodes[0].parameters.text("mode"), QStringLiteral("for_training"));
        QCOMPARE(loaded->notes.size(), 1);
    }

    void valuesOutOfRangeAreKeptForTheChecks()
    {
        const auto loaded = readPipeline(trainWith(R"("epochs":0,"unheard_of":[1])"), fakeComponents());
        TW_VERIFY(loaded);
        const QList<Error> faults = validate(loaded->pipeline, fakeComponents());
        QStringList names;
        for (const Error &fault : faults)
            names.append(fault.parameter + ':' + fault.name);
        QVERIFY(names.contains("epochs:GreaterThanError"));
        QVERIFY(names.contains("unheard_of:InvalidPipelineError"));
        QVERIFY(writePipeline(loaded->pipeline, fakeComponents()).contains(R"("unheard_of": [1])"));
    }

    void refused_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QStringList>("parts");
        const auto row = [](const char *name, const QByteArray &bytes, const QStringList &parts) {
            QTest::newRow(name) << bytes << parts;
        };
        row("empty", "", {"not valid JSON", "line 1"});
        row("not JSON", "{\n\n  \"a\": oops\n}", {"not valid JSON", "line 3"});
        row("list", "[]", {"[]", "object"});
        row("other format", R"({"format":"other","version":1})", {"\"other\"", "trainwright-pipeline"});
        row("no format", "{}", {"missing"});
        row("no version", R"({"format":"trainwright-pipeline"})", {"version", "missing"});
        row("version text", R"({"format":"trainwright-pipeline","version":"1"})", {"version", "\"1\""});
        row("version fraction", R"({"format":"trainwright-pipeline","version":1.5})", {"version", "1.5"});
        row("version zero", R"({"format":"trainwright-pipeline","version":0})", {"version", "0"});
        row("newer version", R"({"format":"trainwright-pipeline","version":2})", {"version 2", "version 1"});
        row("name", R"({"format":"trainwright-pipeline","version":1,"name":3})", {"name", "3"});
        row("nodes", R"({"format":"trainwright-pipeline","version":1,"nodes":{}})", {"nodes", "{}"});
        row("node", R"({"format":"trainwright-pipeline","version":1,"nodes":[7]})", {"nodes[0]", "7"});
        row("node without id", fileWith(R"("component":"fake-model")"), {"nodes[0].id", "missing"});
        row("node id form", fileWith(R"("id":"A b","component":"fake-model")"), {"nodes[0].id", "A b"});
        row("twice the same id", fileWith(R"("id":"a","component":"x"},{"id":"a","component":"x")"),
            {"nodes[1].id", "\"a\"", "taken"});
        row("no component", fileWith(R"("id":"a")"), {"nodes[0].component", "missing"});
        row("component number", fileWith(R"("id":"a","component":1)"), {"nodes[0].component", "1"});
        row("component version", fileWith(R"("id":"a","component":"fake-model","component_version":-1)"),
            {"component_version", "-1"});
        row("newer component", fileWith(R"("id":"a","component":"fake-train","component_version":9)"),
            {"'fake-train'", "version 9", "version 2"});
        row("position", fileWith(R"("id":"a","component":"fake-model","position":[1])"), {"position", "[1]"});
        row("position far away", fileWith(R"("id":"a","component":"fake-model","position":[1e300,0])"), {"position"});
        row("comment", fileWith(R"("id":"a","component":"fake-model","comment":[])"), {"comment", "[]"});
        row("parameters", fileWith(R"("id":"a","component":"fake-model","parameters":[])"), {"parameters", "[]"});
        row("kind of a value", trainWith(R"("epochs":"many")"),
            {"nodes[0].parameters.epochs", "'t'", "many", "integer > 0"});
        row("fraction for an integer", trainWith(R"("epochs":1.5)"), {"epochs", "1.5"});
        row("choice", fileWith(R"("id":"a","component":"fake-apply","parameters":{"mode":"up"})"),
            {"mode", "\"up\"", "for_training, for_inference"});
        row("connection", fileWith(R"("id":"a","component":"fake-model")", R"(,"connections":[3])"),
            {"connections[0]", "3"});
        row("connection end", fileWith(R"("id":"a","component":"fake-model")", R"(,"connections":[{"from":"a"}])"),
            {"connections[0].from", "\"a\""});
        row("connection with two dots",
            fileWith(R"("id":"a","component":"fake-model")", R"(,"connections":[{"from":"a.b.c","to":"a.b"}])"),
            {"a.b.c"});
        row("parameter twice",
            fileWith(R"("id":"a","component":"fake-model")", R"(,"parameters":[{"id":"p"},{"id":"p"}])"),
            {"parameters[1].id", "\"p\""});
        row("parameter target",
            fileWith(R"("id":"a","component":"fake-model")", R"(,"parameters":[{"id":"p","targets":[1]}])"),
            {"parameters[0].targets[0]", "1"});
        row("deep nesting", fileWith("\"id\":\"a\",\"x\":" + QByteArray(5000, '[') + QByteArray(5000, ']')), {"JSON"});
        row("too large", QByteArray(64 << 20, ' '), {"67108864 bytes"});
    }
    void refused()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QStringList, parts);
        const auto loaded = readPipeline(bytes, fakeComponents());
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().name, QString(errors::InvalidPipeline));
        QVERIFY(!loaded.error().hint.isEmpty());
        for (const QString &part : parts)
            QVERIFY2(loaded.error().sentence().contains(part), qPrintable(loaded.error().sentence()));
    }

    void absentFileIsAnError()
    {
        const auto loaded = loadPipelineFile("/nonexistent.pipeline.json", fakeComponents());
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().name, QString(errors::InvalidPipeline));
        QVERIFY(loaded.error().sentence().contains("/nonexistent.pipeline.json"));
    }

    void addresses_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("node");
        QTest::newRow("whole") << "a.b"
                               << "a";
        QTest::newRow("no dot") << "ab"
                                << "";
        QTest::newRow("nothing before") << ".b"
                                        << "";
        QTest::newRow("nothing behind") << "a."
                                        << "";
        QTest::newRow("two dots") << "a.b.c"
                                  << "";
        QTest::newRow("empty") << ""
                               << "";
    }
    void addresses()
    {
        QFETCH(QString, text);
        QTEST(PortAddress::fromText(text).node, "node");
    }
};

QTEST_GUILESS_MAIN(TestPipelineFile)
#include "tst_pipelinefile.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/pipelinefile.h"
#include "core/pipeline/pipelineparameters.h"

#include "tests/core/pipeline/fakecomponents.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QLocale>
#include <QTest>

using namespace tw;
using namespace tw::test;

namespace {
Pipeline pipelineWithParameters()
{
    Pipeline pipeline = wholePipeline();
    pipeline.nodes.append(node("train2", "fake-train"));
    pipeline.nodes.append(node("mystery1", "from-tomorrow"));
    pipeline.parameters = {{"rate", "Rate", {{"train1", "learning_rate"}, {"train2", "learning_rate"}}},
                           {"mixed", "Mixed", {{"train1", "epochs"}, {"train2", "learning_rate"}}}};
    return pipeline;
}
} // namespace

class TestPipelineSettings : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void factsOfPipelineParameters()
    {
        Pipeline pipeline = pipelineWithParameters();
        pipeline.parameters[0].label.clear();
        pipeline.parameters[0].targets.append(PortAddress{"mystery1", "x"});
        auto facts = describePipelineParameters(pipeline, fakeComponents());
        QCOMPARE(facts.size(), 2);
        QCOMPARE(facts[0].label, QStringLiteral("Learning rate"));
        QCOMPARE(facts[0].bound.size(), 2);
        QCOMPARE(facts[0].bound[1].value, QVariant(0.001));
        QCOMPARE(facts[0].rangeText(), QStringLiteral("number > 0"));
        QVERIFY(!facts[0].differs);
        QCOMPARE(facts[1].rangeText(), QStringLiteral("integer > 0 and number > 0"));
        TW_VERIFY(applySetting(pipeline, "train2.learning_rate=0.5", fakeComponents()));
        QVERIFY(describePipelineParameters(pipeline, fakeComponents())[0].differs);
    }

    /// jobs/<id>/pipeline.json says what ran; opened again, the nodes say it.
    void effectiveFileHoldsTheValues()
    {
        Pipeline pipeline = wholePipeline();
        pipeline.parameters = {{"rate", "Rate", {{"train1", "learning_rate"}}, {{"owner", "me"}}}};
        TW_VERIFY(applySetting(pipeline, "rate=0.25", fakeComponents()));
        const QByteArray effective = writeEffectivePipeline(pipeline, fakeComponents());
        const QJsonObject stored =
            QJsonDocument::fromJson(effective).object().value("parameters").toArray().first().toObject();
        QCOMPARE(stored.value("value").toDouble(), 0.25);
        QCOMPARE(stored.value("owner").toString(), QStringLiteral("me"));
        const auto again = readPipeline(effective, fakeComponents());
        TW_VERIFY(again);
        QCOMPARE(again->pipeline, pipeline);
        QVERIFY(!writePipeline(again->pipeline, fakeComponents()).contains("\"value\""));
    }

    /// Numbers are those of the C locale whatever the system's are.
    void decimalCommaLocale()
    {
        const QLocale before;
        QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
        Pipeline pipeline = wholePipeline();
        const auto point = applySetting(pipeline, "train1.learning_rate=0.001", fakeComponents());
        const auto comma = applySetting(pipeline, "train1.learning_rate=0,5", fakeComponents());
        const auto groups = applySetting(pipeline, "train1.epochs=1.000", fakeComponents());
        const QByteArray written = writeEffectivePipeline(pipeline, fakeComponents());
        const auto read = readPipeline(written, fakeComponents());
        QLocale::setDefault(before);
        TW_VERIFY(point);
        QVERIFY(!comma.ok() && comma.error().hint.contains("decimal point"));
        QVERIFY(!groups.ok());
        QVERIFY2(written.contains("\"learning_rate\": 0.001"), written.constData());
        TW_VERIFY(read);
        QCOMPARE(read->pipeline.find("train1")->parameters.value("learning_rate").isValid(), false); // the default
    }

    void textThatIsNotUtf8()
    {
        Pipeline pipeline = wholePipeline();
        const auto refused = applySettingBytes(pipeline, "source1.label_column=gr\xf6\xdf", fakeComponents());
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().name, QString(errors::InvalidPipeline));
        QCOMPARE(refused.error().parameter, QStringLiteral("label_column"));
        QCOMPARE(pipeline, wholePipeline());
    }

    void hugeNumbersAreShownAsWritten_data()
    {
        QTest::addColumn<QString>("text");
        for (const char *text : {"99999999999999999999", "-9223372036854775809", "9223372036854775807x"})
            QTest::newRow(text) << QString(text);
    }
    void hugeNumbersAreShownAsWritten()
    {
        QFETCH(QString, text);
        Pipeline pipeline = wholePipeline();
        const auto refused = applySetting(pipeline, "train1.epochs=" + text, fakeComponents());
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().sentence().contains(text), qPrintable(refused.error().sentence()));
        TW_VERIFY(applySetting(pipeline, "train1.random_seed=9007199254740993", fakeComponents()));
        QVERIFY(writePipeline(pipeline, fakeComponents()).contains("9007199254740993"));
    }

    void oneParameter_data()
    {
        QTest::addColumn<QByteArray>("setting");
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("parameter");
        QTest::addColumn<QVariant>("value");
        QTest::newRow("int") << QByteArray("train1.epochs=30") << "train1"
                             << "epochs" << QVariant(30LL);
        QTest::newRow("automatic") << QByteArray("train1.random_seed=") << "train1"
                                   << "random_seed" << QVariant();
        QTest::newRow("label") << QByteArray("apply1.mode=For inference") << "apply1"
                               << "mode" << QVariant("for_inference");
        QTest::newRow("list") << QByteArray("train1.sizes=64,32") << "train1"
                              << "sizes" << QVariant(QVariantList{64LL, 32LL});
        QTest::newRow("equals sign in value") << QByteArray("source1.label_column=a=b") << "source1"
                                              << "label_column" << QVariant("a=b");
        QTest::newRow("path bytes") << QByteArray("source1.path=/gr\xf6\xdf"
                                                  "e")
                                    << "source1"
                                    << "path"
                                    << QVariant(QByteArray("/gr\xf6\xdf"
                                                           "e"));
    }
    void oneParameter()
    {
        QFETCH(QByteArray, setting);
        QFETCH(QString, node);
        QFETCH(QString, parameter);
        QFETCH(QVariant, value);
        Pipeline pipeline = pipelineWithParameters();
        TW_VERIFY(applySettingBytes(pipeline, setting, fakeComponents()));
        QVERIFY(pipeline.find(node)->parameters.contains(parameter));
        QCOMPARE(pipeline.find(node)->parameters.value(parameter), value);
    }

    void homeIsExpanded()
    {
        qputenv("HOME", "/home/someone");
        Pipeline pipeline = wholePipeline();
        TW_VERIFY(applySetting(pipeline, "source1.path=~/flowers", fakeComponents()));
        QCOMPARE(pipeline.find("source1")->parameters.path("path"), fs::path("/home/someone/flowers"));
    }

    void theDefaultIsNotStored()
    {
        Pipeline pipeline = wholePipeline();
        TW_VERIFY(applySetting(pipeline, "train1.epochs=30", fakeComponents()));
        TW_VERIFY(applySetting(pipeline, "train1.epochs=5", fakeComponents()));
        QCOMPARE(pipeline, wholePipeline());
    }

    void pipelineParameterSetsAllItsTargets()
    {
        Pipeline pipeline = pipelineWithParameters();
        TW_VERIFY(applySetting(pipeline, "rate=0.5", fakeComponents()));
        QCOMPARE(pipeline.find("train1")->parameters.real("learning_rate"), 0.5);
        QCOMPARE(pipeline.find("train2")->parameters.real("learning_rate"), 0.5);
    }

    void refused_data()
    {
        QTest::addColumn<QString>("setting");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("part");
        QTest::addColumn<QString>("hint");
        const QString invalid = errors::InvalidPipeline;
        QTest::newRow("no equals sign") << "train1.epochs" << invalid << "train1.epochs"
                                        << "NODE.PARAMETER=VALUE";
        QTest::newRow("nothing before") << "=3" << invalid << "=3"
                                        << "NODE.PARAMETER=VALUE";
        QTest::newRow("node") << "trian1.epochs=3" << invalid << "'trian1'"
                              << "'train1'";
        QTest::newRow("parameter") << "train1.epoch=3" << invalid << "'epoch'"
                                   << "'epochs'";
        QTest::newRow("pipeline parameter") << "rat=3" << invalid << "'rat'"
                                            << "'rate'";
        QTest::newRow("unknown component") << "mystery1.x=3" << invalid << "from-tomorrow"
                                           << "";
        QTest::newRow("range") << "train1.epochs=0" << QString(errors::GreaterThan) << "'epochs' is 0"
                               << "> 0";
        QTest::newRow("kind") << "train1.learning_rate=0,5" << invalid << "'0,5'"
                              << "decimal point";
        QTest::newRow("empty path") << "source1.path=" << QString(errors::NullOrEmpty) << "'path'"
                                    << "Choose a file";
        QTest::newRow("one target refuses") << "mixed=0.5" << invalid << "'epochs'"
                                            << "";
    }
    void refused()
    {
        QFETCH(QString, setting);
        QFETCH(QString, part);
        QFETCH(QString, hint);
        Pipeline pipeline = pipelineWithParameters();
        const auto applied = applySetting(pipeline, setting, fakeComponents());
        QVERIFY(!applied.ok());
        QTEST(applied.error().name, "name");
        QVERIFY2(applied.error().sentence().contains(part), qPrintable(applied.error().sentence()));
        QVERIFY2(applied.error().hintSentence().contains(hint), qPrintable(applied.error().hintSentence()));
        QCOMPARE(pipeline, pipelineWithParameters());
    }

    void errorsNameNodeAndParameter()
    {
        Pipeline pipeline = wholePipeline();
        const Error error = applySetting(pipeline, "train1.epochs=0", fakeComponents()).error();
        QCOMPARE(error.nodeId, QStringLiteral("train1"));
        QCOMPARE(error.parameter, QStringLiteral("epochs"));
    }
};

QTEST_GUILESS_MAIN(TestPipelineSettings)
#include "tst_pipelinesettings.moc"

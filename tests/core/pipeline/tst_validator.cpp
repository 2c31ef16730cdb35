// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/validator.h"

#include "tests/core/pipeline/fakecomponents.h"

#include <QTest>

#include <functional>

using namespace tw;
using namespace tw::test;

using Edit = std::function<void(Pipeline &)>;
Q_DECLARE_METATYPE(Edit)

class TestValidator : public QObject
{
    Q_OBJECT

    static QString listed(const QList<Error> &faults)
    {
        QStringList lines;
        for (const Error &fault : faults)
            lines.append(fault.nodeId + '/' + fault.parameter + ' ' + fault.toString());
        return lines.join('\n');
    }

private Q_SLOTS:
    void wholePipelineHasNoFaults() { QCOMPARE(listed(validate(wholePipeline(), fakeComponents())), QString()); }

    void oneFault_data()
    {
        QTest::addColumn<Edit>("edit");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("part");
        const auto row = [](const char *title, const char *name, const char *node, const char *part, const Edit &edit) {
            QTest::newRow(title) << edit << QString(name) << QString(node) << QString(part);
        };
        row("empty pipeline", errors::InvalidPipeline, "", "empty", [](Pipeline &p) { p = {}; });
        row("id form", errors::InvalidPipeline, "No", "'No'",
            [](Pipeline &p) { p.nodes.append(node("No", "fake-model")); });
        row("duplicate id", errors::DuplicateName, "model1", "'model1'",
            [](Pipeline &p) { p.nodes.append(node("model1", "fake-model")); });
        row("unknown component", errors::InvalidPipeline, "m", "'fake-modell'",
            [](Pipeline &p) { p.nodes.append(node("m", "fake-modell")); });
        row("range", errors::GreaterThan, "train1", "'epochs' is 0",
            [](Pipeline &p) { p.find("train1")->parameters.set("epochs", 0LL); });
        row("kind", errors::InvalidPipeline, "train1", "'epochs' is 'x'",
            [](Pipeline &p) { p.find("train1")->parameters.set("epochs", "x"); });
        row("required", errors::NullOrEmpty, "source1", "'path'",
            [](Pipeline &p) { p.find("source1")->parameters = {}; });
        row("unknown parameter", errors::InvalidPipeline, "train1", "'epoch'",
            [](Pipeline &p) { p.find("train1")->parameters.set("epoch", 1LL); });
        row("component's own check", errors::LessThanOrEqualTo, "train1", "must be ≤ 5",
            [](Pipeline &p) { p.find("train1")->parameters.set("warmup", 6LL); });
        row("missing input", errors::InvalidPipeline, "evaluate1", "Input 'scored_dataset' of node 'evaluate1'",
            [](Pipeline &p) { p.connections.removeLast(); });
        row("two wires into one input", errors::InvalidPipeline, "score1", "'dataset' of node 'score1' has 2",
            [](Pipeline &p) { p.connections.append(wire("apply1.image_directory", "score1.dataset")); });
        row("port types", errors::InvalidPipeline, "apply1",
            "Output 'image_directory' of 'convert1' gives ImageDirectory; input 'transformation' of 'apply1' takes "
            "TransformationDirectory.",
            [](Pipeline &p) {
                p.connections[3].from = {"convert1", "image_directory"};
            });
        row("any is not a wildcard", errors::InvalidPipeline, "split1", "gives AnyDirectory", [](Pipeline &p) {
            p.connections[1].from = {"source1", "dataset"};
        });
        row("unknown output", errors::InvalidPipeline, "split1", "output 'third'",
            [](Pipeline &p) { p.connections[8].from.port = "third"; });
        row("input used as output", errors::InvalidPipeline, "train1", "output 'training_dataset'", [](Pipeline &p) {
            p.connections.append(wire("train1.training_dataset", "evaluate1.scored_dataset_to_compare"));
        });
        row("unknown input", errors::InvalidPipeline, "evaluate1", "input 'third'",
            [](Pipeline &p) { p.connections.append(wire("score1.scored_dataset", "evaluate1.third")); });
        row("source does not exist", errors::InvalidPipeline, "evaluate1", "'score9'", [](Pipeline &p) {
            p.connections.append(wire("score9.scored_dataset", "evaluate1.scored_dataset_to_compare"));
        });
        row("target does not exist", errors::InvalidPipeline, "score1", "'evaluate9'",
            [](Pipeline &p) { p.connections.append(wire("score1.scored_dataset", "evaluate9.scored_dataset")); });
        row("cycle of two", errors::InvalidPipeline, "apply1", "apply1 → apply2 → apply1", [](Pipeline &p) {
            p.nodes.append(node("apply2", "fake-apply", values({{"mode", "for_training"}})));
            p.connections.append(wire("transform1.transformation", "apply2.transformation"));
            p.connections.append(wire("apply1.image_directory", "apply2.image_directory"));
            p.connections[2].from = {"apply2", "image_directory"};
        });
        row("cycle of one", errors::InvalidPipeline, "apply1", "apply1 → apply1", [](Pipeline &p) {
            p.connections[2].from = {"apply1", "image_directory"};
        });
        row("parameter id form", errors::InvalidPipeline, "", "'A'", [](Pipeline &p) {
            p.parameters = {{"A", "", {{"train1", "epochs"}}}};
        });
        row("parameter twice", errors::DuplicateName, "", "'a'", [](Pipeline &p) {
            p.parameters = {{"a", "", {{"train1", "epochs"}}}, {"a", "", {{"train1", "epochs"}}}};
        });
        row("parameter without target", errors::InvalidPipeline, "", "sets nothing", [](Pipeline &p) {
            p.parameters = {{"a", "", {}}};
        });
        row("parameter bound twice", errors::DuplicateName, "train1", "'train1.epochs' is set by", [](Pipeline &p) {
            p.parameters = {{"a", "", {{"train1", "epochs"}}}, {"b", "", {{"train1", "epochs"}}}};
        });
        row("parameter of two kinds", errors::InvalidPipeline, "split1", "(number in (0, 1)), which take different",
            [](Pipeline &p) {
                p.parameters = {{"a", "", {{"train1", "epochs"}, {"split1", "fraction"}}}};
            });
        row("parameter without a common range", errors::NotInRangeValue, "split1", "number ≥ 1 and number in (0, 1)",
            [](Pipeline &p) {
                p.nodes.append(node("factor1", "fake-factor"));
                p.parameters = {{"a", "", {{"factor1", "factor"}, {"split1", "fraction"}}}};
            });
        row("parameter without a common choice", errors::InvalidPipeline, "factor1", "take different", [](Pipeline &p) {
            p.nodes.append(node("factor1", "fake-factor"));
            p.parameters = {{"a", "", {{"apply1", "mode"}, {"factor1", "mode"}}}};
        });
        row("parameter of an absent node", errors::InvalidPipeline, "", "'train9.epochs'", [](Pipeline &p) {
            p.parameters = {{"a", "", {{"train9", "epochs"}}}};
        });
        row("absent parameter", errors::InvalidPipeline, "train1", "'train1.epoch'", [](Pipeline &p) {
            p.parameters = {{"a", "", {{"train1", "epoch"}}}};
        });
    }
    void oneFault()
    {
        QFETCH(Edit, edit);
        QFETCH(QString, part);
        Pipeline pipeline = wholePipeline();
        edit(pipeline);
        const QList<Error> faults = validate(pipeline, fakeComponents());
        QVERIFY2(faults.size() == 1, qPrintable(listed(faults)));
        QTEST(faults[0].name, "name");
        QTEST(faults[0].nodeId, "node");
        QVERIFY2(faults[0].sentence().contains(part), qPrintable(faults[0].sentence()));
        QVERIFY(!faults[0].sentence().contains('%') && !faults[0].hintSentence().contains('%'));
    }

    void allFaultsAtOnce()
    {
        Pipeline pipeline = wholePipeline();
        pipeline.find("train1")->parameters = values({{"epochs", 0LL}, {"learning_rate", -1.0}});
        pipeline.find("source1")->parameters = {};
        pipeline.connections.removeLast();
        QCOMPARE(validate(pipeline, fakeComponents()).size(), 4);
    }

    void wiresOfUnknownComponentsAreNotJudged()
    {
        Pipeline pipeline = wholePipeline();
        pipeline.nodes.append(node("mystery1", "from-tomorrow"));
        pipeline.connections.append(wire("score1.scored_dataset", "mystery1.anything"));
        pipeline.connections.append(wire("mystery1.more", "evaluate1.scored_dataset_to_compare"));
        QCOMPARE(validate(pipeline, fakeComponents()).size(), 1);
    }

    void separateCyclesAreNamedSeparately()
    {
        Pipeline pipeline;
        for (const char *id : {"a", "b", "c", "d", "e"})
            pipeline.nodes.append(node(id, "from-tomorrow"));
        pipeline.connections = {wire("a.x", "b.x"), wire("b.x", "a.x"), wire("b.y", "c.x"),
                                wire("c.x", "d.x"), wire("d.x", "e.x"), wire("e.x", "d.y")};
        const QString faults = listed(validate(pipeline, fakeComponents()));
        QVERIFY2(faults.contains("a → b → a"), qPrintable(faults));
        QVERIFY2(faults.contains("d → e → d"), qPrintable(faults));
        QCOMPARE(faults.count("cycle"), 2);
    }

    void connectionFaults_data()
    {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("part");
        QTest::newRow("free input") << "score1.scored_dataset"
                                    << "evaluate1.scored_dataset_to_compare"
                                    << "";
        QTest::newRow("wired input is replaced") << "apply1.image_directory"
                                                 << "score1.dataset"
                                                 << "";
        QTest::newRow("replaced wire opens the cycle") << "convert1.image_directory"
                                                       << "apply1.image_directory"
                                                       << "";
        QTest::newRow("type") << "model1.untrained_model"
                              << "score1.dataset"
                              << "takes ImageDirectory";
        QTest::newRow("cycle") << "apply1.image_directory"
                               << "split1.image_directory"
                               << "split1 → apply1 → split1";
        QTest::newRow("itself") << "apply1.image_directory"
                                << "apply1.image_directory"
                                << "apply1 → apply1";
        QTest::newRow("no output") << "model1.x"
                                   << "score1.dataset"
                                   << "output 'x'";
        QTest::newRow("no input") << "apply1.image_directory"
                                  << "score1.x"
                                  << "input 'x'";
        QTest::newRow("no source") << "absent.x"
                                   << "score1.dataset"
                                   << "'absent'";
        QTest::newRow("no target") << "apply1.image_directory"
                                   << "absent.x"
                                   << "'absent'";
        QTest::newRow("unknown component") << "apply1.image_directory"
                                           << "mystery1.x"
                                           << "from-tomorrow";
    }
    void connectionFaults()
    {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, part);
        Pipeline pipeline = wholePipeline();
        pipeline.nodes.append(node("mystery1", "from-tomorrow"));
        const auto fault =
            connectionFault(pipeline, PortAddress::fromText(from), PortAddress::fromText(to), fakeComponents());
        QCOMPARE(fault.has_value(), !part.isEmpty());
        if (fault)
            QVERIFY2(fault->sentence().contains(part), qPrintable(fault->sentence()));
    }

    void manyNodesInOneChain()
    {
        Pipeline pipeline;
        for (int i = 0; i < 20000; ++i) {
            pipeline.nodes.append(node(qPrintable(QStringLiteral("n%1").arg(i)), "from-tomorrow"));
            if (i > 0)
                pipeline.connections.append(
                    wire(qPrintable(QStringLiteral("n%1.x").arg(i - 1)), qPrintable(QStringLiteral("n%1.x").arg(i))));
        }
        QCOMPARE(validate(pipeline, fakeComponents()).size(), 20000); // no cycle, each component unknown
        pipeline.connections.append(wire("n19999.x", "n0.x"));
        QCOMPARE(validate(pipeline, fakeComponents()).size(), 20001);
    }
};

QTEST_GUILESS_MAIN(TestValidator)
#include "tst_validator.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/planner.h"

#include "tests/core/pipeline/fakecomponents.h"
#include "tests/support/testsupport.h"

#include <QTest>

#include <stdexcept>

using namespace tw;
using namespace tw::test;

namespace {

QStringList ids(const Plan &plan)
{
    QStringList found;
    for (const PlanNode &planned : plan.nodes)
        found.append(planned.id);
    return found;
}

/// The fake components with preflight functions that count images along the wires.
ComponentRegistry countingComponents()
{
    ComponentRegistry registry;
    for (const ComponentType *fake : fakeComponents().all()) {
        ComponentType type = *fake;
        if (type.id == "fake-source") {
            type.preflight = [](const PreflightRequest &request) {
                PreflightReply reply;
                if (request.values.path("path") == "/missing")
                    reply.errors.append(makeError(errors::InvalidDataset, "missing"));
                reply.outputs["dataset"].path = request.values.path("path");
                return reply;
            };
        } else if (type.id == "fake-convert") {
            type.preflight = [](const PreflightRequest &request) {
                PreflightReply reply;
                if (request.inputs["dataset"].path == fs::path("/throws"))
                    throw std::runtime_error("library said no");
                if (request.inputs["dataset"].path != fs::path("/missing"))
                    reply.outputs["image_directory"].images = 100;
                return reply;
            };
        } else if (type.id == "fake-split") {
            type.preflight = [](const PreflightRequest &request) {
                PreflightReply reply;
                if (const auto images = request.inputs["image_directory"].images)
                    reply.outputs["image_directory1"].images =
                        qint64(double(*images) * request.values.real("fraction"));
                reply.summary = reply.outputs.isEmpty() ? "unknown" : "known";
                return reply;
            };
        } else if (type.id == "fake-score") {
            type.preflight = [](const PreflightRequest &) {
                PreflightReply reply;
                reply.errors.append(makeError(errors::DeviceUnavailable, "no device").atParameter("device"));
                return reply;
            };
        }
        registry.add(type);
    }
    return registry;
}

QStringList listed(const PreflightOutcome &outcome)
{
    QStringList found;
    for (const Error &error : outcome.errors)
        found.append(error.nodeId + ':' + error.name);
    return found;
}

} // namespace

class TestPlanner : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void inputsAreMadeBeforeTheyAreUsed()
    {
        Pipeline pipeline = wholePipeline();
        std::reverse(pipeline.nodes.begin(), pipeline.nodes.end());
        const auto made = plan(pipeline, fakeComponents());
        TW_VERIFY(made);
        const QStringList order = ids(**made);
        QCOMPARE(order.size(), pipeline.nodes.size());
        for (const PipelineConnection &wired : pipeline.connections)
            QVERIFY2(order.indexOf(wired.from.node) < order.indexOf(wired.to.node), qPrintable(order.join(' ')));
        QCOMPARE((*made)->pipeline, pipeline);
    }

    void independentNodesKeepTheirOrder()
    {
        Pipeline pipeline;
        pipeline.nodes = {node("c", "fake-model"), node("a", "fake-model"), node("b", "fake-transform")};
        const auto made = plan(pipeline, fakeComponents());
        TW_VERIFY(made);
        QCOMPARE(ids(**made), QStringList({"c", "a", "b"}));
    }

    void trainingComesAsEarlyAsPossible()
    {
        Pipeline pipeline = wholePipeline();
        pipeline.nodes.prepend(node("convert2", "fake-convert"));
        pipeline.nodes.prepend(node("model2", "fake-model"));
        pipeline.connections.append(wire("source1.dataset", "convert2.dataset"));
        const auto made = plan(pipeline, fakeComponents());
        TW_VERIFY(made);
        QCOMPARE(ids(**made), QStringList({"source1", "convert1", "split1", "transform1", "apply1", "model1", "train1",
                                           "model2", "convert2", "score1", "evaluate1"}));
    }

    void upToTakesWhatIsNeededOnly()
    {
        const auto made = plan(wholePipeline(), fakeComponents(), {"apply1", "model1"});
        TW_VERIFY(made);
        QCOMPARE(ids(**made), QStringList({"source1", "convert1", "split1", "transform1", "apply1", "model1"}));
        QVERIFY((*made)->find("train1") == nullptr);
        QVERIFY(!plan(wholePipeline(), fakeComponents(), {"absent"}).ok());
    }

    void nodesCarryValuesAndInputs()
    {
        Pipeline pipeline = wholePipeline();
        pipeline.find("train1")->parameters.set("epochs", 30.0);
        const auto made = plan(pipeline, fakeComponents());
        TW_VERIFY(made);
        const PlanNode *train = (*made)->find("train1");
        QCOMPARE(train->component->id, QStringLiteral("fake-train"));
        QCOMPARE(train->values.value("epochs").typeId(), int(QMetaType::LongLong));
        QCOMPARE(train->values.integer("epochs"), 30);
        QCOMPARE(train->values.real("learning_rate"), 0.001);
        QCOMPARE(train->inputs.value("training_dataset").toText(), QStringLiteral("apply1.image_directory"));
        QCOMPARE(train->inputs.size(), 3);
        QVERIFY(!(*made)->find("evaluate1")->inputs.contains("scored_dataset_to_compare"));
    }

    void faultsAreNotPlanned()
    {
        Pipeline pipeline = wholePipeline();
        pipeline.find("train1")->parameters.set("epochs", 0LL);
        const auto made = plan(pipeline, fakeComponents());
        QVERIFY(!made.ok());
        QCOMPARE(made.error().nodeId, QStringLiteral("train1"));
    }

    void factsFlowAlongTheWires()
    {
        const ComponentRegistry registry = countingComponents();
        const auto made = plan(wholePipeline(), registry);
        TW_VERIFY(made);
        const PreflightOutcome outcome = preflight(**made);
        QCOMPARE(outcome.replies["split1"].outputs["image_directory1"].images, std::optional<qint64>(90));
        QCOMPARE(outcome.replies.size(), 9);
        QCOMPARE(listed(outcome), QStringList{"score1:DeviceUnavailableError"});
        QCOMPARE(outcome.errors[0].parameter, QStringLiteral("device"));
    }

    void errorsDoNotStopTheOtherChecks()
    {
        const ComponentRegistry registry = countingComponents();
        Pipeline pipeline = wholePipeline();
        pipeline.find("source1")->parameters.set("path", QByteArray("/missing"));
        const auto made = plan(pipeline, registry);
        TW_VERIFY(made);
        const PreflightOutcome outcome = preflight(**made);
        QCOMPARE(listed(outcome), QStringList({"source1:InvalidDatasetError", "score1:DeviceUnavailableError"}));
        QCOMPARE(outcome.replies["split1"].summary, QStringLiteral("unknown"));
    }

    void exceptionsBecomeErrors()
    {
        const ComponentRegistry registry = countingComponents();
        Pipeline pipeline = wholePipeline();
        pipeline.find("source1")->parameters.set("path", QByteArray("/throws"));
        const auto made = plan(pipeline, registry, {"convert1"});
        TW_VERIFY(made);
        const PreflightOutcome outcome = preflight(**made);
        QCOMPARE(listed(outcome), QStringList{"convert1:LibraryError"});
        QVERIFY(outcome.errors[0].sentence().contains("library said no"));
    }

    void cancelEndsTheChecks()
    {
        const auto made = plan(wholePipeline(), fakeComponents());
        TW_VERIFY(made);
        StopToken stop;
        stop.cancel = true;
        const PreflightOutcome outcome = preflight(**made, &stop);
        QCOMPARE(outcome.errors.size(), 1);
        QCOMPARE(outcome.errors[0].name, QString(errors::Canceled));
        QVERIFY(outcome.replies.isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestPlanner)
#include "tst_planner.moc"

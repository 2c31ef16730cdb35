// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/pipelinedocument.h"

#include "core/pipeline/validator.h"
#include "tests/core/pipeline/fakecomponents.h"

#include <QSignalSpy>
#include <QTest>

using namespace tw;
using namespace tw::test;

class TestPipelineDocument : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        m_document = std::make_unique<PipelineDocument>(fakeComponents());
        m_document->reset(wholePipeline());
    }
    void cleanup() { QCOMPARE(m_document->faults(), validate(m_document->pipeline(), fakeComponents())); }

    void emptyDocumentHasItsFault()
    {
        const PipelineDocument document(fakeComponents());
        QCOMPARE(document.faults().size(), 1);
        QVERIFY(m_document->faults().isEmpty());
    }

    void insertAndRemoveNode()
    {
        QSignalSpy inserted(m_document.get(), &PipelineDocument::nodeInserted);
        QSignalSpy removed(m_document.get(), &PipelineDocument::nodeRemoved);
        QSignalSpy disconnected(m_document.get(), &PipelineDocument::connectionRemoved);
        QSignalSpy changed(m_document.get(), &PipelineDocument::changed);
        m_document->insertNode(0, node("model2", "fake-model"));
        QCOMPARE(inserted.takeFirst().at(0).toString(), QStringLiteral("model2"));
        QCOMPARE(m_document->pipeline().nodes.first().id, QStringLiteral("model2"));
        m_document->insertNode(999, node("model3", "fake-model"));
        QCOMPARE(m_document->pipeline().nodes.last().id, QStringLiteral("model3"));
        m_document->removeNode(m_document->node("split1")->id);
        QCOMPARE(removed.takeFirst().at(0).toString(), QStringLiteral("split1"));
        QCOMPARE(disconnected.size(), 4);
        QCOMPARE(m_document->pipeline().connections.size(), 6);
        QCOMPARE(changed.size(), 3);
    }

    void absentThingsChangeNothing()
    {
        QSignalSpy changed(m_document.get(), &PipelineDocument::changed);
        m_document->removeNode("absent");
        m_document->moveNode("absent", {1, 1});
        m_document->renameNode("absent", "x");
        m_document->setComment("absent", "x");
        m_document->setParameter("absent", "x", 1, true);
        m_document->removeConnection(wire("a.b", "c.d"));
        m_document->setName("Whole");
        QCOMPARE(changed.size(), 0);
        QCOMPARE(m_document->pipeline(), wholePipeline());
        QVERIFY(m_document->componentOf("absent") == nullptr);
        QVERIFY(m_document->effectiveValues("absent").isEmpty());
    }

    void narrowSignalsForSmallEdits()
    {
        QSignalSpy moved(m_document.get(), &PipelineDocument::nodeMoved);
        QSignalSpy commented(m_document.get(), &PipelineDocument::commentChanged);
        QSignalSpy named(m_document.get(), &PipelineDocument::nameChanged);
        QSignalSpy changed(m_document.get(), &PipelineDocument::changed);
        m_document->moveNode("train1", {3, 4});
        m_document->moveNode("train1", {3, 4});
        m_document->setComment("train1", "slow");
        m_document->setName("Other");
        QCOMPARE(moved.size(), 1);
        QCOMPARE(commented.size(), 1);
        QCOMPARE(named.size(), 1);
        QCOMPARE(changed.size(), 3);
        QCOMPARE(m_document->node("train1")->position, QPointF(3, 4));
        QCOMPARE(m_document->node("train1")->comment, QStringLiteral("slow"));
    }

    void renameCarriesWiresAndPipelineParameters()
    {
        m_document->setPipelineParameters({{"rate", "Rate", {{"train1", "learning_rate"}}}});
        QSignalSpy renamed(m_document.get(), &PipelineDocument::nodeRenamed);
        m_document->renameNode(m_document->node("train1")->id, "fit");
        QCOMPARE(renamed.takeFirst(), QVariantList({"train1", "fit"}));
        QVERIFY(m_document->faults().isEmpty());
        QVERIFY(m_document->pipeline().into({"fit", "training_dataset"}) != nullptr);
        QCOMPARE(m_document->pipeline().parameters[0].targets[0].toText(), QStringLiteral("fit.learning_rate"));
    }

    void parametersAreNormalisedAndFaultsFollow()
    {
        QSignalSpy faults(m_document.get(), &PipelineDocument::faultsChanged);
        QSignalSpy parameter(m_document.get(), &PipelineDocument::parameterChanged);
        m_document->setParameter("train1", "epochs", 30.0, true);
        QCOMPARE(m_document->node("train1")->parameters.value("epochs").typeId(), int(QMetaType::LongLong));
        QCOMPARE(faults.size(), 0);
        m_document->setParameter("train1", "epochs", 0, true);
        QCOMPARE(m_document->effectiveValues("train1").integer("epochs"), 0);
        QCOMPARE(faults.size(), 1);
        QCOMPARE(m_document->faults()[0].parameter, QStringLiteral("epochs"));
        m_document->setParameter("train1", "epochs", {}, false);
        QVERIFY(!m_document->node("train1")->parameters.contains("epochs"));
        QCOMPARE(m_document->effectiveValues("train1").integer("epochs"), 5);
        QCOMPARE(faults.size(), 2);
        QCOMPARE(parameter.size(), 3);
    }

    void theDefaultIsNotStoredButAutomaticIs()
    {
        m_document->setParameter("train1", "epochs", 5, true);
        QVERIFY(!m_document->node("train1")->parameters.contains("epochs"));
        m_document->setParameter("train1", "random_seed", {}, true);
        QVERIFY(m_document->node("train1")->parameters.contains("random_seed"));
        QVERIFY(!m_document->effectiveValues("train1").isSet("random_seed"));
    }

    void connectionsComeAndGo()
    {
        const PipelineConnection extra = wire("score1.scored_dataset", "evaluate1.scored_dataset_to_compare");
        QSignalSpy inserted(m_document.get(), &PipelineDocument::connectionInserted);
        QSignalSpy removed(m_document.get(), &PipelineDocument::connectionRemoved);
        m_document->insertConnection(0, extra);
        QCOMPARE(m_document->pipeline().connections.first(), extra);
        QCOMPARE(inserted.size(), 1);
        m_document->removeConnection(m_document->pipeline().connections.first());
        QCOMPARE(removed.size(), 1);
        QCOMPARE(m_document->pipeline(), wholePipeline());
    }

private:
    std::unique_ptr<PipelineDocument> m_document;
};

QTEST_GUILESS_MAIN(TestPipelineDocument)
#include "tst_pipelinedocument.moc"

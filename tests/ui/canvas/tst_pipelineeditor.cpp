// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/pipelinefile.h"
#include "tests/ui/uitest.h"
#include "ui/canvas/pipelineeditor.h"

#include <QRandomGenerator>

using namespace tw;
using namespace tw::test;

class TestPipelineEditor : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_document = std::make_unique<PipelineDocument>(m_registry);
        m_document->reset(uiPipeline());
        m_editor = std::make_unique<PipelineEditor>(*m_document);
    }
    void cleanup()
    {
        m_editor.reset();
        m_document.reset();
    }

    void everyKindOfEditIsOneStepAndComesBack_data()
    {
        QTest::addColumn<int>("kind");
        const char *names[] = {"add",   "add connected", "remove", "remove wire", "move",      "connect", "parameter",
                               "reset", "rename",        "name",   "paste",       "duplicate", "lay out"};
        for (int i = 0; i < int(std::size(names)); ++i)
            QTest::newRow(names[i]) << i;
    }
    void everyKindOfEditIsOneStepAndComesBack()
    {
        QFETCH(int, kind);
        m_editor->setParameter({QStringLiteral("train1")}, QStringLiteral("epochs"), 9LL, m_editor->newGesture());
        const Pipeline before = m_editor->pipeline();
        const int steps = m_editor->undoStack().count();
        edit(kind);
        const Pipeline after = m_editor->pipeline();
        QVERIFY(before != after);
        QCOMPARE(m_editor->undoStack().count(), steps + 1);
        QVERIFY(!m_editor->undoStack().undoText().isEmpty());
        m_editor->undoStack().undo();
        QVERIFY(m_editor->pipeline() == before);
        m_editor->undoStack().redo();
        QVERIFY(m_editor->pipeline() == after);
    }

    void randomEditsUndoAndRedo_data()
    {
        QTest::addColumn<uint>("seed");
        for (uint seed = 1; seed <= 8; ++seed)
            QTest::addRow("seed %u", seed) << seed;
    }
    void randomEditsUndoAndRedo()
    {
        QFETCH(uint, seed);
        QRandomGenerator random(seed);
        const Pipeline original = m_editor->pipeline();
        for (int i = 0; i < 120; ++i)
            randomEdit(random);
        const Pipeline final = m_editor->pipeline();
        QUndoStack &stack = m_editor->undoStack();
        QVERIFY(stack.count() > 40);
        for (int round = 0; round < 2; ++round) {
            while (stack.canUndo())
                stack.undo();
            QCOMPARE(writePipeline(m_editor->pipeline(), m_registry), writePipeline(original, m_registry));
            QVERIFY(m_editor->pipeline() == original);
            while (stack.canRedo())
                stack.redo();
            QVERIFY(m_editor->pipeline() == final);
        }
    }

    void typingAndDraggingMerge()
    {
        const QStringList train{QStringLiteral("train1")};
        const int typing = m_editor->newGesture();
        for (const qlonglong value : {1LL, 12LL, 120LL})
            m_editor->setParameter(train, QStringLiteral("epochs"), value, typing);
        QCOMPARE(m_editor->undoStack().count(), 1);
        m_editor->setParameter(train, QStringLiteral("epochs"), 7LL, m_editor->newGesture());
        QCOMPARE(m_editor->undoStack().count(), 2);
        m_editor->undoStack().undo();
        QCOMPARE(m_document->effectiveValues(train.first()).integer("epochs"), 120);
        const int drag = m_editor->newGesture();
        m_editor->moveNodes({{train.first(), QPointF(16, 16)}}, drag);
        m_editor->moveNodes({{train.first(), QPointF(32, 32)}}, drag);
        QCOMPARE(m_editor->undoStack().count(), 2);
        // A drag back to where it began leaves nothing to undo.
        m_editor->moveNodes({{train.first(), QPointF(864, 0)}}, drag);
        QCOMPARE(m_editor->undoStack().count(), 1);
    }

    void defaultsAreNotStored()
    {
        const QStringList train{QStringLiteral("train1")};
        m_editor->setParameter(train, QStringLiteral("epochs"), 9LL, 1);
        QVERIFY(m_document->node(train.first())->parameters.contains(QStringLiteral("epochs")));
        m_editor->setParameter(train, QStringLiteral("epochs"), 5LL, 2);
        QVERIFY(!m_document->node(train.first())->parameters.contains(QStringLiteral("epochs")));
        // Automatic where the default is a number is a stored value of its own.
        m_editor->setParameter(train, QStringLiteral("seed"), QVariant(), 3);
        QVERIFY(m_document->node(train.first())->parameters.contains(QStringLiteral("seed")));
        QVERIFY(!m_document->effectiveValues(train.first()).isSet("seed"));
        // Setting what is there already is no step.
        const int steps = m_editor->undoStack().count();
        m_editor->setParameter(train, QStringLiteral("seed"), QVariant(), 4);
        QCOMPARE(m_editor->undoStack().count(), steps);
    }

    void secondWireReplacesInOneStep()
    {
        const Pipeline before = m_editor->pipeline();
        const auto refused = m_editor->connectPorts({QStringLiteral("convert1"), QStringLiteral("images")},
                                                    {QStringLiteral("train1"), QStringLiteral("images")});
        QVERIFY(!refused);
        QCOMPARE(m_editor->pipeline().connections.size(), before.connections.size());
        QCOMPARE(m_editor->undoStack().count(), 1);
        m_editor->undoStack().undo();
        QVERIFY(m_editor->pipeline() == before);
    }

    void refusedWires_data()
    {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("mentions");
        QTest::newRow("type") << "source1.dataset"
                              << "train1.images"
                              << "AnyDirectory";
        QTest::newRow("itself") << "filter1.images"
                                << "filter1.images"
                                << "filter1";
        QTest::newRow("unknown port") << "filter1.nothing"
                                      << "train1.images"
                                      << "nothing";
    }
    void refusedWires()
    {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, mentions);
        const Pipeline before = m_editor->pipeline();
        const auto refused = m_editor->connectPorts(PortAddress::fromText(from), PortAddress::fromText(to));
        QVERIFY(refused);
        QVERIFY2(refused->sentence().contains(mentions), qPrintable(refused->sentence()));
        QVERIFY(m_editor->pipeline() == before);
        QCOMPARE(m_editor->undoStack().count(), 0);
    }

    void ringsAreRefused()
    {
        const QString second = m_editor->addNode(QStringLiteral("test-filter"), {});
        const PortAddress out{second, QStringLiteral("images")};
        QVERIFY(!m_editor->connectPorts({QStringLiteral("filter1"), QStringLiteral("images")}, out));
        const auto ring = m_editor->connectPorts(out, {QStringLiteral("filter1"), QStringLiteral("images")});
        QVERIFY(ring);
        QVERIFY2(ring->sentence().contains(QStringLiteral("filter1")), qPrintable(ring->sentence()));
    }

    void renamingIsChecked()
    {
        const auto name = [this](const char *id) {
            return m_editor->renameNode(QStringLiteral("train1"), QLatin1String(id));
        };
        QCOMPARE(name("Bad Name").error().name, QLatin1String(errors::InvalidPipeline));
        QCOMPARE(name("model1").error().name, QLatin1String(errors::DuplicateName));
        TW_VERIFY(name("train1"));
        QCOMPARE(m_editor->undoStack().count(), 0);
        TW_VERIFY(name("final"));
        QVERIFY(m_editor->pipeline().into({QStringLiteral("final"), QStringLiteral("images")}));
    }

    void pasteGivesFreshIdsAndInnerWires()
    {
        const QByteArray text = m_editor->copy({QStringLiteral("filter1"), QStringLiteral("train1")});
        const Result<QStringList> ids = m_editor->paste(text, {100, 100});
        TW_VERIFY(ids);
        QCOMPARE(ids->size(), 2);
        for (const QString &id : *ids)
            QVERIFY(!uiPipeline().find(id));
        QCOMPARE(m_editor->pipeline().connections.size(), 5);
        QVERIFY(!m_editor->paste("nonsense", {}).ok());
    }

    void fiveHundredNodesDeleteAndComeBack()
    {
        Pipeline chain;
        for (int i = 0; i < 500; ++i) {
            chain.nodes.append(uiNode(qPrintable(QStringLiteral("n%1").arg(i)), "test-filter", {i * 16.0, 0}));
            if (i > 0)
                chain.connections.append(
                    PipelineConnection{{QStringLiteral("n%1").arg(i - 1), QStringLiteral("images")},
                                       {QStringLiteral("n%1").arg(i), QStringLiteral("images")}});
        }
        m_document->reset(chain);
        const QSet<QString> all = chain.nodeIds();
        m_editor->remove(QStringList(all.begin(), all.end()), {});
        QVERIFY(m_editor->pipeline().nodes.isEmpty());
        m_editor->undoStack().undo();
        QVERIFY(m_editor->pipeline() == chain);
    }

private:
    void edit(int kind);
    void randomEdit(QRandomGenerator &random);

    ComponentRegistry m_registry = uiRegistry();
    std::unique_ptr<PipelineDocument> m_document;
    std::unique_ptr<PipelineEditor> m_editor;
};

void TestPipelineEditor::edit(int kind)
{
    const QString train = QStringLiteral("train1"), filter = QStringLiteral("filter1");
    const int gesture = m_editor->newGesture();
    switch (kind) {
    case 0:
        m_editor->addNode(QStringLiteral("test-model"), {5, 5});
        break;
    case 1:
        m_editor->addNodeConnected(QStringLiteral("test-filter"), {5, 5},
                                   {QStringLiteral("convert1"), QStringLiteral("images")}, true);
        break;
    case 2:
        m_editor->remove({filter, QStringLiteral("convert1")}, {});
        break;
    case 3:
        m_editor->disconnect(m_editor->pipeline().connections[1]);
        break;
    case 4:
        m_editor->moveNodes({{train, {0, 320}}, {filter, {64, 64}}}, gesture);
        break;
    case 5:
        m_editor->connectPorts({QStringLiteral("convert1"), QStringLiteral("images")},
                               {train, QStringLiteral("images")});
        break;
    case 6:
        m_editor->setParameter({train}, QStringLiteral("rate"), 0.5, gesture);
        break;
    case 7:
        m_editor->resetParameter({train}, QStringLiteral("epochs"));
        break;
    case 8:
        QVERIFY(m_editor->renameNode(train, QStringLiteral("final_training")).ok());
        break;
    case 9:
        m_editor->setName(QStringLiteral("another"));
        break;
    case 10:
        QVERIFY(m_editor->paste(m_editor->copy({filter, train}), {0, 0}).ok());
        break;
    case 11:
        QVERIFY(m_editor->duplicate({filter, train}).ok());
        break;
    case 12:
        m_editor->layOut({});
        break;
    default:
        QFAIL("unknown edit");
    }
}

void TestPipelineEditor::randomEdit(QRandomGenerator &random)
{
    const Pipeline &pipeline = m_editor->pipeline();
    const auto anyNode = [&]() -> QString {
        return pipeline.nodes.isEmpty() ? QString() : pipeline.nodes[random.bounded(int(pipeline.nodes.size()))].id;
    };
    const QStringList components{QStringLiteral("test-source"), QStringLiteral("test-convert"),
                                 QStringLiteral("test-filter"), QStringLiteral("test-model"),
                                 QStringLiteral("test-train")};
    const QString id = anyNode();
    switch (random.bounded(9)) {
    case 0:
    case 1:
        m_editor->addNode(components[random.bounded(5)], QPointF(random.bounded(900), random.bounded(900)));
        break;
    case 2:
        if (pipeline.nodes.size() > 2)
            m_editor->remove({id, anyNode()}, {});
        break;
    case 3:
        if (!pipeline.connections.isEmpty())
            m_editor->disconnect(
                PipelineConnection(pipeline.connections[random.bounded(int(pipeline.connections.size()))]));
        break;
    case 4:
    case 5: {
        const ComponentType *from = m_document->componentOf(id);
        const QString other = anyNode();
        const ComponentType *to = m_document->componentOf(other);
        if (from && to && !from->outputs.isEmpty() && !to->inputs.isEmpty())
            m_editor->connectPorts({id, from->outputs.first().id},
                                   {other, to->inputs[random.bounded(int(to->inputs.size()))].id});
        break;
    }
    case 6:
        m_editor->moveNodes({{id, QPointF(random.bounded(40) * 16, random.bounded(40) * 16)}}, random.bounded(4));
        break;
    case 7:
        m_editor->setParameter({id}, QStringLiteral("epochs"), qlonglong(random.bounded(1, 9)), random.bounded(4));
        m_editor->setParameter({id}, QStringLiteral("fraction"), random.bounded(1, 9) / 10.0, random.bounded(4));
        break;
    default:
        if (random.bounded(2))
            (void)m_editor->renameNode(id, QStringLiteral("r%1").arg(random.bounded(1000)));
        else
            (void)m_editor->duplicate({id, anyNode()});
    }
}

QTEST_MAIN(TestPipelineEditor)
#include "tst_pipelineeditor.moc"

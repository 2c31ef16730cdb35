// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/uitest.h"
#include "ui/canvas/canvaspage.h"
#include "ui/canvas/componentpalette.h"
#include "ui/canvas/connectionitem.h"
#include "ui/canvas/nodeitem.h"
#include "ui/canvas/outlinepanel.h"
#include "ui/canvas/portitem.h"
#include "ui/common/actionregistry.h"
#include "ui/common/filterpopup.h"
#include "ui/common/theme.h"

#include <QApplication>
#include <QDropEvent>
#include <QLineEdit>
#include <QMainWindow>
#include <QMimeData>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolTip>
#include <QTreeWidget>
#include <QUrl>

using namespace tw;
using namespace tw::test;

class TestCanvas : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { Theme::instance().setChoice(ThemeChoice::Light); }

    void init()
    {
        m_document = std::make_unique<PipelineDocument>(m_registry);
        m_editor = std::make_unique<PipelineEditor>(*m_document);
        m_window = std::make_unique<QMainWindow>();
        m_page = new CanvasPage(*m_editor);
        m_window->setCentralWidget(m_page);
        m_actions = new ActionRegistry(m_window.get());
        m_page->registerActions(*m_actions);
        m_window->resize(1200, 800);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        m_window->activateWindow();
        view().setFocus();
    }
    void cleanup()
    {
        m_window.reset();
        m_editor.reset();
        m_document.reset();
    }

    void aGraphIsBuiltWithTheMouse()
    {
        view().centerOn(400, 100);
        drop("test-source", {0, 0});
        drop("test-convert", {320, 0});
        QCOMPARE(m_editor->pipeline().nodes.size(), 2);
        const QString source = m_editor->pipeline().nodes[0].id, convert = m_editor->pipeline().nodes[1].id;
        QCOMPARE(scene().selectedNodes(), QStringList{convert});
        wire({source, QStringLiteral("dataset")}, {convert, QStringLiteral("dataset")});
        QCOMPARE(m_editor->pipeline().connections.size(), 1);
        QVERIFY(scene().connectionItem(m_editor->pipeline().connections[0]));
        QCOMPARE(m_editor->undoStack().count(), 3);
        for (int i = 0; i < 3; ++i)
            QTest::keyClick(&view(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(m_editor->pipeline().nodes.isEmpty());
        QVERIFY(!scene().nodeItem(source));
        for (int i = 0; i < 3; ++i)
            QTest::keyClick(&view(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(m_editor->pipeline().connections.size(), 1);
        QVERIFY(scene().nodeItem(source));
    }

    void portsThatFitLightUpWhileDragging()
    {
        load();
        const PortItem *out = port("convert1", "images", true);
        dragInScene(view(), out->scenePos(), out->scenePos() + QPointF(60, 140), false);
        QVERIFY(scene().isDraggingWire());
        QCOMPARE(port("train1", "images", false)->highlight(), PortHighlight::Fits);
        QCOMPARE(port("train1", "model", false)->highlight(), PortHighlight::Dimmed);
        QCOMPARE(port("source1", "dataset", true)->highlight(), PortHighlight::Dimmed);
        QTest::keyClick(&view(), Qt::Key_Escape);
        QVERIFY(!scene().isDraggingWire());
        QCOMPARE(port("train1", "model", false)->highlight(), PortHighlight::None);
        QTest::mouseRelease(view().viewport(), Qt::LeftButton);
        QCOMPARE(m_editor->undoStack().count(), 0);
    }

    void aRefusedDropSaysWhy()
    {
        load();
        QSignalSpy refused(&scene(), &PipelineScene::connectionRefused);
        const Pipeline before = m_editor->pipeline();
        wire({QStringLiteral("source1"), QStringLiteral("dataset")},
             {QStringLiteral("train1"), QStringLiteral("images")});
        QVERIFY(m_editor->pipeline() == before);
        QCOMPARE(refused.size(), 1);
        QVERIFY(QToolTip::isVisible());
        QVERIFY2(QToolTip::text().contains(QStringLiteral("AnyDirectory")), qPrintable(QToolTip::text()));
        QVERIFY2(QToolTip::text().contains(QStringLiteral("ImageDirectory")), qPrintable(QToolTip::text()));
    }

    void aWireCanBeTakenOffAndMoved()
    {
        load();
        const QPointF end = port("train1", "images", false)->scenePos();
        dragInScene(view(), end, end + QPointF(-40, 160));
        QVERIFY(!m_editor->pipeline().into({QStringLiteral("train1"), QStringLiteral("images")}));
        m_editor->undoStack().undo();
        const QString second = m_editor->addNode(QStringLiteral("test-train"), {864, 300});
        const int steps = m_editor->undoStack().count();
        dragInScene(view(), end, scene().portItem({second, QStringLiteral("images")}, false)->scenePos());
        QVERIFY(!m_editor->pipeline().into({QStringLiteral("train1"), QStringLiteral("images")}));
        QVERIFY(m_editor->pipeline().into({second, QStringLiteral("images")}));
        QCOMPARE(m_editor->undoStack().count(), steps + 1);
    }

    void aWireDroppedOnEmptyCanvasOffersWhatFits()
    {
        load();
        const QPointF start = port("convert1", "images", true)->scenePos();
        dragInScene(view(), start, start + QPointF(40, 240));
        auto *popup = m_page->findChild<FilterPopup *>();
        QVERIFY(popup);
        auto *search = popup->findChild<QLineEdit *>();
        QTest::keyClicks(search, QStringLiteral("network"));
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(m_editor->undoStack().count(), 0); // a network has no input for images
        QTest::keyClick(search, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(search, QStringLiteral("train"));
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(m_editor->undoStack().count(), 1);
        const QString id = m_editor->pipeline().nodes.last().id;
        QCOMPARE(m_editor->pipeline().into({id, QStringLiteral("images")})->from.node, QStringLiteral("convert1"));
    }

    void nodesAreMovedSelectedAndDeleted()
    {
        load();
        const Pipeline before = m_editor->pipeline();
        const QPointF grip = scene().nodeItem(QStringLiteral("filter1"))->pos() + QPointF(60, 20);
        dragInScene(view(), grip, grip + QPointF(35, 70));
        const QPointF moved = m_document->node(QStringLiteral("filter1"))->position;
        QCOMPARE(moved, QPointF(608, 64)); // on the grid
        QCOMPARE(m_editor->undoStack().count(), 1);
        QCOMPARE(scene().selectedNodes(), QStringList{QStringLiteral("filter1")});
        QTest::keyClick(&view(), Qt::Key_Right);
        QTest::keyClick(&view(), Qt::Key_Down, Qt::ShiftModifier);
        QCOMPARE(m_document->node(QStringLiteral("filter1"))->position, moved + QPointF(16, 64));
        QTest::keyClick(&view(), Qt::Key_Delete);
        QVERIFY(!m_document->node(QStringLiteral("filter1")));
        QCOMPARE(m_editor->pipeline().connections.size(), 2);
        while (m_editor->undoStack().canUndo())
            m_editor->undoStack().undo();
        QVERIFY(m_editor->pipeline() == before);
        QCOMPARE(scene().nodeItem(QStringLiteral("filter1"))->pos(), QPointF(576, 0));
    }

    void escapePutsADraggedNodeBack()
    {
        load();
        const QPointF grip = scene().nodeItem(QStringLiteral("filter1"))->pos() + QPointF(60, 20);
        dragInScene(view(), grip, grip + QPointF(100, 70), false);
        QVERIFY(scene().nodeItem(QStringLiteral("filter1"))->pos() != QPointF(576, 0));
        QTest::keyClick(&view(), Qt::Key_Escape);
        QCOMPARE(scene().nodeItem(QStringLiteral("filter1"))->pos(), QPointF(576, 0));
        QTest::mouseRelease(view().viewport(), Qt::LeftButton);
        QCOMPARE(m_editor->undoStack().count(), 0);
    }

    void rubberBandAndSelectAll()
    {
        load();
        dragInScene(view(), {-60, -40}, {520, 180});
        QCOMPARE(scene().selectedNodes(), (QStringList{QStringLiteral("source1"), QStringLiteral("convert1")}));
        QTest::keyClick(&view(), Qt::Key_A, Qt::ControlModifier);
        QCOMPARE(scene().selectedNodes().size(), 5);
    }

    void copyPasteDuplicate()
    {
        load();
        scene().selectNodes({QStringLiteral("filter1"), QStringLiteral("train1")});
        QTest::keyClick(&view(), Qt::Key_C, Qt::ControlModifier);
        QTest::keyClick(&view(), Qt::Key_V, Qt::ControlModifier);
        QCOMPARE(m_editor->pipeline().nodes.size(), 7);
        QTest::keyClick(&view(), Qt::Key_D, Qt::ControlModifier);
        QCOMPARE(m_editor->pipeline().nodes.size(), 9);
        QTest::keyClick(&view(), Qt::Key_X, Qt::ControlModifier);
        QCOMPARE(m_editor->pipeline().nodes.size(), 7);
        QCOMPARE(m_editor->undoStack().count(), 3);
    }

    void zoomKeepsThePointUnderTheCursor()
    {
        load();
        const QPoint cursor(300, 200);
        const QPointF before = view().mapToScene(cursor);
        view().zoomBy(1.7, cursor);
        const QPointF after = view().mapToScene(cursor);
        QVERIFY(QLineF(before, after).length() < 2);
        QTest::keyClick(&view(), Qt::Key_0, Qt::ControlModifier);
        QCOMPARE(view().zoom(), 1.0);
        QTest::keyClick(&view(), Qt::Key_F);
        const QRectF seen = view().mapToScene(view().viewport()->rect()).boundingRect();
        QVERIFY(seen.contains(scene().contentRect()));
    }

    void tabOpensThePalette()
    {
        load();
        QTest::keyClick(&view(), Qt::Key_Tab);
        auto *popup = m_page->findChild<FilterPopup *>();
        QVERIFY(popup);
        auto *search = popup->findChild<QLineEdit *>();
        QTest::keyClicks(search, QStringLiteral("filt"));
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(m_editor->pipeline().nodes.size(), 6);
        QCOMPARE(m_editor->pipeline().nodes.last().component, QStringLiteral("test-filter"));
    }

    void faultsAndStatesShowOnTheNode()
    {
        load();
        m_editor->setParameter({QStringLiteral("source1")}, QStringLiteral("path"), QVariant(), 1);
        const NodeItem *item = scene().nodeItem(QStringLiteral("source1"));
        QVERIFY(!item->faults().isEmpty());
        QVERIFY(item->toolTip().contains(QStringLiteral("path"), Qt::CaseInsensitive));
        NodeStatus status;
        status.state = NodeState::Completed;
        status.result = QStringLiteral("best top-1 91.2 %");
        scene().setStatus(QStringLiteral("train1"), status);
        QCOMPARE(scene().nodeItem(QStringLiteral("train1"))->resultLine(), status.result);
        // A node that comes back by undo still has its state.
        m_editor->remove({QStringLiteral("train1")}, {});
        m_editor->undoStack().undo();
        QCOMPARE(scene().nodeItem(QStringLiteral("train1"))->resultLine(), status.result);
    }

    void removeUndoTenTimes()
    {
        load();
        const Pipeline before = m_editor->pipeline();
        scene().selectAll();
        QTest::keyClick(&view(), Qt::Key_Delete);
        for (int i = 0; i < 10; ++i) {
            m_editor->undoStack().undo();
            QVERIFY(m_editor->pipeline() == before);
            for (const PipelineConnection &wire : before.connections)
                QVERIFY(scene().connectionItem(wire));
            QApplication::processEvents();
            m_editor->undoStack().redo();
            QVERIFY(m_editor->pipeline().nodes.isEmpty());
            QCOMPARE(scene().items().size(), 0);
        }
    }

    void unknownComponentsAreShown()
    {
        Pipeline pipeline = uiPipeline();
        pipeline.nodes[2].component = QStringLiteral("from-the-future");
        m_document->reset(pipeline);
        QVERIFY(scene().nodeItem(QStringLiteral("filter1")));
        QVERIFY(!scene().nodeItem(QStringLiteral("filter1"))->faults().isEmpty());
        QCOMPARE(m_window->grab().isNull(), false);
    }

    void theOutlineBuildsWithKeysAlone()
    {
        OutlinePanel outline(scene());
        outline.show();
        m_editor->addNode(QStringLiteral("test-source"), {});
        m_editor->addNode(QStringLiteral("test-convert"), {300, 0});
        QTRY_COMPARE(outline.tree()->topLevelItemCount(), 2);
        outline.tree()->setCurrentItem(outline.tree()->topLevelItem(1)->child(0));
        QTest::keyClick(outline.tree(), Qt::Key_Return);
        auto *popup = outline.findChild<FilterPopup *>();
        QVERIFY(popup);
        QTest::keyClick(popup->findChild<QLineEdit *>(), Qt::Key_Return);
        QCOMPARE(m_editor->pipeline().connections.size(), 1);
        QTRY_VERIFY(outline.tree()->currentItem()
                    && outline.tree()->currentItem()->text(0).contains(QStringLiteral(".dataset")));
        QTest::keyClick(outline.tree(), Qt::Key_Delete);
        QVERIFY(m_editor->pipeline().connections.isEmpty());
        QCOMPARE(m_editor->pipeline().nodes.size(), 2);
    }

    void paletteFiltersAndAdds()
    {
        ComponentPalette palette(m_registry);
        QSignalSpy chosen(&palette, &ComponentPalette::componentChosen);
        auto *search = palette.findChild<QLineEdit *>();
        QTest::keyClicks(search, QStringLiteral("net"));
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(chosen[0][0].toString(), QStringLiteral("test-model"));
    }

private:
    PipelineScene &scene() { return m_page->scene(); }
    PipelineView &view() { return m_page->view(); }
    PortItem *port(const char *node, const char *id, bool isOutput)
    {
        return scene().portItem({QLatin1String(node), QLatin1String(id)}, isOutput);
    }
    void load()
    {
        m_document->reset(uiPipeline());
        view().setTransform(QTransform::fromScale(.8, .8));
        view().centerOn(480, 60);
        QApplication::processEvents();
    }
    void wire(const PortAddress &from, const PortAddress &to)
    {
        dragInScene(view(), scene().portItem(from, true)->scenePos(), scene().portItem(to, false)->scenePos());
    }
    void drop(const char *component, const QPointF &position)
    {
        QMimeData mime;
        mime.setData(QLatin1String(componentMimeType), component);
        const QPoint local = view().mapFromScene(position);
        QDragEnterEvent enter(local, Qt::CopyAction, &mime, Qt::LeftButton, {});
        QApplication::sendEvent(view().viewport(), &enter);
        QVERIFY(enter.isAccepted());
        QDragMoveEvent move(local, Qt::CopyAction, &mime, Qt::LeftButton, {});
        QApplication::sendEvent(view().viewport(), &move);
        QDropEvent dropped(local, Qt::CopyAction, &mime, Qt::LeftButton, {});
        QApplication::sendEvent(view().viewport(), &dropped);
        QVERIFY(dropped.isAccepted());
    }

    ComponentRegistry m_registry = uiRegistry();
    std::unique_ptr<PipelineDocument> m_document;
    std::unique_ptr<PipelineEditor> m_editor;
    std::unique_ptr<QMainWindow> m_window;
    CanvasPage *m_page = nullptr;
    ActionRegistry *m_actions = nullptr;
};

QTEST_MAIN(TestCanvas)
#include "tst_canvas.moc"

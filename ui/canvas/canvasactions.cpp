// SPDX-License-Identifier: GPL-3.0-or-later
// Edit and view actions of the canvas.
#include "ui/canvas/canvaspage.h"
#include "ui/canvas/nodeitem.h"
#include "ui/common/actionregistry.h"
#include "ui/common/filterpopup.h"
#include "ui/common/words.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>

namespace tw {

void CanvasPage::registerActions(ActionRegistry &registry)
{
    registerEditActions(registry);
    registerViewActions(registry);
}

void CanvasPage::registerEditActions(ActionRegistry &registry)
{
    // Keys that text fields use as well work on the canvas only while it has the focus.
    const auto onCanvas = [this](QAction *action) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        window()->removeAction(action);
        addAction(action);
        return action;
    };
    QUndoStack *stack = &m_editor.undoStack();
    QAction *undo = registry.add({QStringLiteral("edit.undo"),
                                  tr("&Undo"),
                                  QStringLiteral("undo"),
                                  {QKeySequence(Qt::CTRL | Qt::Key_Z)},
                                  {},
                                  false});
    QAction *redo = registry.add({QStringLiteral("edit.redo"),
                                  tr("&Redo"),
                                  QStringLiteral("redo"),
                                  {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)},
                                  {},
                                  false});
    connect(undo, &QAction::triggered, stack, &QUndoStack::undo);
    connect(redo, &QAction::triggered, stack, &QUndoStack::redo);
    const auto showSteps = [undo, redo, stack] {
        undo->setEnabled(stack->canUndo());
        redo->setEnabled(stack->canRedo());
        undo->setText(stack->canUndo() ? tr("&Undo: %1").arg(stack->undoText()) : tr("&Undo"));
        redo->setText(stack->canRedo() ? tr("&Redo: %1").arg(stack->redoText()) : tr("&Redo"));
        undo->setIconText(tr("Undo"));
        redo->setIconText(tr("Redo"));
    };
    connect(stack, &QUndoStack::indexChanged, undo, showSteps);
    showSteps();
    const auto add = [&](const char *id, const QString &text, const char *icon, const QKeySequence &key, auto slot) {
        QAction *action = onCanvas(registry.add({QLatin1String(id), text, QLatin1String(icon), {key}, {}, false}));
        connect(action, &QAction::triggered, this, slot);
        return action;
    };
    add("edit.cut", tr("Cu&t"), "cut", QKeySequence(Qt::CTRL | Qt::Key_X), [this] {
        copySelection();
        deleteSelection();
    });
    add("edit.copy", tr("&Copy"), "copy", QKeySequence(Qt::CTRL | Qt::Key_C), [this] { copySelection(); });
    add("edit.paste", tr("&Paste"), "paste", QKeySequence(Qt::CTRL | Qt::Key_V), [this] { pasteClipboard(); });
    add("edit.duplicate", tr("&Duplicate"), "duplicate", QKeySequence(Qt::CTRL | Qt::Key_D), [this] {
        if (const auto ids = m_editor.duplicate(m_scene.selectedNodes()))
            m_scene.selectNodes(*ids);
    });
    QAction *remove =
        add("edit.delete", tr("De&lete"), "delete", QKeySequence(Qt::Key_Delete), [this] { deleteSelection(); });
    remove->setShortcuts({QKeySequence(Qt::Key_Delete), QKeySequence(Qt::Key_Backspace)});
    add("edit.selectAll", tr("Select &all"), "", QKeySequence(Qt::CTRL | Qt::Key_A), [this] { m_scene.selectAll(); });
    add("edit.find", tr("&Find a node…"), "search", QKeySequence(Qt::CTRL | Qt::Key_F), [this] { findNode(); });
    QAction *layout = registry.add({QStringLiteral("edit.layout"),
                                    tr("&Lay out"),
                                    QStringLiteral("layout"),
                                    {QKeySequence(Qt::CTRL | Qt::Key_L)},
                                    tr("Arrange the nodes from left to right"),
                                    false});
    connect(layout, &QAction::triggered, this, [this] {
        m_editor.layOut(m_scene.nodeSizes());
        m_view->fitPipeline();
    });
    add("edit.align", tr("Ali&gn"), "align", QKeySequence(Qt::ALT | Qt::Key_A), [this] { alignSelection(); });
}

void CanvasPage::registerViewActions(ActionRegistry &registry)
{
    const auto add = [&](const char *id, const QString &text, const char *icon, const QList<QKeySequence> &keys,
                         auto slot) {
        QAction *action = registry.add({QLatin1String(id), text, QLatin1String(icon), keys, {}, false});
        connect(action, &QAction::triggered, this, slot);
        return action;
    };
    add("view.zoomIn", tr("Zoom &in"), "zoom-in",
        {QKeySequence(Qt::CTRL | Qt::Key_Equal), QKeySequence(Qt::CTRL | Qt::Key_Plus)}, [this] { m_view->zoomIn(); });
    add("view.zoomOut", tr("Zoom &out"), "zoom-out", {QKeySequence(Qt::CTRL | Qt::Key_Minus)},
        [this] { m_view->zoomOut(); });
    add("view.actualSize", tr("&Actual size"), "", {QKeySequence(Qt::CTRL | Qt::Key_0)},
        [this] { m_view->zoomToActualSize(); });
    QAction *fit =
        add("view.fit", tr("&Fit the pipeline"), "fit", {QKeySequence(Qt::Key_F)}, [this] { m_view->fitPipeline(); });
    fit->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    window()->removeAction(fit);
    addAction(fit);
}

void CanvasPage::copySelection() const
{
    const QStringList ids = m_scene.selectedNodes();
    if (!ids.isEmpty())
        QGuiApplication::clipboard()->setText(QString::fromUtf8(m_editor.copy(ids)));
}

void CanvasPage::pasteClipboard()
{
    const QString text = QGuiApplication::clipboard()->text();
    if (text.trimmed().isEmpty())
        return;
    const Result<QStringList> ids = m_editor.paste(text.toUtf8(), m_view->cursorPosition());
    if (ids)
        m_scene.selectNodes(*ids);
    else
        m_bar->showMessage(InfoBar::Kind::Warning, tr("The clipboard holds no nodes. %1").arg(errorText(ids.error())));
}

void CanvasPage::deleteSelection()
{
    m_editor.remove(m_scene.selectedNodes(), m_scene.selectedConnections());
}

void CanvasPage::alignSelection()
{
    const QStringList ids = m_scene.selectedNodes();
    if (ids.size() < 2)
        return;
    double left = m_scene.nodeItem(ids.first())->x(), right = left, top = m_scene.nodeItem(ids.first())->y(),
           bottom = top;
    for (const QString &id : ids) {
        const QPointF position = m_scene.nodeItem(id)->pos();
        left = qMin(left, position.x());
        right = qMax(right, position.x());
        top = qMin(top, position.y());
        bottom = qMax(bottom, position.y());
    }
    // Along the direction in which they lie more closely already: a row or a column.
    const bool asRow = bottom - top <= right - left;
    QMap<QString, QPointF> places;
    for (const QString &id : ids) {
        const QPointF position = m_scene.nodeItem(id)->pos();
        places.insert(id, asRow ? QPointF(position.x(), top) : QPointF(left, position.y()));
    }
    m_editor.moveNodes(places, m_editor.newGesture());
}

void CanvasPage::findNode()
{
    QList<FilterEntry> entries;
    for (const PipelineNode &node : m_editor.pipeline().nodes) {
        const ComponentType *type = m_editor.document().registry().find(node.component);
        entries.append({node.id, type ? componentWord(type->displayName) : node.component, {}, node.id, true});
    }
    auto *popup = new FilterPopup(tr("Find a node"), entries, this);
    connect(popup, &FilterPopup::chosen, this, [this](const QVariant &id) {
        m_scene.selectNodes({id.toString()});
        if (NodeItem *item = m_scene.nodeItem(id.toString()))
            m_view->centerOn(item);
        m_view->setFocus();
    });
    popup->openAt(m_view->mapToGlobal(QPoint(m_view->width() / 2 - 190, 40)));
}

} // namespace tw

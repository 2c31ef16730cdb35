// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/canvas/pipelineview.h"
#include "ui/common/infobar.h"

#include <QWidget>

namespace tw {

class ActionRegistry;

/// The Pipeline tab: message bar, canvas, palette at the cursor, and the edit actions.
class CanvasPage : public QWidget
{
    Q_OBJECT
public:
    CanvasPage(PipelineEditor &editor, QWidget *parent = nullptr);

    PipelineScene &scene() { return m_scene; }
    PipelineView &view() { return *m_view; }
    InfoBar &bar() { return *m_bar; }

    /// Adds the actions of the groups "edit" and "view".
    void registerActions(ActionRegistry &registry);
    /// At the middle of what is seen; the new node is selected.
    void addComponent(const QString &component);
    void findNode();

Q_SIGNALS:
    void sampleRequested();
    void openRequested();
    void filesDropped(const QStringList &paths);
    void contextMenuRequested(const QPoint &globalPosition);

private:
    void registerEditActions(ActionRegistry &registry);
    void registerViewActions(ActionRegistry &registry);
    void openPalette(const QPointF &position, const PortAddress &port, bool portIsOutput);
    void insertFolderGraph(const QString &folder, const QPointF &position);
    void copySelection() const;
    void pasteClipboard();
    void deleteSelection();
    void alignSelection();
    QWidget *makeEmptyHint();

    PipelineEditor &m_editor;
    PipelineScene m_scene;
    PipelineView *m_view;
    InfoBar *m_bar;
};

} // namespace tw

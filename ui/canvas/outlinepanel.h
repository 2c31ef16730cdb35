// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/canvas/pipelinescene.h"

#include <QTimer>
#include <QWidget>

class QTreeWidget;
class QTreeWidgetItem;

namespace tw {

/// The canvas as a list, for keys and screen readers: nodes with their inputs and states. Return on
/// an input offers the outputs that fit, Delete takes a wire or a node away.
class OutlinePanel : public QWidget
{
    Q_OBJECT
public:
    explicit OutlinePanel(PipelineScene &scene, QWidget *parent = nullptr);
    QTreeWidget *tree() const { return m_tree; }

Q_SIGNALS:
    void nodeActivated(const QString &id);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void rebuild();
    void followScene(const QStringList &ids);
    void activate(const QTreeWidgetItem *item);
    void offerOutputs(const PortAddress &input);
    void removeCurrent();

    PipelineScene &m_scene;
    QTreeWidget *m_tree;
    QTimer m_timer;
};

} // namespace tw

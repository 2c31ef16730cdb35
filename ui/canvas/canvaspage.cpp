// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/canvaspage.h"

#include "ui/canvas/canonicalgraph.h"
#include "ui/canvas/componentpalette.h"
#include "ui/canvas/nodeitem.h"
#include "ui/canvas/portitem.h"
#include "ui/common/words.h"

#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace tw {

CanvasPage::CanvasPage(PipelineEditor &editor, QWidget *parent)
    : QWidget(parent), m_editor(editor), m_scene(editor), m_view(new PipelineView(m_scene)), m_bar(new InfoBar)
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_view, 1);
    m_view->setEmptyHint(makeEmptyHint());
    connect(&m_scene, &PipelineScene::paletteRequested, this, &CanvasPage::openPalette);
    connect(m_view, &PipelineView::contextMenuRequested, this, &CanvasPage::contextMenuRequested);
    connect(m_view, &PipelineView::filesDropped, this, &CanvasPage::filesDropped);
    connect(m_view, &PipelineView::foldersDropped, this, [this](const QStringList &folders, const QPointF &position) {
        insertFolderGraph(folders.first(), position);
    });
}

QWidget *CanvasPage::makeEmptyHint()
{
    auto *hint = new QWidget;
    hint->setObjectName(QStringLiteral("emptyHint"));
    auto *layout = new QVBoxLayout(hint);
    layout->setSpacing(10);
    auto *title = new QLabel(tr("Drop a folder of images here"));
    QFont font = title->font();
    font.setPointSizeF(font.pointSizeF() * 1.5);
    font.setBold(true);
    title->setFont(font);
    title->setAlignment(Qt::AlignCenter);
    auto *text = new QLabel(tr("One folder a class: a whole training pipeline is built for it.\n"
                               "Or press Tab for the components."));
    text->setAlignment(Qt::AlignCenter);
    auto *sample = new QPushButton(tr("Open the sample pipeline"));
    auto *open = new QPushButton(tr("Open a pipeline file…"));
    layout->addWidget(title);
    layout->addWidget(text);
    layout->addWidget(sample, 0, Qt::AlignCenter);
    layout->addWidget(open, 0, Qt::AlignCenter);
    connect(sample, &QPushButton::clicked, this, &CanvasPage::sampleRequested);
    connect(open, &QPushButton::clicked, this, &CanvasPage::openRequested);
    return hint;
}

void CanvasPage::openPalette(const QPointF &position, const PortAddress &port, bool portIsOutput)
{
    const PortItem *item = port.node.isEmpty() ? nullptr : m_scene.portItem(port, portIsOutput);
    const std::optional<DataType> type = item ? std::optional(item->spec().type) : std::nullopt;
    auto *popup =
        new FilterPopup(item ? tr("Add a component that fits %1").arg(dataTypeName(*type)) : tr("Add a component"),
                        ComponentPalette::entries(m_editor.document().registry(), type, portIsOutput), this);
    connect(popup, &FilterPopup::chosen, this, [this, position, port, portIsOutput](const QVariant &component) {
        QString id;
        if (port.node.isEmpty()) {
            id = m_editor.addNode(component.toString(), position);
        } else {
            // The wire's end stays where it was dropped: at the new node's near edge.
            const QPointF corner = position - QPointF(portIsOutput ? 0 : NodeItem::width, 64);
            id = m_editor.addNodeConnected(component.toString(), corner, port, portIsOutput);
        }
        m_scene.selectNodes({id});
        m_view->setFocus();
    });
    popup->openAt(m_view->viewport()->mapToGlobal(m_view->mapFromScene(position)));
}

void CanvasPage::addComponent(const QString &component)
{
    QPointF position = m_view->visibleCenter() - QPointF(NodeItem::width / 2, 60);
    // Never exactly on top of another node.
    while (m_scene.nodeAt(position + QPointF(4, 4)))
        position += QPointF(2 * canvasGrid, 2 * canvasGrid);
    m_scene.selectNodes({m_editor.addNode(component, position)});
}

void CanvasPage::insertFolderGraph(const QString &folder, const QPointF &position)
{
    const Pipeline graph = canonicalPipeline(m_editor.document().registry(), QFile::encodeName(folder));
    const bool wasEmpty = m_editor.pipeline().nodes.isEmpty();
    const QStringList ids = m_editor.insertFragment(graph, position, tr("Pipeline for %1").arg(folder));
    m_scene.selectNodes(ids);
    if (wasEmpty)
        m_view->fitPipeline();
}

} // namespace tw

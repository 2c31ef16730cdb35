// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/outlinepanel.h"

#include "core/pipeline/validator.h"
#include "ui/canvas/componentpalette.h"
#include "ui/common/filterpopup.h"
#include "ui/common/words.h"

#include <QKeyEvent>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace tw {

namespace {
constexpr int nodeRole = Qt::UserRole;
constexpr int portRole = Qt::UserRole + 1;
} // namespace

OutlinePanel::OutlinePanel(PipelineScene &scene, QWidget *parent)
    : QWidget(parent), m_scene(scene), m_tree(new QTreeWidget)
{
    setObjectName(QStringLiteral("outlinePanel"));
    m_tree->setAccessibleName(tr("Outline of the pipeline"));
    m_tree->setHeaderHidden(true);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setUniformRowHeights(true);
    m_tree->setIconSize(QSize(14, 14));
    m_tree->installEventFilter(this);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 6, 8, 4);
    layout->addWidget(m_tree);
    // A macro of many edits is one rebuild.
    m_timer.setSingleShot(true);
    m_timer.setInterval(0);
    connect(&m_timer, &QTimer::timeout, this, &OutlinePanel::rebuild);
    connect(&scene.editor().document(), &PipelineDocument::changed, &m_timer, qOverload<>(&QTimer::start));
    connect(&scene, &PipelineScene::nodeSelectionChanged, this, &OutlinePanel::followScene);
    connect(m_tree, &QTreeWidget::currentItemChanged, this, [this](const QTreeWidgetItem *item) {
        if (item && m_tree->hasFocus())
            m_scene.selectNodes({item->data(0, nodeRole).toString()});
    });
    connect(m_tree, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem *item) { activate(item); });
    rebuild();
}

void OutlinePanel::rebuild()
{
    const QTreeWidgetItem *current = m_tree->currentItem();
    const QString node = current ? current->data(0, nodeRole).toString() : QString();
    const QString port = current ? current->data(0, portRole).toString() : QString();
    const QSignalBlocker quiet(m_tree);
    m_tree->clear();
    const Pipeline &pipeline = m_scene.editor().pipeline();
    for (const PipelineNode &entry : pipeline.nodes) {
        const ComponentType *type = m_scene.editor().document().registry().find(entry.component);
        auto *item = new QTreeWidgetItem(
            m_tree,
            {QStringLiteral("%1 (%2)").arg(type ? componentWord(type->displayName) : entry.component, entry.id)});
        item->setData(0, nodeRole, entry.id);
        item->setIcon(0, categoryIcon(type ? type->category : QString()));
        if (entry.id == node)
            m_tree->setCurrentItem(item);
        for (const PortSpec &input : type ? type->inputs : QList<PortSpec>()) {
            const PipelineConnection *wire = pipeline.into({entry.id, input.id});
            const QString source = wire             ? wire->from.toText()
                                   : input.optional ? tr("optional, not connected")
                                                    : tr("not connected");
            auto *row = new QTreeWidgetItem(item, {QStringLiteral("%1 ← %2").arg(componentWord(input.label), source)});
            row->setData(0, nodeRole, entry.id);
            row->setData(0, portRole, input.id);
            if (entry.id == node && input.id == port)
                m_tree->setCurrentItem(row);
        }
    }
    m_tree->expandAll();
}

void OutlinePanel::followScene(const QStringList &ids)
{
    const QTreeWidgetItem *current = m_tree->currentItem();
    if (ids.size() != 1 || (current && current->data(0, nodeRole).toString() == ids.first()))
        return;
    const QSignalBlocker quiet(m_tree);
    for (int i = 0; i < m_tree->topLevelItemCount(); ++i) {
        if (m_tree->topLevelItem(i)->data(0, nodeRole).toString() == ids.first())
            m_tree->setCurrentItem(m_tree->topLevelItem(i));
    }
}

void OutlinePanel::activate(const QTreeWidgetItem *item)
{
    const QString node = item->data(0, nodeRole).toString(), port = item->data(0, portRole).toString();
    if (port.isEmpty())
        Q_EMIT nodeActivated(node);
    else
        offerOutputs({node, port});
}

void OutlinePanel::offerOutputs(const PortAddress &input)
{
    const PipelineEditor &editor = m_scene.editor();
    QList<FilterEntry> entries;
    for (const PipelineNode &node : editor.pipeline().nodes) {
        const ComponentType *type = editor.document().registry().find(node.component);
        for (const PortSpec &output : type ? type->outputs : QList<PortSpec>()) {
            const PortAddress from{node.id, output.id};
            if (!connectionFault(editor.pipeline(), from, input, editor.document().registry()))
                entries.append({from.toText(), componentWord(type->displayName), categoryIcon(type->category),
                                from.toText(), true});
        }
    }
    auto *popup = new FilterPopup(entries.isEmpty() ? tr("No output fits %1").arg(input.toText())
                                                    : tr("Connect %1 to").arg(input.toText()),
                                  entries, this);
    connect(popup, &FilterPopup::chosen, this, [this, input](const QVariant &from) {
        m_scene.editor().connectPorts(PortAddress::fromText(from.toString()), input);
        m_tree->setFocus();
    });
    popup->openAt(m_tree->viewport()->mapToGlobal(m_tree->visualItemRect(m_tree->currentItem()).bottomLeft()));
}

void OutlinePanel::removeCurrent()
{
    const QTreeWidgetItem *item = m_tree->currentItem();
    if (!item)
        return;
    const QString node = item->data(0, nodeRole).toString(), port = item->data(0, portRole).toString();
    PipelineEditor &editor = m_scene.editor();
    if (port.isEmpty())
        editor.remove({node}, {});
    else if (const PipelineConnection *wire = editor.pipeline().into({node, port}))
        editor.disconnect(PipelineConnection(*wire));
}

bool OutlinePanel::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        if (key == Qt::Key_Delete || key == Qt::Key_Backspace) {
            removeCurrent();
            return true;
        }
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            // itemActivated depends on the style's idea of an activation key.
            if (m_tree->currentItem() && !(static_cast<QKeyEvent *>(event)->modifiers() & Qt::ControlModifier)) {
                activate(m_tree->currentItem());
                return true;
            }
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace tw

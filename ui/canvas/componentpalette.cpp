// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/componentpalette.h"

#include "ui/canvas/pipelineview.h"
#include "ui/common/theme.h"
#include "ui/common/words.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMimeData>
#include <QPainter>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace tw {

namespace {

constexpr int componentRole = Qt::UserRole;

class ComponentTree : public QTreeWidget
{
public:
    using QTreeWidget::QTreeWidget;

protected:
    QMimeData *mimeData(const QList<QTreeWidgetItem *> &items) const override
    {
        const QString id = items.isEmpty() ? QString() : items.first()->data(0, componentRole).toString();
        if (id.isEmpty())
            return nullptr;
        auto *mime = new QMimeData;
        mime->setData(QLatin1String(componentMimeType), id.toUtf8());
        return mime;
    }
    Qt::DropActions supportedDropActions() const override { return Qt::CopyAction; }
};

} // namespace

QIcon categoryIcon(const QString &category)
{
    constexpr int side = 64;
    QPixmap picture(side, side);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(categoryColor(category));
    painter.drawRoundedRect(QRectF(8, 8, 48, 48), 12, 12);
    return QIcon(picture);
}

ComponentPalette::ComponentPalette(const ComponentRegistry &registry, QWidget *parent)
    : QWidget(parent), m_registry(registry), m_search(new QLineEdit), m_tree(new ComponentTree)
{
    setObjectName(QStringLiteral("componentPalette"));
    m_search->setObjectName(QStringLiteral("paletteSearch"));
    m_search->setPlaceholderText(tr("Search components"));
    m_search->setAccessibleName(tr("Search components"));
    m_search->setClearButtonEnabled(true);
    m_search->installEventFilter(this);
    m_tree->setObjectName(QStringLiteral("paletteTree"));
    m_tree->setAccessibleName(tr("Components"));
    m_tree->setHeaderHidden(true);
    m_tree->setDragEnabled(true);
    m_tree->setDragDropMode(QAbstractItemView::DragOnly);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setIndentation(14);
    m_tree->setUniformRowHeights(true);
    m_tree->setIconSize(QSize(14, 14));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 4);
    layout->setSpacing(6);
    layout->addWidget(m_search);
    layout->addWidget(m_tree);
    connect(m_search, &QLineEdit::textChanged, this, &ComponentPalette::filter);
    connect(m_tree, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem *item) { choose(item); });
    fill();
}

void ComponentPalette::focusSearch()
{
    m_search->setFocus(Qt::ShortcutFocusReason);
    m_search->selectAll();
}

void ComponentPalette::fill()
{
    m_tree->clear();
    QHash<QString, QTreeWidgetItem *> groups;
    for (const ComponentType *type : m_registry.all()) {
        QTreeWidgetItem *&group = groups[type->category];
        if (!group) {
            group = new QTreeWidgetItem(m_tree, {componentWord(type->category)});
            group->setFlags(Qt::ItemIsEnabled);
            QFont font = group->font(0);
            font.setBold(true);
            group->setFont(0, font);
            group->setSizeHint(0, QSize(0, fontMetrics().height() + 10)); // all rows take the first one's
        }
        auto *item = new QTreeWidgetItem(group, {componentWord(type->displayName)});
        item->setIcon(0, categoryIcon(type->category));
        item->setData(0, componentRole, type->id);
        item->setToolTip(0, plainTooltip(componentWord(type->description)));
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDragEnabled);
    }
    m_tree->expandAll();
}

void ComponentPalette::filter(const QString &text)
{
    const QStringList words = text.split(u' ', Qt::SkipEmptyParts);
    QTreeWidgetItem *first = nullptr;
    for (int g = 0; g < m_tree->topLevelItemCount(); ++g) {
        QTreeWidgetItem *group = m_tree->topLevelItem(g);
        bool any = false;
        for (int i = 0; i < group->childCount(); ++i) {
            QTreeWidgetItem *item = group->child(i);
            const QString haystack =
                item->text(0) + u' ' + group->text(0) + u' ' + item->data(0, componentRole).toString();
            const bool fits = std::all_of(words.begin(), words.end(), [&](const QString &word) {
                return haystack.contains(word, Qt::CaseInsensitive);
            });
            item->setHidden(!fits);
            any = any || fits;
            if (fits && !first)
                first = item;
        }
        group->setHidden(!any);
    }
    m_tree->setCurrentItem(words.isEmpty() ? nullptr : first);
}

void ComponentPalette::choose(const QTreeWidgetItem *item)
{
    const QString id = item ? item->data(0, componentRole).toString() : QString();
    if (!id.isEmpty())
        Q_EMIT componentChosen(id);
}

bool ComponentPalette::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            choose(m_tree->currentItem());
            return true;
        }
        if (key == Qt::Key_Down) {
            m_tree->setFocus();
            return true;
        }
        if (key == Qt::Key_Escape) {
            m_search->clear();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

QList<FilterEntry> ComponentPalette::entries(const ComponentRegistry &registry, std::optional<DataType> type,
                                             bool asInput)
{
    QList<FilterEntry> found;
    for (const ComponentType *component : registry.all()) {
        const QList<PortSpec> &ports = asInput ? component->inputs : component->outputs;
        const bool fits =
            !type || std::any_of(ports.begin(), ports.end(), [&](const PortSpec &port) { return port.type == *type; });
        if (fits)
            found.append({componentWord(component->displayName), componentWord(component->category),
                          categoryIcon(component->category), component->id, true});
    }
    return found;
}

} // namespace tw

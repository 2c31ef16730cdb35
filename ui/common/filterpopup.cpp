// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/filterpopup.h"

#include <QGuiApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QScreen>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

namespace tw {

namespace {

constexpr int detailRole = Qt::UserRole + 1;

/// Text on the left, the detail in a quieter colour on the right.
class DetailDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::paint(painter, option, index);
        const bool selected = option.state & QStyle::State_Selected;
        QColor color = option.palette.color(selected ? QPalette::HighlightedText : QPalette::PlaceholderText);
        painter->save();
        painter->setPen(color);
        painter->drawText(option.rect.adjusted(8, 0, -8, 0), Qt::AlignRight | Qt::AlignVCenter,
                          index.data(detailRole).toString());
        painter->restore();
    }

    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        QSize size = QStyledItemDelegate::sizeHint(option, index);
        size.setHeight(qMax(size.height(), option.fontMetrics.height() + 10));
        return size;
    }
};

} // namespace

FilterPopup::FilterPopup(const QString &prompt, const QList<FilterEntry> &entries, QWidget *parent)
    : QFrame(parent, Qt::Popup), m_entries(entries), m_search(new QLineEdit), m_list(new QListWidget)
{
    setObjectName(QStringLiteral("filterPopup"));
    setAttribute(Qt::WA_DeleteOnClose);
    setFrameShape(QFrame::StyledPanel);
    m_search->setPlaceholderText(prompt);
    m_search->setAccessibleName(prompt);
    m_search->setClearButtonEnabled(true);
    m_search->installEventFilter(this);
    m_list->setItemDelegate(new DetailDelegate(m_list));
    m_list->setAccessibleName(prompt);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setUniformItemSizes(true);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(6, 6, 6, 6);
    layout->setSpacing(4);
    layout->addWidget(m_search);
    layout->addWidget(m_list);
    connect(m_search, &QLineEdit::textChanged, this, &FilterPopup::fill);
    connect(m_list, &QListWidget::itemClicked, this, &FilterPopup::accept);
    fill({});
    resize(380, 340);
}

void FilterPopup::fill(const QString &filter)
{
    const QStringList words = filter.split(u' ', Qt::SkipEmptyParts);
    m_list->clear();
    for (const FilterEntry &entry : m_entries) {
        const QString haystack = entry.text + u' ' + entry.detail;
        const bool fits = std::all_of(words.begin(), words.end(), [&](const QString &word) {
            return haystack.contains(word, Qt::CaseInsensitive);
        });
        if (!fits)
            continue;
        auto *item = new QListWidgetItem(entry.icon, entry.text, m_list);
        item->setData(Qt::UserRole, entry.data);
        item->setData(detailRole, entry.detail);
        if (!entry.enabled)
            item->setFlags(Qt::NoItemFlags);
    }
    for (int row = 0; row < m_list->count(); ++row) {
        if (m_list->item(row)->flags() & Qt::ItemIsEnabled) {
            m_list->setCurrentRow(row);
            break;
        }
    }
}

void FilterPopup::openAt(const QPoint &globalPosition)
{
    QPoint corner = globalPosition;
    if (const QScreen *screen = QGuiApplication::screenAt(globalPosition)) {
        const QRect area = screen->availableGeometry();
        corner.setX(qBound(area.left(), corner.x(), qMax(area.left(), area.right() - width())));
        corner.setY(qBound(area.top(), corner.y(), qMax(area.top(), area.bottom() - height())));
    }
    move(corner);
    show();
    m_search->setFocus();
}

void FilterPopup::accept()
{
    const QListWidgetItem *item = m_list->currentItem();
    if (!item || !(item->flags() & Qt::ItemIsEnabled))
        return;
    const QVariant choice = item->data(Qt::UserRole);
    // Closed first: what is chosen may open a window of its own.
    hide();
    Q_EMIT chosen(choice);
    close();
}

bool FilterPopup::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() != QEvent::KeyPress)
        return QFrame::eventFilter(watched, event);
    const auto *key = static_cast<QKeyEvent *>(event);
    const int row = m_list->currentRow();
    switch (key->key()) {
    case Qt::Key_Down:
        m_list->setCurrentRow(qMin(row + 1, m_list->count() - 1));
        return true;
    case Qt::Key_Up:
        m_list->setCurrentRow(qMax(row - 1, 0));
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        accept();
        return true;
    case Qt::Key_Escape:
        close();
        return true;
    default:
        return QFrame::eventFilter(watched, event);
    }
}

} // namespace tw

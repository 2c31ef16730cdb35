// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/outputs/foldermodel.h"

#include "ui/common/plaintext.h"
#include "ui/metrics/numberformat.h"

#include <QApplication>
#include <QFutureWatcher>
#include <QStyle>
#include <QtConcurrent>

#include <algorithm>
#include <chrono>
#include <vector>

namespace tw {

struct FolderModel::Node
{
    FolderEntry entry;
    Node *parent = nullptr;
    std::vector<std::unique_ptr<Node>> children;
    bool listed = false, listing = false;

    QByteArray relative() const
    {
        if (!parent)
            return {};
        const QByteArray above = parent->relative();
        return above.isEmpty() ? entry.name : above + '/' + entry.name;
    }

    int row() const
    {
        for (size_t i = 0; parent && i < parent->children.size(); ++i) {
            if (parent->children[i].get() == this)
                return int(i);
        }
        return 0;
    }
};

static FolderEntry readEntry(const fs::directory_entry &item)
{
    FolderEntry entry;
    std::error_code error;
    entry.name = bytesFromPath(item.path().filename());
    entry.isFolder = item.is_directory(error);
    if (!entry.isFolder) {
        const auto size = item.file_size(error);
        entry.bytes = error ? 0 : qint64(size);
    } else {
        entry.isModel = fs::exists(item.path() / "model.json", error);
    }
    const auto time = item.last_write_time(error);
    if (!error) {
        const auto system = std::chrono::file_clock::to_sys(time);
        entry.modifiedMs = std::chrono::duration_cast<std::chrono::milliseconds>(system.time_since_epoch()).count();
    }
    return entry;
}

FolderListing listFolder(const fs::path &folder)
{
    FolderListing listing;
    std::error_code error;
    for (fs::directory_iterator item(folder, error), end; !error && item != end; item.increment(error)) {
        const FolderEntry entry = readEntry(*item);
        if (!(entry.name.startsWith('.') && entry.name.contains(".part-")))
            listing.entries << entry;
    }
    if (error)
        listing.problem = QString::fromStdString(error.message());
    std::sort(listing.entries.begin(), listing.entries.end(), [](const FolderEntry &a, const FolderEntry &b) {
        if (a.isFolder != b.isFolder)
            return a.isFolder;
        const int names = compareNatural(QString::fromUtf8(a.name), QString::fromUtf8(b.name));
        return names != 0 ? names < 0 : a.name < b.name;
    });
    return listing;
}

FolderModel::FolderModel(QObject *parent) : QAbstractItemModel(parent) {}
FolderModel::~FolderModel() = default;

void FolderModel::setRoot(const fs::path &folder)
{
    beginResetModel();
    m_root = folder;
    ++m_generation;
    m_problem.clear();
    m_top = folder.empty() ? nullptr : std::make_unique<Node>();
    endResetModel();
    if (m_top) {
        m_top->entry.isFolder = true;
        list(m_top.get());
    }
}

void FolderModel::refresh()
{
    const auto visit = [this](const auto &self, Node *node) -> void {
        if (!node->listed)
            return;
        list(node);
        for (const auto &child : node->children)
            self(self, child.get());
    };
    if (m_top && !m_top->listed)
        list(m_top.get());
    else if (m_top)
        visit(visit, m_top.get());
}

FolderModel::Node *FolderModel::node(const QModelIndex &index) const
{
    return index.isValid() ? static_cast<Node *>(index.internalPointer()) : m_top.get();
}

QModelIndex FolderModel::indexOf(const Node *node) const
{
    return !node || !node->parent ? QModelIndex() : createIndex(node->row(), 0, const_cast<Node *>(node));
}

fs::path FolderModel::path(const QModelIndex &index) const
{
    const Node *at = node(index);
    return at ? m_root / pathFromBytes(at->relative()) : m_root;
}

FolderEntry FolderModel::entry(const QModelIndex &index) const
{
    const Node *at = node(index);
    return at ? at->entry : FolderEntry();
}

FolderModel::Node *FolderModel::findNode(const QByteArray &relative) const
{
    Node *at = m_top.get();
    const QList<QByteArray> names = relative.isEmpty() ? QList<QByteArray>() : relative.split('/');
    for (const QByteArray &name : names) {
        if (!at)
            return nullptr;
        const auto found = std::find_if(at->children.begin(), at->children.end(),
                                        [&](const auto &child) { return child->entry.name == name; });
        at = found == at->children.end() ? nullptr : found->get();
    }
    return at;
}

QModelIndex FolderModel::find(const fs::path &path) const
{
    return indexOf(findNode(bytesFromPath(path.lexically_relative(m_root))));
}

void FolderModel::list(Node *node)
{
    if (node->listing)
        return;
    node->listing = true;
    ++m_listing;
    const QByteArray relative = node->relative();
    auto *watcher = new QFutureWatcher<FolderListing>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, relative, generation = m_generation] {
        watcher->deleteLater();
        take(relative, watcher->result(), generation);
    });
    const fs::path folder = relative.isEmpty() ? m_root : m_root / pathFromBytes(relative);
    watcher->setFuture(QtConcurrent::run(listFolder, folder));
}

void FolderModel::take(const QByteArray &relative, const FolderListing &listing, int generation)
{
    --m_listing;
    Node *node = generation == m_generation ? findNode(relative) : nullptr;
    if (!node)
        return;
    node->listing = false;
    node->listed = true;
    if (node == m_top.get())
        m_problem = listing.problem;
    merge(node, listing.entries);
    Q_EMIT listed(indexOf(node));
}

void FolderModel::merge(Node *node, const QList<FolderEntry> &entries)
{
    const QModelIndex parent = indexOf(node);
    for (size_t i = node->children.size(); i-- > 0;) {
        const FolderEntry &old = node->children[i]->entry;
        const bool stays = std::any_of(entries.begin(), entries.end(), [&](const FolderEntry &entry) {
            return entry.name == old.name && entry.isFolder == old.isFolder;
        });
        if (stays)
            continue;
        beginRemoveRows(parent, int(i), int(i));
        node->children.erase(node->children.begin() + ptrdiff_t(i));
        endRemoveRows();
    }
    for (qsizetype i = 0; i < entries.size(); ++i) {
        const size_t at = size_t(i);
        if (at < node->children.size() && node->children[at]->entry.name == entries[i].name) {
            if (node->children[at]->entry != entries[i]) {
                node->children[at]->entry = entries[i];
                const QModelIndex changed = indexOf(node->children[at].get());
                Q_EMIT dataChanged(changed, changed.siblingAtColumn(1));
            }
            continue;
        }
        beginInsertRows(parent, int(i), int(i));
        auto added = std::make_unique<Node>();
        added->entry = entries[i];
        added->parent = node;
        node->children.insert(node->children.begin() + i, std::move(added));
        endInsertRows();
    }
}

QModelIndex FolderModel::index(int row, int column, const QModelIndex &parent) const
{
    const Node *above = node(parent);
    if (!above || row < 0 || column < 0 || column > 1 || size_t(row) >= above->children.size())
        return {};
    return createIndex(row, column, above->children[size_t(row)].get());
}

QModelIndex FolderModel::parent(const QModelIndex &index) const
{
    return index.isValid() ? indexOf(node(index)->parent) : QModelIndex();
}

int FolderModel::rowCount(const QModelIndex &parent) const
{
    const Node *at = parent.column() > 0 ? nullptr : node(parent);
    return at ? int(at->children.size()) : 0;
}

int FolderModel::columnCount(const QModelIndex &) const
{
    return 2;
}

bool FolderModel::hasChildren(const QModelIndex &parent) const
{
    const Node *at = parent.column() > 0 ? nullptr : node(parent);
    return at && at->entry.isFolder && (!at->listed || !at->children.empty());
}

bool FolderModel::canFetchMore(const QModelIndex &parent) const
{
    const Node *at = node(parent);
    return at && at->entry.isFolder && !at->listed && !at->listing;
}

void FolderModel::fetchMore(const QModelIndex &parent)
{
    if (canFetchMore(parent))
        list(node(parent));
}

QVariant FolderModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const FolderEntry &entry = node(index)->entry;
    const QString name = QString::fromUtf8(entry.name);
    switch (role) {
    case Qt::DisplayRole:
        if (index.column() == 0)
            return literalText(name);
        return entry.isFolder ? QString() : formatBytes(entry.bytes);
    case Qt::ToolTipRole:
        return literalToolTip(displayPath(path(index)));
    case Qt::DecorationRole:
        if (index.column() == 0)
            return QApplication::style()->standardIcon(entry.isModel    ? QStyle::SP_DriveHDIcon
                                                       : entry.isFolder ? QStyle::SP_DirIcon
                                                                        : QStyle::SP_FileIcon);
        return {};
    case Qt::TextAlignmentRole:
        return index.column() == 1 ? QVariant(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    default:
        return {};
    }
}

QVariant FolderModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == 0 ? tr("Name") : tr("Size");
}

} // namespace tw

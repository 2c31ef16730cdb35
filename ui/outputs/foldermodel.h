// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

#include <QAbstractItemModel>
#include <QByteArray>
#include <QList>

#include <memory>

namespace tw {

struct FolderEntry
{
    QByteArray name;
    bool isFolder = false;
    bool isModel = false; ///< a folder with a model.json
    qint64 bytes = 0;
    qint64 modifiedMs = 0;
    bool operator==(const FolderEntry &) const = default;
};

struct FolderListing
{
    QList<FolderEntry> entries; ///< folders first, names in natural order
    QString problem;            ///< the system's words, empty when it could be read
};

/// Any thread. Half-written entries (".….part-…") are left out.
FolderListing listFolder(const fs::path &folder);

/// A folder as a tree; folders are listed by workers when they are opened. Column 0 name, 1 size.
class FolderModel : public QAbstractItemModel
{
    Q_OBJECT
public:
    explicit FolderModel(QObject *parent = nullptr);
    ~FolderModel() override;

    /// Empty: nothing.
    void setRoot(const fs::path &folder);
    /// Lists again every folder that was listed; what did not change stays open and selected.
    void refresh();
    fs::path path(const QModelIndex &index) const;
    FolderEntry entry(const QModelIndex &index) const;
    /// Invalid while the folders above are not listed.
    QModelIndex find(const fs::path &path) const;
    bool isListing() const { return m_listing > 0; }
    QString problem() const { return m_problem; }

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &index) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    bool hasChildren(const QModelIndex &parent = {}) const override;
    bool canFetchMore(const QModelIndex &parent) const override;
    void fetchMore(const QModelIndex &parent) override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

Q_SIGNALS:
    /// A folder's listing is in.
    void listed(const QModelIndex &folder);

private:
    struct Node;
    Node *node(const QModelIndex &index) const;
    QModelIndex indexOf(const Node *node) const;
    void list(Node *node);
    void take(const QByteArray &relative, const FolderListing &listing, int generation);
    void merge(Node *node, const QList<FolderEntry> &entries);
    Node *findNode(const QByteArray &relative) const;

    fs::path m_root;
    std::unique_ptr<Node> m_top;
    QString m_problem;
    int m_generation = 0, m_listing = 0;
};

} // namespace tw

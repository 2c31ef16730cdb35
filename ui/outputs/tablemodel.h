// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QStringList>

namespace tw {

/// Rows of a CSV file; the first one is the header.
class RowsModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    explicit RowsModel(QList<QStringList> rows, QObject *parent = nullptr);
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QList<QStringList> m_rows;
    int m_columns = 0;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/outputs/tablemodel.h"

#include "ui/common/plaintext.h"

#include <QLocale>

#include <algorithm>

namespace tw {

namespace {
constexpr qsizetype mostColumns = 1000;
constexpr int longestCell = 200;

bool isNumber(const QString &cell)
{
    bool ok = false;
    QLocale::c().toDouble(cell, &ok);
    return ok;
}
} // namespace

RowsModel::RowsModel(QList<QStringList> rows, QObject *parent) : QAbstractTableModel(parent), m_rows(std::move(rows))
{
    for (const QStringList &row : std::as_const(m_rows))
        m_columns = std::max(m_columns, int(std::min(row.size(), mostColumns)));
}

int RowsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() || m_rows.isEmpty() ? 0 : int(m_rows.size()) - 1;
}

int RowsModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : m_columns;
}

QVariant RowsModel::data(const QModelIndex &index, int role) const
{
    const QString cell = m_rows.value(index.row() + 1).value(index.column());
    if (role == Qt::DisplayRole)
        return shortText(cell, longestCell);
    if (role == Qt::ToolTipRole && cell.size() > 30)
        return literalToolTip(shortText(cell, 2000));
    if (role == Qt::TextAlignmentRole)
        return QVariant((isNumber(cell) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

QVariant RowsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole)
        return {};
    if (orientation == Qt::Vertical)
        return section + 1;
    return shortText(m_rows.value(0).value(section), 40);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "ui/common/filterpopup.h"

#include <QWidget>

class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace tw {

/// Components by category with a search box; dragged onto the canvas or added by Return or a
/// double click.
class ComponentPalette : public QWidget
{
    Q_OBJECT
public:
    explicit ComponentPalette(const ComponentRegistry &registry, QWidget *parent = nullptr);
    void focusSearch();
    /// Entries for the palette at the cursor: all components, or those with a port of `type`
    /// (an input when `asInput`).
    static QList<FilterEntry> entries(const ComponentRegistry &registry, std::optional<DataType> type = {},
                                      bool asInput = true);

Q_SIGNALS:
    void componentChosen(const QString &id);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void fill();
    void filter(const QString &text);
    void choose(const QTreeWidgetItem *item);

    const ComponentRegistry &m_registry;
    QLineEdit *m_search;
    QTreeWidget *m_tree;
};

/// A small square in a category's colour.
QIcon categoryIcon(const QString &category);

} // namespace tw

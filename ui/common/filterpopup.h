// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QIcon>
#include <QVariant>

class QLineEdit;
class QListWidget;

namespace tw {

struct FilterEntry
{
    QString text;
    QString detail; ///< right-hand side: category or shortcut
    QIcon icon;
    QVariant data;
    bool enabled = true;
};

/// A list with a search box, opened at a point and closed by a choice, Esc or a click elsewhere.
/// Used as the palette at the cursor and as the command list.
class FilterPopup : public QFrame
{
    Q_OBJECT
public:
    FilterPopup(const QString &prompt, const QList<FilterEntry> &entries, QWidget *parent);
    /// Top left corner in global coordinates, kept on the screen. Deletes itself when closed.
    void openAt(const QPoint &globalPosition);

Q_SIGNALS:
    void chosen(const QVariant &data);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void fill(const QString &filter);
    void accept();

    QList<FilterEntry> m_entries;
    QLineEdit *m_search;
    QListWidget *m_list;
};

} // namespace tw

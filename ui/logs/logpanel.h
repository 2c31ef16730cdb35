// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/logs/logview.h"

#include <QFutureWatcher>
#include <QTimer>
#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace tw {

/// One log file with find (Ctrl+F), level filter, jump to the first error and a follow switch.
class LogPanel : public QWidget
{
    Q_OBJECT
public:
    explicit LogPanel(const fs::path &file, QWidget *parent = nullptr);
    ~LogPanel() override;

    /// The file has probably grown. Any number of calls; the file is looked at 10 times a second at most.
    void wake();
    LogView *view() const { return m_view; }
    LogSource *source() const { return m_source; }
    void findNext(bool backwards);
    void showFirstError();

protected:
    void showEvent(QShowEvent *event) override;

private:
    QWidget *makeBar();
    QToolButton *addButton(QWidget *bar, const QString &text, const QString &toolTip);
    void startSearch(bool anew);
    void takeMatches();
    void showCount();

    LogSource *m_source;
    LogView *m_view;
    QLineEdit *m_find = nullptr;
    QLabel *m_count = nullptr;
    QComboBox *m_level = nullptr;
    QToolButton *m_follow = nullptr;
    QTimer m_wake, m_searchDelay;
    QFutureWatcher<std::vector<quint32>> m_search;
    std::shared_ptr<std::atomic<bool>> m_stop = std::make_shared<std::atomic<bool>>(false);
    std::vector<quint32> m_matches;
    size_t m_searchedLines = 0, m_searchTarget = 0;
    bool m_jump = false; ///< to the first match from here once it is known
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/logs/logpanel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QShortcut>
#include <QToolButton>
#include <QVBoxLayout>
#include <QtConcurrent>

#include <algorithm>

namespace tw {

LogPanel::LogPanel(const fs::path &file, QWidget *parent)
    : QWidget(parent), m_source(new LogSource(file, this)), m_view(new LogView(m_source))
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeBar());
    layout->addWidget(m_view, 1);
    m_wake.setSingleShot(true);
    m_wake.setInterval(100);
    connect(&m_wake, &QTimer::timeout, m_source, &LogSource::poll);
    m_searchDelay.setSingleShot(true);
    m_searchDelay.setInterval(150);
    connect(&m_searchDelay, &QTimer::timeout, this, [this] { startSearch(true); });
    connect(&m_search, &QFutureWatcherBase::finished, this, &LogPanel::takeMatches);
    connect(m_source, &LogSource::grown, this, [this](bool restarted) { startSearch(restarted); });
    connect(m_view, &LogView::followChanged, this, [this](bool on) { m_follow->setChecked(on); });
    auto *find = new QShortcut(QKeySequence::Find, this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, this, [this] {
        m_find->setFocus(Qt::ShortcutFocusReason);
        m_find->selectAll();
    });
    m_source->poll();
}

LogPanel::~LogPanel()
{
    *m_stop = true;
}

QToolButton *LogPanel::addButton(QWidget *bar, const QString &text, const QString &toolTip)
{
    auto *button = new QToolButton;
    button->setText(text);
    button->setToolTip(toolTip);
    button->setAccessibleName(toolTip);
    button->setAutoRaise(true);
    bar->layout()->addWidget(button);
    return button;
}

QWidget *LogPanel::makeBar()
{
    auto *bar = new QWidget;
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins(6, 4, 6, 4);
    m_level = new QComboBox;
    m_level->addItem(tr("All lines"), int(LogLevel::Debug));
    m_level->addItem(tr("Information and above"), int(LogLevel::Info));
    m_level->addItem(tr("Warnings and errors"), int(LogLevel::Warning));
    m_level->addItem(tr("Errors"), int(LogLevel::Error));
    m_level->setAccessibleName(tr("Least level shown"));
    connect(m_level, &QComboBox::currentIndexChanged, this,
            [this] { m_view->setLeastLevel(LogLevel(m_level->currentData().toInt())); });
    m_find = new QLineEdit;
    m_find->setPlaceholderText(tr("Find in this log"));
    m_find->setClearButtonEnabled(true);
    m_find->setAccessibleName(tr("Find in this log"));
    connect(m_find, &QLineEdit::textChanged, this, [this] {
        m_jump = true;
        m_searchDelay.start();
    });
    connect(m_find, &QLineEdit::returnPressed, this, [this] { findNext(false); });
    row->addWidget(m_level);
    row->addWidget(m_find, 1);
    row->addWidget(m_count = new QLabel);
    connect(addButton(bar, QStringLiteral("↑"), tr("Previous match")), &QToolButton::clicked, this,
            [this] { findNext(true); });
    connect(addButton(bar, QStringLiteral("↓"), tr("Next match")), &QToolButton::clicked, this,
            [this] { findNext(false); });
    connect(addButton(bar, tr("First error"), tr("Jump to the first error")), &QToolButton::clicked, this,
            [this] { showFirstError(); });
    m_follow = addButton(bar, tr("Follow"), tr("Stay at the newest line"));
    m_follow->setCheckable(true);
    m_follow->setChecked(true);
    connect(m_follow, &QToolButton::clicked, m_view, &LogView::setFollow);
    return bar;
}

void LogPanel::wake()
{
    if (!m_wake.isActive() && isVisible())
        m_wake.start();
}

void LogPanel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_source->poll();
}

void LogPanel::startSearch(bool anew)
{
    if (anew) {
        *m_stop = true;
        m_stop = std::make_shared<std::atomic<bool>>(false);
        m_search.setFuture({});
        m_matches.clear();
        m_searchedLines = 0;
        m_view->setNeedle(m_find->text());
        showCount();
    }
    const LogIndex &index = m_source->index();
    if (m_search.isRunning() || m_find->text().isEmpty() || m_searchedLines >= index.size())
        return;
    m_searchTarget = index.size();
    m_search.setFuture(QtConcurrent::run(searchLines, m_source->file(), index.starts[m_searchedLines], index.end,
                                         quint32(m_searchedLines), m_find->text(), m_stop));
}

void LogPanel::takeMatches()
{
    if (m_search.future().resultCount() == 0)
        return;
    const std::vector<quint32> found = m_search.result();
    m_matches.insert(m_matches.end(), found.begin(), found.end());
    m_searchedLines = m_searchTarget;
    showCount();
    if (std::exchange(m_jump, false) && !m_matches.empty()) {
        const auto from = std::lower_bound(m_matches.begin(), m_matches.end(), quint32(m_view->currentLine()));
        m_view->showLine(from == m_matches.end() ? m_matches.front() : *from);
    }
    startSearch(false); // the file may have grown meanwhile
}

void LogPanel::showCount()
{
    if (m_find->text().isEmpty())
        m_count->clear();
    else
        m_count->setText(tr("%n line(s)", nullptr, int(m_matches.size())));
}

void LogPanel::findNext(bool backwards)
{
    std::vector<quint32> reachable;
    std::copy_if(m_matches.begin(), m_matches.end(), std::back_inserter(reachable),
                 [this](quint32 line) { return m_view->isShown(line); });
    if (reachable.empty())
        return;
    const quint32 here = quint32(m_view->currentLine());
    if (backwards) {
        const auto before = std::lower_bound(reachable.begin(), reachable.end(), here);
        m_view->showLine(before == reachable.begin() ? reachable.back() : *(before - 1));
    } else {
        const auto after = std::upper_bound(reachable.begin(), reachable.end(), here);
        m_view->showLine(after == reachable.end() ? reachable.front() : *after);
    }
}

void LogPanel::showFirstError()
{
    const std::vector<LogLevel> &levels = m_source->index().levels;
    const auto found = std::find(levels.begin(), levels.end(), LogLevel::Error);
    if (found != levels.end())
        m_view->showLine(size_t(found - levels.begin()));
}

} // namespace tw

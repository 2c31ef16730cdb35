// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "ui/logs/logsource.h"

#include <QAbstractScrollArea>

#include <vector>

namespace tw {

/// Lines of a log with their numbers; paints the visible ones only. Stays at the end of a growing
/// log until the person scrolls up.
class LogView : public QAbstractScrollArea
{
    Q_OBJECT
public:
    explicit LogView(LogSource *source, QWidget *parent = nullptr);

    /// Hides lines below this level; Debug shows all.
    void setLeastLevel(LogLevel level);
    void setFollow(bool on);
    bool isFollowing() const { return m_follow; }
    /// Marks this text wherever it stands.
    void setNeedle(const QString &needle);
    /// Selects and shows a line of the file; false when the level hides it.
    bool showLine(size_t line);
    /// The selected line, or the first visible one.
    size_t currentLine() const;
    size_t shownCount() const;
    /// Whether the level lets this line through.
    bool isShown(size_t line) const;
    /// Copies the selected lines; they are read by a worker.
    void copySelection();

Q_SIGNALS:
    void followChanged(bool on);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void takeGrowth(bool restarted);
    void extendShown();
    void updateBars();
    size_t lineAt(size_t row) const;
    size_t rowAt(QPoint position) const;
    int rowsOnPage() const;
    int gutter() const;
    void paintRow(QPainter &painter, size_t row, int top);
    void paintNeedle(QPainter &painter, const QString &text, const QRect &box) const;
    void select(size_t row, bool extend);
    void scrolled();

    LogSource *m_source;
    LogLevel m_least = LogLevel::Debug;
    std::vector<quint32> m_shown; ///< lines that pass, unless all do
    size_t m_shownUpTo = 0;       ///< lines already sorted into m_shown
    QString m_needle;
    int m_widest = 0, m_lineHeight = 1;
    bool m_follow = true, m_movingBar = false;
    qint64 m_anchor = -1, m_caret = -1; ///< rows; -1: nothing selected
};

} // namespace tw

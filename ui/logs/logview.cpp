// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/logs/logview.h"

#include <QApplication>
#include <QClipboard>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QtConcurrent>

#include <algorithm>

namespace tw {

namespace {
constexpr int margin = 8;

QColor levelColor(LogLevel level, bool dark)
{
    switch (level) {
    case LogLevel::Error:
        return dark ? QColor(0xff, 0x8a, 0x80) : QColor(0xb4, 0x1c, 0x1c);
    case LogLevel::Warning:
        return dark ? QColor(0xf0, 0xc0, 0x5a) : QColor(0x8a, 0x5a, 0x00);
    case LogLevel::Debug:
        return dark ? QColor(0x8b, 0x94, 0xa0) : QColor(0x75, 0x7d, 0x88);
    case LogLevel::Info:
        break;
    }
    return {};
}
} // namespace

LogView::LogView(LogSource *source, QWidget *parent) : QAbstractScrollArea(parent), m_source(source)
{
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setFrameShape(QFrame::NoFrame);
    viewport()->setCursor(Qt::IBeamCursor);
    viewport()->setBackgroundRole(QPalette::Base);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Log"));
    connect(source, &LogSource::grown, this, &LogView::takeGrowth);
    connect(source, &LogSource::linesRead, viewport(), qOverload<>(&QWidget::update));
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, &LogView::scrolled);
    m_lineHeight = fontMetrics().height() + 2;
    updateBars();
}

size_t LogView::shownCount() const
{
    return m_least == LogLevel::Debug ? m_source->size() : m_shown.size();
}

size_t LogView::lineAt(size_t row) const
{
    return m_least == LogLevel::Debug ? row : m_shown[row];
}

bool LogView::isShown(size_t line) const
{
    return line < m_source->size() && m_source->index().levels[line] >= m_least;
}

void LogView::setLeastLevel(LogLevel level)
{
    m_least = level;
    m_shown.clear();
    m_shownUpTo = 0;
    m_anchor = m_caret = -1;
    takeGrowth(false);
}

void LogView::extendShown()
{
    const std::vector<LogLevel> &levels = m_source->index().levels;
    if (m_least == LogLevel::Debug)
        return;
    while (!m_shown.empty() && m_shown.back() + 1 >= m_shownUpTo) // a partial last line may have changed
        m_shown.pop_back();
    for (size_t line = m_shownUpTo > 0 ? m_shownUpTo - 1 : 0; line < levels.size(); ++line) {
        if (levels[line] >= m_least)
            m_shown.push_back(quint32(line));
    }
    m_shownUpTo = levels.size();
}

void LogView::takeGrowth(bool restarted)
{
    if (restarted) {
        m_shown.clear();
        m_shownUpTo = 0;
        m_anchor = m_caret = -1;
    }
    extendShown();
    updateBars();
    viewport()->update();
}

int LogView::rowsOnPage() const
{
    return std::max(1, viewport()->height() / m_lineHeight);
}

int LogView::gutter() const
{
    const int digits = int(QString::number(std::max<size_t>(m_source->size(), 999)).size());
    return margin * 2 + fontMetrics().horizontalAdvance(QLatin1Char('0')) * digits;
}

void LogView::updateBars()
{
    m_movingBar = true;
    const int rows = int(std::min<size_t>(shownCount(), 2000000000));
    verticalScrollBar()->setPageStep(rowsOnPage());
    verticalScrollBar()->setRange(0, std::max(0, rows - rowsOnPage()));
    if (m_follow)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setSingleStep(fontMetrics().averageCharWidth() * 4);
    horizontalScrollBar()->setRange(0, std::max(0, m_widest + gutter() + margin - viewport()->width()));
    m_movingBar = false;
}

void LogView::scrolled()
{
    viewport()->update();
    if (!m_movingBar)
        setFollow(verticalScrollBar()->value() == verticalScrollBar()->maximum());
}

void LogView::setFollow(bool on)
{
    if (m_follow == on)
        return;
    m_follow = on;
    updateBars();
    Q_EMIT followChanged(on);
}

void LogView::setNeedle(const QString &needle)
{
    m_needle = needle;
    viewport()->update();
}

void LogView::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    painter.setFont(font());
    const size_t first = size_t(verticalScrollBar()->value()), count = shownCount();
    const int widestBefore = m_widest;
    const int page = viewport()->height() / m_lineHeight + 1;
    const size_t last = std::min(count, first + size_t(page));
    for (size_t row = first; row < last; ++row)
        paintRow(painter, row, int(row - first) * m_lineHeight);
    if (count == 0) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        const QString words = !m_source->hasLooked()  ? tr("Reading…")
                              : m_source->isMissing() ? tr("This log does not exist yet.")
                              : m_source->size() > 0  ? tr("No line of this level.")
                                                      : tr("This log is still empty.");
        painter.setFont(QApplication::font());
        painter.drawText(viewport()->rect(), Qt::AlignCenter, words);
    }
    if (m_widest > widestBefore)
        QMetaObject::invokeMethod(
            this, [this] { updateBars(); }, Qt::QueuedConnection);
}

void LogView::paintRow(QPainter &painter, size_t row, int top)
{
    const size_t line = lineAt(row);
    const int left = gutter() - horizontalScrollBar()->value();
    const QRect whole(0, top, viewport()->width(), m_lineHeight);
    const bool selected =
        m_caret >= 0 && qint64(row) >= std::min(m_anchor, m_caret) && qint64(row) <= std::max(m_anchor, m_caret);
    if (selected)
        painter.fillRect(whole, palette().brush(QPalette::Highlight));
    if (const auto text = m_source->line(line)) {
        const bool dark = palette().color(QPalette::Base).lightness() < 128;
        const QColor level = levelColor(m_source->index().levels[line], dark);
        const QRect box(left, top, 1 << 24, m_lineHeight);
        painter.setClipRect(whole.adjusted(gutter() - margin / 2, 0, 0, 0));
        if (!m_needle.isEmpty())
            paintNeedle(painter, *text, box);
        painter.setPen(selected          ? palette().color(QPalette::HighlightedText)
                       : level.isValid() ? level
                                         : palette().color(QPalette::Text));
        painter.drawText(box, Qt::AlignVCenter | Qt::TextSingleLine, *text);
        painter.setClipping(false);
        m_widest = std::max(m_widest, painter.fontMetrics().horizontalAdvance(*text));
    }
    painter.setPen(palette().color(selected ? QPalette::HighlightedText : QPalette::PlaceholderText));
    painter.drawText(QRect(0, top, gutter() - margin, m_lineHeight), Qt::AlignVCenter | Qt::AlignRight,
                     QString::number(line + 1));
}

void LogView::paintNeedle(QPainter &painter, const QString &text, const QRect &box) const
{
    const bool dark = palette().color(QPalette::Base).lightness() < 128;
    const QColor mark = dark ? QColor(0x7a, 0x5c, 0x00) : QColor(0xff, 0xe0, 0x82);
    for (qsizetype at = text.indexOf(m_needle, 0, Qt::CaseInsensitive); at >= 0;
         at = text.indexOf(m_needle, at + m_needle.size(), Qt::CaseInsensitive)) {
        const int from = painter.fontMetrics().horizontalAdvance(text.left(at));
        const int to = painter.fontMetrics().horizontalAdvance(text.left(at + m_needle.size()));
        painter.fillRect(QRect(box.left() + from, box.top() + 1, to - from, box.height() - 2), mark);
    }
}

void LogView::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateBars();
}

void LogView::changeEvent(QEvent *event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        m_lineHeight = fontMetrics().height() + 2;
        m_widest = 0;
    }
}

size_t LogView::rowAt(QPoint position) const
{
    const int row = verticalScrollBar()->value() + std::max(position.y(), 0) / m_lineHeight;
    return std::min(size_t(row), shownCount() > 0 ? shownCount() - 1 : 0);
}

void LogView::select(size_t row, bool extend)
{
    if (shownCount() == 0)
        return;
    m_caret = qint64(std::min(row, shownCount() - 1));
    if (!extend || m_anchor < 0)
        m_anchor = m_caret;
    const int top = verticalScrollBar()->value();
    if (m_caret < top)
        verticalScrollBar()->setValue(int(m_caret));
    else if (m_caret >= top + rowsOnPage())
        verticalScrollBar()->setValue(int(m_caret) - rowsOnPage() + 1);
    viewport()->update();
}

bool LogView::showLine(size_t line)
{
    if (!isShown(line))
        return false;
    const size_t row = m_least == LogLevel::Debug
                           ? line
                           : size_t(std::lower_bound(m_shown.begin(), m_shown.end(), quint32(line)) - m_shown.begin());
    setFollow(false);
    select(row, false);
    if (const int top = int(row) - rowsOnPage() / 2;
        int(row) <= verticalScrollBar()->value() || int(row) >= verticalScrollBar()->value() + rowsOnPage() - 1)
        verticalScrollBar()->setValue(top);
    return true;
}

size_t LogView::currentLine() const
{
    if (shownCount() == 0)
        return 0;
    const size_t row = m_caret >= 0 ? size_t(m_caret) : size_t(verticalScrollBar()->value());
    return lineAt(std::min(row, shownCount() - 1));
}

void LogView::keyPressEvent(QKeyEvent *event)
{
    const bool extend = event->modifiers() & Qt::ShiftModifier;
    const size_t row = m_caret >= 0 ? size_t(m_caret) : size_t(verticalScrollBar()->value());
    const size_t page = size_t(rowsOnPage());
    if (event->matches(QKeySequence::Copy)) {
        copySelection();
    } else if (event->matches(QKeySequence::SelectAll)) {
        m_anchor = 0;
        m_caret = qint64(shownCount()) - 1;
        viewport()->update();
    } else if (event->key() == Qt::Key_Home) {
        select(0, extend);
    } else if (event->key() == Qt::Key_End) {
        select(shownCount(), extend);
        setFollow(true);
    } else if (event->key() == Qt::Key_Up) {
        select(row > 0 ? row - 1 : 0, extend);
    } else if (event->key() == Qt::Key_Down) {
        select(row + 1, extend);
    } else if (event->key() == Qt::Key_PageUp) {
        select(row > page ? row - page : 0, extend);
    } else if (event->key() == Qt::Key_PageDown) {
        select(row + page, extend);
    } else {
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void LogView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton)
        select(rowAt(event->position().toPoint()), event->modifiers() & Qt::ShiftModifier);
}

void LogView::mouseMoveEvent(QMouseEvent *event)
{
    if (event->buttons() & Qt::LeftButton)
        select(rowAt(event->position().toPoint()), true);
}

void LogView::contextMenuEvent(QContextMenuEvent *event)
{
    QMenu menu(this);
    QAction *copy = menu.addAction(tr("Copy lines"));
    copy->setEnabled(m_caret >= 0);
    if (menu.exec(event->globalPos()) == copy)
        copySelection();
}

void LogView::copySelection()
{
    if (m_caret < 0 || shownCount() == 0)
        return;
    constexpr size_t mostLines = 200000;
    const size_t first = size_t(std::min(m_anchor, m_caret));
    const size_t last = std::min({size_t(std::max(m_anchor, m_caret)), shownCount() - 1, first + mostLines});
    QList<std::pair<qint64, qint64>> parts;
    for (size_t row = first; row <= last; ++row) {
        const qint64 begin = m_source->index().starts[lineAt(row)], end = m_source->index().endOf(lineAt(row));
        if (!parts.isEmpty() && parts.back().second == begin)
            parts.back().second = end;
        else
            parts << std::pair(begin, end);
    }
    auto *watcher = new QFutureWatcher<QString>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [watcher] {
        QApplication::clipboard()->setText(watcher->result());
        watcher->deleteLater();
    });
    watcher->setFuture(QtConcurrent::run([file = m_source->file(), parts] {
        QStringList lines;
        for (const auto &[begin, end] : parts)
            lines += readLines(file, begin, end);
        return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
    }));
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/grab.h"

#include "ui/mainwindow/mainwindow.h"
#include "ui/metrics/metricstab.h"
#include "ui/outputs/outputstab.h"

#include <QCoreApplication>
#include <QPixmap>
#include <QTabWidget>

#include <cstdio>

namespace tw {

namespace {
constexpr int lookMs = 100;
constexpr int calmLooks = 8; // nothing new for 0.8 s
constexpr int mostLooks = 200;
} // namespace

WindowGrab::WindowGrab(MainWindow &window, const GuiOptions &options) : m_window(window), m_options(options)
{
    m_window.resize(options.size);
    m_window.showTab(options.grab == u"pipeline"  ? MainWindow::Tab::Pipeline
                     : options.grab == u"metrics" ? MainWindow::Tab::Metrics
                                                  : MainWindow::Tab::Outputs);
    connect(&m_timer, &QTimer::timeout, this, &WindowGrab::look);
    m_timer.start(lookMs);
}

void WindowGrab::look()
{
    // In the tab of outputs the preview comes first, then a page for every log.
    if (auto *pages = m_window.findChild<OutputsTab *>()->findChild<QTabWidget *>())
        pages->setCurrentIndex(m_options.grab == u"logs" ? qMin(1, pages->count() - 1) : 0);
    const qint64 points = m_window.metrics().pointCount();
    const bool changed = points != m_points || m_window.isLoading();
    m_points = points;
    m_calm = changed ? 0 : m_calm + 1;
    if (m_calm >= calmLooks || ++m_looks >= mostLooks)
        write();
}

void WindowGrab::write()
{
    m_timer.stop();
    const bool written = m_window.grab().save(m_options.out, "PNG");
    if (!written)
        std::fprintf(stderr, "The picture could not be written to %s\n", qPrintable(m_options.out));
    QCoreApplication::exit(written ? 0 : 1);
}

} // namespace tw

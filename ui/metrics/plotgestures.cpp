// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/plotgestures.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace tw {

double PlotFrame::xAt(double pixel) const
{
    return x.first + (pixel - area.left()) / std::max(area.width(), 1.0) * (x.second - x.first);
}

double PlotFrame::yAt(double pixel) const
{
    const double part = (area.bottom() - pixel) / std::max(area.height(), 1.0);
    return logarithmicY ? y.first * std::pow(y.second / y.first, part) : y.first + part * (y.second - y.first);
}

QRectF PlotGestures::band() const
{
    return m_kind == Kind::Band ? QRectF(m_start, m_last).normalized().intersected(frame().area) : QRectF();
}

void PlotGestures::requestX(double low, double high) const
{
    const double least = std::max(1e-9, std::abs(low + high) * 1e-9);
    if (std::isfinite(low) && std::isfinite(high) && high - low > least && high - low < 1e15)
        chooseX(low, high);
}

void PlotGestures::zoomX(const PlotFrame &now, double center, double factor) const
{
    requestX(center + (now.x.first - center) * factor, center + (now.x.second - center) * factor);
}

void PlotGestures::zoomY(const PlotFrame &now, double pixel, double factor) const
{
    const double bottom = pixel + (now.area.bottom() - pixel) * factor;
    const double top = pixel + (now.area.top() - pixel) * factor;
    const double low = now.yAt(bottom), high = now.yAt(top);
    if (std::isfinite(low) && std::isfinite(high) && high - low > std::abs(high) * 1e-12 && high < 1e200)
        chooseY(low, high);
}

void PlotGestures::pan(QPointF to)
{
    const PlotFrame now = frame();
    const QPointF moved = to - m_last;
    m_last = to;
    if (ordinateIsManual())
        chooseY(now.yAt(now.area.bottom() - moved.y()), now.yAt(now.area.top() - moved.y()));
    const double dx = now.xAt(now.area.left()) - now.xAt(now.area.left() + moved.x());
    requestX(now.x.first + dx, now.x.second + dx);
}

bool PlotGestures::press(const QMouseEvent &event)
{
    if (!frame().area.contains(event.position()))
        return false;
    m_start = m_last = event.position();
    const bool shift = event.modifiers() & Qt::ShiftModifier;
    if (event.button() == Qt::MiddleButton || (event.button() == Qt::LeftButton && shift))
        m_kind = Kind::Pan;
    else if (event.button() == Qt::LeftButton)
        m_kind = Kind::Band;
    return m_kind != Kind::None;
}

void PlotGestures::move(const QMouseEvent &event)
{
    if (m_kind == Kind::Pan) {
        pan(event.position());
    } else if (m_kind == Kind::Band) {
        m_last = event.position();
        repaint();
    } else if (const PlotFrame now = frame(); now.area.contains(event.position())) {
        hover(now.xAt(event.position().x()));
    } else {
        leave();
    }
}

void PlotGestures::release(const QMouseEvent &event)
{
    if (m_kind == Kind::Band) {
        m_last = event.position();
        const QRectF chosen = band();
        const PlotFrame now = frame();
        // A flat drag means "this stretch", not a slice of the ordinate.
        if (chosen.width() > 6 && chosen.height() > 14)
            chooseY(now.yAt(chosen.bottom()), now.yAt(chosen.top()));
        if (chosen.width() > 6)
            requestX(now.xAt(chosen.left()), now.xAt(chosen.right()));
    }
    m_kind = Kind::None;
    repaint();
}

void PlotGestures::wheel(const QWheelEvent &event)
{
    const PlotFrame now = frame();
    const double notches = event.angleDelta().y() / 120.0;
    const double factor = std::pow(0.85, notches);
    if (event.position().x() < now.area.left() || event.modifiers() & Qt::ControlModifier)
        zoomY(now, event.position().y(), factor);
    else if (notches != 0)
        zoomX(now, now.xAt(event.position().x()), factor);
    const double sideways = event.angleDelta().x() / 120.0 * (now.x.second - now.x.first) * 0.05;
    if (sideways != 0)
        requestX(now.x.first - sideways, now.x.second - sideways);
}

bool PlotGestures::key(const QKeyEvent &event)
{
    const PlotFrame now = frame();
    const double step = (now.x.second - now.x.first) * 0.1, center = (now.x.first + now.x.second) / 2;
    switch (event.key()) {
    case Qt::Key_Left:
        requestX(now.x.first - step, now.x.second - step);
        return true;
    case Qt::Key_Right:
        requestX(now.x.first + step, now.x.second + step);
        return true;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoomX(now, center, 0.8);
        return true;
    case Qt::Key_Minus:
        zoomX(now, center, 1.25);
        return true;
    case Qt::Key_0:
    case Qt::Key_Home:
        reset();
        return true;
    default:
        return false;
    }
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>
#include <QRectF>

#include <functional>
#include <utility>

class QKeyEvent;
class QMouseEvent;
class QWheelEvent;

namespace tw {

/// Where the plot's inside is on the screen and which values it shows.
struct PlotFrame
{
    QRectF area;
    std::pair<double, double> x, y;
    bool logarithmicY = false;

    double xAt(double pixel) const;
    double yAt(double pixel) const;
};

/// Mouse and keyboard of a plot: wheel zooms the abscissa about the pointer (the ordinate with Ctrl
/// or beside the axis), a drag zooms into a band, Shift or the middle button drags the plot.
class PlotGestures
{
public:
    std::function<PlotFrame()> frame;
    std::function<void(double low, double high)> chooseX, chooseY;
    std::function<void(double x)> hover;
    std::function<void()> leave, reset, repaint;
    /// A pan moves the ordinate only after the person has zoomed it.
    std::function<bool()> ordinateIsManual;

    bool press(const QMouseEvent &event);
    void move(const QMouseEvent &event);
    void release(const QMouseEvent &event);
    void wheel(const QWheelEvent &event);
    /// False when the key means nothing here.
    bool key(const QKeyEvent &event);
    /// The rubber band; empty when there is none.
    QRectF band() const;

private:
    enum class Kind { None, Band, Pan };
    void requestX(double low, double high) const;
    void zoomX(const PlotFrame &now, double center, double factor) const;
    void zoomY(const PlotFrame &now, double pixel, double factor) const;
    void pan(QPointF to);

    Kind m_kind = Kind::None;
    QPointF m_start, m_last;
};

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/icons.h"

#include "ui/common/resources.h"

#include <QFile>
#include <QGuiApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>
#include <QSvgRenderer>

namespace tw {

namespace {

QColor colorOfMode(QIcon::Mode mode, QPalette::ColorRole role)
{
    const QPalette palette = QGuiApplication::palette();
    if (mode == QIcon::Disabled)
        return palette.color(QPalette::Disabled, QPalette::ButtonText);
    if (mode == QIcon::Selected)
        return palette.color(QPalette::Active, QPalette::HighlightedText);
    return palette.color(QPalette::Active, role);
}

class ThemedIconEngine : public QIconEngine
{
public:
    ThemedIconEngine(QByteArray svg, QPalette::ColorRole role) : m_svg(std::move(svg)), m_role(role) {}

    void paint(QPainter *painter, const QRect &rect, QIcon::Mode mode, QIcon::State) override
    {
        QByteArray svg = m_svg;
        svg.replace("currentColor", colorOfMode(mode, m_role).name().toLatin1());
        QSvgRenderer renderer(svg);
        const int side = qMin(rect.width(), rect.height());
        QRectF target(0, 0, side, side);
        target.moveCenter(QRectF(rect).center());
        renderer.render(painter, target);
    }

    QPixmap pixmap(const QSize &size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap picture(size);
        picture.fill(Qt::transparent);
        QPainter painter(&picture);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        return picture;
    }

    QPixmap scaledPixmap(const QSize &size, QIcon::Mode mode, QIcon::State state, qreal) override
    {
        return pixmap(size, mode, state);
    }

    QIconEngine *clone() const override { return new ThemedIconEngine(m_svg, m_role); }

private:
    QByteArray m_svg;
    QPalette::ColorRole m_role;
};

} // namespace

QIcon themedIcon(const QString &name, QPalette::ColorRole role)
{
    initResources();
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (name.isEmpty() || !file.open(QIODevice::ReadOnly))
        return {};
    return QIcon(new ThemedIconEngine(file.readAll(), role));
}

QIcon applicationIcon()
{
    initResources();
    return QIcon(QStringLiteral(":/icons/trainwright.svg"));
}

} // namespace tw

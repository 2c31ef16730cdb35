// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/plotexport.h"

#include "ui/metrics/plotwidget.h"

#include <QFile>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

namespace tw {

static bool saveSvg(const QList<PlotWidget *> &plots, int columns, QIODevice &file)
{
    QSvgGenerator svg;
    svg.setOutputDevice(&file);
    svg.setSize(PlotWidget::gridSize(plots, columns));
    svg.setViewBox(QRect(QPoint(0, 0), PlotWidget::gridSize(plots, columns)));
    svg.setTitle(QStringLiteral("Trainwright"));
    PlotWidget::paintGrid(plots, columns, svg, 1);
    return true;
}

static bool savePdf(const QList<PlotWidget *> &plots, int columns, QIODevice &file)
{
    const QSize size = PlotWidget::gridSize(plots, columns);
    QPdfWriter pdf(&file);
    pdf.setCreator(QStringLiteral("Trainwright"));
    pdf.setResolution(96); // a device-independent pixel is 0.75 points
    pdf.setPageSize(QPageSize(QSizeF(size) * 0.75, QPageSize::Point, {}, QPageSize::ExactMatch));
    pdf.setPageMargins(QMarginsF());
    PlotWidget::paintGrid(plots, columns, pdf, 1);
    return true;
}

QImage plotPicture(const QList<PlotWidget *> &plots, int columns)
{
    constexpr int scale = 2;
    QImage image(PlotWidget::gridSize(plots, columns) * scale, QImage::Format_RGB32);
    image.fill(Qt::white);
    PlotWidget::paintGrid(plots, columns, image, scale);
    return image;
}

bool savePlotPicture(const QList<PlotWidget *> &plots, int columns, const QString &path)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return false;
    bool written = false;
    if (path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive))
        written = saveSvg(plots, columns, file);
    else if (path.endsWith(QStringLiteral(".pdf"), Qt::CaseInsensitive))
        written = savePdf(plots, columns, file);
    else
        written = plotPicture(plots, columns).save(&file, "PNG");
    return written && file.commit();
}

} // namespace tw

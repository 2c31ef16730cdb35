// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/metricsexport.h"

#include "ui/metrics/metricscontent.h"
#include "ui/metrics/metricscsv.h"
#include "ui/metrics/metricsfeed.h"
#include "ui/metrics/plotexport.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QFileDialog>
#include <QFutureWatcher>
#include <QMessageBox>
#include <QPointer>
#include <QSaveFile>
#include <QtConcurrent>

namespace tw {

namespace {
QString text(const char *source)
{
    return QCoreApplication::translate("MetricsExport", source);
}

QString askFile(QWidget *parent, const char *suffix)
{
    QFileDialog dialog(parent, text(QT_TRANSLATE_NOOP("MetricsExport", "Save metrics")));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(QString::fromLatin1(suffix));
    dialog.setNameFilter(QStringLiteral("*.") + QString::fromLatin1(suffix));
    dialog.selectFile(QStringLiteral("metrics.") + QString::fromLatin1(suffix));
    return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles().value(0) : QString();
}

void tellFailure(QWidget *parent, const QString &path)
{
    QMessageBox box(
        QMessageBox::Warning, text(QT_TRANSLATE_NOOP("MetricsExport", "Save metrics")),
        text(QT_TRANSLATE_NOOP("MetricsExport",
                               "The file %1 could not be written. Choose another folder, or free some space."))
            .replace(QStringLiteral("%1"), path),
        QMessageBox::Ok, parent);
    box.setTextFormat(Qt::PlainText);
    box.exec();
}

QList<SeriesKey> keysOf(const QList<PlotWidget *> &plots, const MetricsView &view)
{
    QList<SeriesKey> keys;
    const QList<PlotKind> kinds = plotCatalog();
    for (const PlotWidget *plot : plots) {
        for (const PlotKind &kind : kinds) {
            if (kind.id == plot->objectName())
                keys += plotKeys(kind, view);
        }
    }
    return keys;
}

void saveCsv(QWidget *parent, const QString &path, const QList<PlotWidget *> &plots, const MetricsView &view,
             CsvFormulas formulas)
{
    auto *watcher = new QFutureWatcher<bool>(parent);
    QObject::connect(watcher, &QFutureWatcherBase::finished, parent, [watcher, parent, path] {
        watcher->deleteLater();
        if (!watcher->result())
            tellFailure(parent, path);
    });
    watcher->setFuture(QtConcurrent::run([path, store = view.feed.store(), keys = keysOf(plots, view), formulas] {
        QSaveFile file(path);
        return file.open(QIODevice::WriteOnly) && writeMetricsCsv(file, store, keys, formulas) && file.commit();
    }));
}

const char *suffixOf(MetricsExport what)
{
    switch (what) {
    case MetricsExport::Svg:
        return "svg";
    case MetricsExport::Pdf:
        return "pdf";
    case MetricsExport::Csv:
        return "csv";
    default:
        return "png";
    }
}
} // namespace

void exportMetrics(QWidget *parent, MetricsExport what, const QList<PlotWidget *> &plots, int columns,
                   const MetricsView &view, CsvFormulas formulas)
{
    if (what == MetricsExport::Copy) {
        QApplication::clipboard()->setImage(plotPicture(plots, columns));
        return;
    }
    const QString path = askFile(parent, suffixOf(what));
    if (path.isEmpty())
        return;
    if (what == MetricsExport::Csv)
        saveCsv(parent, path, plots, view, formulas);
    else if (!savePlotPicture(plots, columns, path))
        tellFailure(parent, path);
}

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/plotcatalog.h"

#include <QCoreApplication>

namespace tw {

static QString text(const char *source)
{
    return QCoreApplication::translate("PlotCatalog", source);
}

static QList<PlotKind> firstPlots()
{
    return {
        {QStringLiteral("loss"),
         text(QT_TRANSLATE_NOOP("PlotCatalog", "Loss")),
         NumberStyle::Plain,
         true,
         {{QStringLiteral("train_loss"), text(QT_TRANSLATE_NOOP("PlotCatalog", "training")), 0, true},
          {QStringLiteral("val_loss"), text(QT_TRANSLATE_NOOP("PlotCatalog", "validation")), 1, false}},
         text(QT_TRANSLATE_NOOP("PlotCatalog", "The loss appears with the first training step."))},
        {QStringLiteral("accuracy"),
         text(QT_TRANSLATE_NOOP("PlotCatalog", "Accuracy")),
         NumberStyle::Ratio,
         true,
         {{QStringLiteral("val_top1"), text(QT_TRANSLATE_NOOP("PlotCatalog", "validation top-1")), 1, false},
          {QStringLiteral("val_top5"), text(QT_TRANSLATE_NOOP("PlotCatalog", "validation top-5")), 2, false},
          {QStringLiteral("train_top1"), text(QT_TRANSLATE_NOOP("PlotCatalog", "training top-1")), 0, false},
          {QStringLiteral("train_top5"), text(QT_TRANSLATE_NOOP("PlotCatalog", "training top-5")), 5, false},
          {QStringLiteral("train_eval_top1"), text(QT_TRANSLATE_NOOP("PlotCatalog", "training set top-1")), 3, false}},
         text(QT_TRANSLATE_NOOP("PlotCatalog", "The accuracy appears after the first epoch."))},
        {QStringLiteral("speed"),
         text(QT_TRANSLATE_NOOP("PlotCatalog", "Images per second")),
         NumberStyle::Rate,
         true,
         {{QStringLiteral("images_per_second"), text(QT_TRANSLATE_NOOP("PlotCatalog", "training")), 2, true}},
         text(QT_TRANSLATE_NOOP("PlotCatalog", "The speed appears with the first training steps."))},
        {QStringLiteral("learning_rate"),
         text(QT_TRANSLATE_NOOP("PlotCatalog", "Learning rate")),
         NumberStyle::Plain,
         true,
         {{QStringLiteral("learning_rate"), text(QT_TRANSLATE_NOOP("PlotCatalog", "learning rate")), 3, false}},
         text(QT_TRANSLATE_NOOP("PlotCatalog", "The learning rate appears with the first training step."))}};
}

static QList<PlotKind> furtherPlots()
{
    const QString note = text(QT_TRANSLATE_NOOP("PlotCatalog", "Nothing was measured yet."));
    return {
        {QStringLiteral("epoch_time"),
         text(QT_TRANSLATE_NOOP("PlotCatalog", "Epoch time")),
         NumberStyle::Duration,
         false,
         {{QStringLiteral("epoch_seconds"), text(QT_TRANSLATE_NOOP("PlotCatalog", "epoch")), 4, false}},
         note},
        {QStringLiteral("memory"),
         text(QT_TRANSLATE_NOOP("PlotCatalog", "Memory")),
         NumberStyle::Megabytes,
         false,
         {{QStringLiteral("memory_mb"), text(QT_TRANSLATE_NOOP("PlotCatalog", "memory")), 6, false}},
         note},
        {QStringLiteral("processor"),
         text(QT_TRANSLATE_NOOP("PlotCatalog", "Processor")),
         NumberStyle::Percent,
         false,
         {{QStringLiteral("cpu_percent"), text(QT_TRANSLATE_NOOP("PlotCatalog", "processor")), 5, false}},
         note},
        {QStringLiteral("step_time"),
         text(QT_TRANSLATE_NOOP("PlotCatalog", "Step time")),
         NumberStyle::Milliseconds,
         false,
         {{QStringLiteral("step_ms"), text(QT_TRANSLATE_NOOP("PlotCatalog", "whole step")), 0, true},
          {QStringLiteral("loader_wait_ms"), text(QT_TRANSLATE_NOOP("PlotCatalog", "waiting for images")), 1, true}},
         note},
        {QStringLiteral("loader_time"),
         text(QT_TRANSLATE_NOOP("PlotCatalog", "Loading a batch")),
         NumberStyle::Milliseconds,
         false,
         {{QStringLiteral("loader_decode_ms"), text(QT_TRANSLATE_NOOP("PlotCatalog", "reading and decoding")), 0, true},
          {QStringLiteral("loader_transform_ms"), text(QT_TRANSLATE_NOOP("PlotCatalog", "transforming")), 1, true}},
         note},
        {QStringLiteral("loader_rate"),
         text(QT_TRANSLATE_NOOP("PlotCatalog", "Megabytes read per second")),
         NumberStyle::Plain,
         false,
         {{QStringLiteral("loader_mb_per_second"), text(QT_TRANSLATE_NOOP("PlotCatalog", "MB/s")), 2, true}},
         note}};
}

QList<PlotKind> plotCatalog()
{
    return firstPlots() + furtherPlots();
}

} // namespace tw

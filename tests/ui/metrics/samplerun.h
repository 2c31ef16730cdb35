// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/metricpoint.h"

#include <QDir>
#include <QFile>
#include <QList>

#include <cmath>
#include <random>

namespace tw::test {

/// A training run as a small network on ten classes gives it.
inline QList<MetricPoint> samplePoints(int epochs, int stepsPerEpoch, const QString &node = QStringLiteral("train1"))
{
    QList<MetricPoint> points;
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0, 1);
    for (int step = 1; step <= epochs * stepsPerEpoch; ++step) {
        const double epoch = 1 + double(step - 1) / stepsPerEpoch, seconds = step * 0.031;
        const double part = double(step) / (epochs * stepsPerEpoch);
        const auto add = [&](const char *series, double value) {
            points << MetricPoint{node, QString::fromLatin1(series), step, epoch, seconds, 0, value};
        };
        const double loss = 0.18 + 2.1 * std::exp(-part * 9);
        add("train_loss", loss * (1 + 0.16 * noise(random)));
        add("images_per_second", 1030 + 25 * noise(random) - 180 * std::exp(-step / 20.0));
        add("learning_rate", 0.05 * std::pow(1 - part, 2));
        if (step % stepsPerEpoch == 0) {
            const qsizetype first = points.size();
            add("val_loss", loss * 1.12 + (part > 0.7 ? (part - 0.7) * 0.35 : 0) + 0.008 * noise(random));
            add("val_top1", 0.925 - 0.55 * std::exp(-part * 6) + 0.003 * noise(random));
            add("val_top5", 0.995 - 0.3 * std::exp(-part * 9));
            add("train_top1", 0.955 - 0.6 * std::exp(-part * 5));
            add("epoch_seconds", stepsPerEpoch * 0.031 + 0.2 * noise(random));
            for (qsizetype i = first; i < points.size(); ++i)
                points[i].epoch = step / stepsPerEpoch;
        }
    }
    return points;
}

inline QByteArray metricsText(const QList<MetricPoint> &points)
{
    QByteArray text;
    for (const MetricPoint &point : points)
        text += point.toJsonLine() + '\n';
    return text;
}

inline bool writeText(const QString &path, const QByteArray &text, QIODevice::OpenMode mode = QIODevice::WriteOnly)
{
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    return file.open(mode) && file.write(text) == text.size();
}

} // namespace tw::test

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/datasetscan.h"
#include "core/train/trainer.h"

#include <QFile>
#include <QMap>
#include <QTemporaryDir>

#include <functional>
#include <vector>

namespace tw::test {

/// Keeps what the trainer says; `onProgress` may set the stop flags.
class RecordingContext : public RunContext
{
public:
    QString nodeId() const override { return QStringLiteral("train1"); }
    fs::path nodeFolder() const override { return fs::temp_directory_path(); }
    fs::path cacheFolder() const override { return fs::temp_directory_path(); }
    void progress(double fraction, const QString &text) override
    {
        fractions.push_back(fraction);
        if (onProgress)
            onProgress(text);
    }
    void log(LogLevel level, const QString &line) override
    {
        if (level == LogLevel::Warning)
            warnings.append(line);
    }
    void driverLog(int, const QString &line) override { lines.append(line); }
    void metric(const MetricPoint &point) override { points[point.series].push_back(point); }
    void result(const QString &key, const QJsonValue &value) override { results[key] = value; }
    void stoppedEarly(const QString &reason) override { stopped = reason; }
    const StopToken &stopToken() const override { return token; }

    StopToken token;
    std::function<void(const QString &)> onProgress;
    std::vector<double> fractions;
    QStringList lines, warnings;
    QMap<QString, std::vector<MetricPoint>> points;
    QMap<QString, QJsonValue> results;
    QString stopped;
};

/// Class c is a bright square at a place of its own over noise that a fixed generator draws.
inline std::vector<std::uint8_t> syntheticImage(int size, int classes, int label, std::uint32_t &state)
{
    std::vector<std::uint8_t> pixels(std::size_t(size) * std::size_t(size));
    for (auto &pixel : pixels) {
        state = state * 1664525U + 1013904223U;
        pixel = std::uint8_t(state >> 26);
    }
    const int edge = size / classes;
    for (int y = 0; y < size / 2; ++y) {
        for (int x = label * edge; x < (label + 1) * edge; ++x)
            pixels[std::size_t(y * size + x)] = 220;
    }
    return pixels;
}

inline QByteArray bigEndian(std::uint32_t value)
{
    QByteArray out(4, '\0');
    for (int i = 0; i < 4; ++i)
        out[i] = char(value >> (24 - 8 * i));
    return out;
}

/// Writes an IDX pair "<prefix>-images-idx3-ubyte" and its labels into `folder`; labels run
/// 0, 1, …, classes − 1, 0, ….
inline fs::path writeIdx(const fs::path &folder, const std::string &prefix, int count, int classes, int size,
                         std::uint32_t seed)
{
    QByteArray images = bigEndian(0x803) + bigEndian(std::uint32_t(count)) + bigEndian(std::uint32_t(size))
                        + bigEndian(std::uint32_t(size));
    QByteArray labels = bigEndian(0x801) + bigEndian(std::uint32_t(count));
    std::uint32_t state = seed;
    for (int i = 0; i < count; ++i) {
        const auto pixels = syntheticImage(size, classes, i % classes, state);
        images.append(reinterpret_cast<const char *>(pixels.data()), qsizetype(pixels.size()));
        labels.append(char(i % classes));
    }
    const fs::path file = folder / (prefix + "-images-idx3-ubyte");
    const auto save = [](const fs::path &path, const QByteArray &bytes) {
        QFile out(QString::fromStdString(path.string()));
        return out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size();
    };
    if (!save(file, images) || !save(folder / (prefix + "-labels-idx1-ubyte"), labels))
        qFatal("the data of the test could not be written");
    return file;
}

inline ManifestPtr openIdx(const fs::path &images, std::vector<std::string> classNames = {},
                           std::optional<TransformList> transforms = {})
{
    ScanOptions options;
    options.classNames = std::move(classNames);
    auto scan = scanDataset(images, options);
    if (!scan.ok())
        qFatal("%s", qPrintable(scan.error().toString()));
    scan->manifest.transforms = std::move(transforms);
    return std::make_shared<const ImageManifest>(std::move(scan->manifest));
}

/// A small training that learns its four classes in two epochs.
struct SmallTraining
{
    QTemporaryDir temporary;
    fs::path folder{temporary.path().toStdString()};
    TrainingSpec spec;

    explicit SmallTraining(int images = 96, int classes = 4, int size = 16)
    {
        spec.training = openIdx(writeIdx(folder, "train", images, classes, size, 1));
        spec.validation = openIdx(writeIdx(folder, "val", images / 2, classes, size, 2));
        spec.model.config.architecture = QStringLiteral("small_cnn");
        spec.model.config.arguments = {{QStringLiteral("in_channels"), 1}};
        spec.epochs = 2;
        spec.batchSize = 16;
        spec.learningRate = 0.05;
        spec.device = QStringLiteral("cpu");
        spec.normalization = QStringLiteral("half");
        spec.numWorkers = 1;
    }
};

} // namespace tw::test

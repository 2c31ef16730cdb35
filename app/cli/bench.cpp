// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/bench.h"

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/data/batchloader.h"
#include "core/train/devices.h"

namespace tw::cli {

namespace {

using Figures = std::initializer_list<std::pair<const char *, double>>;

void printFigures(Figures figures, bool json)
{
    QByteArray text;
    for (const auto &[name, value] : figures) {
        if (json)
            text += (text.isEmpty() ? "{\"" : ",\"") + QByteArray(name) + "\":" + jsonNumber(value, 6);
        else
            text += QByteArray(name).leftJustified(20) + QByteArray::number(value, 'f', 3) + '\n';
    }
    writeOut(json ? text + "}\n" : text);
}

int failWith(const Error &error)
{
    printError(error);
    return exitFailed;
}

int benchTraining(const Arguments &arguments)
{
    if (!arguments.has("model"))
        return usageError(QStringLiteral("'bench train' needs --model."),
                          QStringLiteral("For example: bench train --model resnet18"));
    const auto size = integerOption(arguments, "image-size", 224, 1, 4096),
               classes = integerOption(arguments, "classes", 10, 1, 1'000'000);
    const auto batch = integerOption(arguments, "batch", 16, 1, 65536),
               steps = integerOption(arguments, "steps", 8, 1, 1'000'000);
    const auto threads = integerOption(arguments, "threads", 0, 0, 4096);
    if (!size || !classes || !batch || !steps || !threads)
        return exitUsage;
    BenchTrainOptions options;
    options.model = arguments.text("model");
    options.imageSize = int(*size);
    options.classes = int(*classes);
    options.batch = int(*batch);
    options.steps = int(*steps);
    options.threads = int(*threads);
    if (arguments.has("precision"))
        options.precision = arguments.text("precision");
    openCudaLibrary();
    const auto report = benchTrain(options);
    if (!report.ok())
        return failWith(report.error());
    printFigures({{"images_per_second", report->imagesPerSecond},
                  {"first_step_s", report->firstStepSeconds},
                  {"step_ms", report->stepMs},
                  {"peak_rss_mb", report->peakRssMb}},
                 arguments.has("json"));
    return exitDone;
}

bool readCacheOptions(const Arguments &arguments, BenchLoaderOptions &options)
{
    const QByteArray cache = arguments.has("cache") ? arguments.bytes("cache") : QByteArray("none");
    const QByteArray detail = arguments.has("cache-detail") ? arguments.bytes("cache-detail") : QByteArray("exact");
    if (cache != "none" && cache != "memory" && cache != "disk") {
        usageError(QStringLiteral("'--cache %1' is neither none, memory nor disk.").arg(QString::fromUtf8(cache)), {});
        return false;
    }
    if (detail != "exact" && detail != "compact") {
        usageError(QStringLiteral("'--cache-detail %1' is neither exact nor compact.").arg(QString::fromUtf8(detail)),
                   {});
        return false;
    }
    options.cache = cache == "memory" ? CacheMode::Memory : cache == "disk" ? CacheMode::Disk : CacheMode::None;
    options.cacheDetail = detail == "compact" ? CacheDetail::Compact : CacheDetail::Exact;
    options.cacheFolder = workspaceFolder(arguments) / "cache";
    return true;
}

int benchLoading(const Arguments &arguments)
{
    if (arguments.words().size() != 2)
        return usageError(QStringLiteral("'bench loader' needs a data set."),
                          QStringLiteral("For example: bench loader pictures/"));
    const auto size = integerOption(arguments, "size", 224, 1, 4096),
               batch = integerOption(arguments, "batch", 32, 1, 65536);
    const auto workers = integerOption(arguments, "workers", automaticWorkers(), 0, 1024);
    const auto seconds = realOption(arguments, "seconds", 10, 0.1, 86400);
    const QByteArray transform = arguments.has("transform") ? arguments.bytes("transform") : QByteArray("train");
    if (!size || !batch || !workers || !seconds)
        return exitUsage;
    if (transform != "train" && transform != "val")
        return usageError(
            QStringLiteral("'--transform %1' is neither train nor val.").arg(QString::fromUtf8(transform)), {});
    const QByteArray pixelPath = arguments.has("pixel-path") ? arguments.bytes("pixel-path") : QByteArray("exact");
    if (pixelPath != "exact" && pixelPath != "fast")
        return usageError(
            QStringLiteral("'--pixel-path %1' is neither exact nor fast.").arg(QString::fromUtf8(pixelPath)), {});
    BenchLoaderOptions options;
    options.fast = pixelPath == "fast";
    options.data = arguments.words().at(1);
    options.trainTransform = transform == "train";
    options.size = int(*size);
    options.batch = int(*batch);
    options.workers = int(*workers);
    options.seconds = *seconds;
    if (!readCacheOptions(arguments, options))
        return exitUsage;
    const auto report = benchLoader(options);
    if (!report.ok())
        return failWith(report.error());
    printFigures({{"images_per_second", report->imagesPerSecond},
                  {"first_images_per_second", report->firstImagesPerSecond},
                  {"cpu_ms_per_image", report->cpuMsPerImage},
                  {"decode_ms", report->decodeMs},
                  {"transform_ms", report->transformMs},
                  {"megabytes_per_second", report->megabytesPerSecond},
                  {"peak_rss_mb", report->peakRssMb}},
                 arguments.has("json"));
    return exitDone;
}

int run(const Arguments &arguments)
{
    const QByteArray &what = arguments.words().first();
    if (what == "train" && arguments.words().size() == 1)
        return benchTraining(arguments);
    if (what == "loader")
        return benchLoading(arguments);
    return usageError(QStringLiteral("'bench' knows no '%1'.").arg(QString::fromUtf8(arguments.words().last())),
                      QStringLiteral("It knows train and loader DATA."));
}

} // namespace

Command benchCommand()
{
    return {"bench",
            "train | loader DATA",
            "Measures what this machine can do.",
            {{"model", "NAME", "network to train"},
             {"image-size", "N", "edge of its pictures"},
             {"classes", "N", "number of classes"},
             {"steps", "N", "training steps"},
             {"precision", "P", "fp32 or bf16"},
             {"threads", "N", "processor threads, 0 as LibTorch chooses"},
             {"batch", "N", "pictures a batch"},
             {"transform", "T", "train or val"},
             {"size", "N", "edge of the loaded pictures"},
             {"workers", "N", "loader threads"},
             {"pixel-path", "P", "exact or fast"},
             {"seconds", "S", "how long to load"},
             {"cache", "C", "none, memory or disk (the workspace's)"},
             {"cache-detail", "D", "exact or compact"},
             {"workspace", "DIR", "workspace folder"},
             {"json", nullptr, "print JSON"}},
            1,
            2,
            run};
}

} // namespace tw::cli

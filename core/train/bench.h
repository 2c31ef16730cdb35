// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/component/runcontext.h"
#include "core/data/cacheplan.h"

#include <QString>

namespace tw {

struct BenchTrainOptions
{
    QString model;
    int imageSize = 224;
    int classes = 10;
    int batch = 16;
    int steps = 8;
    QString precision = QStringLiteral("fp32"); ///< fp32 | bf16
    int threads = 0;
};
struct BenchTrainReport
{
    double imagesPerSecond = 0;  ///< median of the steps
    double firstStepSeconds = 0; ///< from the start of the process
    double stepMs = 0;
    double peakRssMb = 0;
};
/// Training steps on synthetic tensors, SGD (lr .01, momentum .9, weight decay 1e-4).
Result<BenchTrainReport> benchTrain(const BenchTrainOptions &options, const StopToken *stop = nullptr);

struct BenchLoaderOptions
{
    QByteArray data;            ///< class-per-folder set or IDX (bytes of the path)
    bool trainTransform = true; ///< RandomResizedCrop + flip, else Resize + CenterCrop
    int size = 224;
    int batch = 32;
    int workers = 2;
    bool fast = false; ///< the fast pixel path
    double seconds = 10;
    CacheMode cache = CacheMode::None;
    CacheDetail cacheDetail = CacheDetail::Exact;
    fs::path cacheFolder; ///< of CacheMode::Disk
};
struct BenchLoaderReport
{
    /// Median of the whole passes after the first; where there was no second one, of all the time.
    double imagesPerSecond = 0;
    double firstImagesPerSecond = 0; ///< of the first pass, with the start of the threads
    double cpuMsPerImage = 0;        ///< processor time, all passes
    double decodeMs = 0;             ///< of a thread, per picture: reading and decoding
    double transformMs = 0;          ///< of a thread, per picture: transforming and normalising
    double megabytesPerSecond = 0;   ///< encoded bytes, all passes
    double peakRssMb = 0;
};
Result<BenchLoaderReport> benchLoader(const BenchLoaderOptions &options, const StopToken *stop = nullptr);

} // namespace tw

// SPDX-License-Identifier: GPL-3.0-or-later
// A loader of large pictures is canceled at varied moments; from then on until all its threads are
// gone hardly more passes than the picture in hand.
#include "core/data/batchloader.h"
#include "core/data/datasetscan.h"
#include "tests/core/data/datasamples.h"
#include "tests/core/data/jpegsamples.h"
#include "tests/support/testsupport.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cstdio>
#include <thread>

using namespace tw;
using namespace tw::test;

namespace {

constexpr int pictureCount = 60;
constexpr double leastSeconds = 20;

/// Milliseconds from the cancel on until the loader is destroyed.
Result<double> cancelAfter(int milliseconds, int workers, const ManifestPtr &manifest)
{
    LoaderOptions options;
    options.batchSize = 16;
    options.numWorkers = workers;
    const TransformList crop{{TransformOp::Kind::Resize, 256}, {TransformOp::Kind::CenterCrop, 224}};
    TW_ASSIGN(loader, BatchLoader::create(manifest, crop, options));
    StopToken stop;
    QElapsedTimer sinceCancel;
    std::thread canceler([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        sinceCancel.start();
        stop.cancel = true;
    });
    for (std::uint32_t epoch = 1; !stop.cancel; ++epoch) {
        loader->startEpoch(epoch);
        for (bool more = true; more && !stop.cancel;) {
            const auto batch = loader->next(&stop);
            more = batch.ok() && batch->has_value();
        }
    }
    canceler.join();
    loader.reset();
    return double(sinceCancel.nsecsElapsed()) / 1e6;
}

} // namespace

class LoaderLatencyTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cancelEndsAllThreads();
};

void LoaderLatencyTest::cancelEndsAllThreads()
{
    QTemporaryDir folder;
    const fs::path root = fs::path(folder.path().toStdString());
    const QByteArray picture = jpegOf(patternImage(1600, 1200, 1));
    for (int i = 0; i < pictureCount; ++i)
        writeBytes(root / (i % 2 ? "a" : "b") / (std::to_string(i) + ".jpg"), picture);
    auto scan = scanDataset(root, {});
    TW_VERIFY(scan);
    const auto manifest = std::make_shared<const ImageManifest>(std::move(scan->manifest));

    QList<double> waits;
    QElapsedTimer run;
    run.start();
    unsigned state = 1;
    for (int round = 0; double(run.elapsed()) < 1000 * leastSeconds; ++round) {
        state = state * 1664525U + 1013904223U;
        const auto wait = cancelAfter(5 + int(state >> 24), 2 + round % 3, manifest);
        TW_VERIFY(wait);
        waits.append(*wait);
    }
    std::sort(waits.begin(), waits.end());
    const double share = waits[qsizetype(double(waits.size() - 1) * .99)];
    qInfo("%lld loaders over %.1f s: median %.1f ms, 99th percentile %.1f ms, worst %.1f ms", qlonglong(waits.size()),
          double(run.elapsed()) / 1000, waits[waits.size() / 2], share, waits.last());
    QVERIFY2(share <= 200, qPrintable(QString::number(share)));
}

QTEST_GUILESS_MAIN(LoaderLatencyTest)
#include "tst_loaderlatency.moc"

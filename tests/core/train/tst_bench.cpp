// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/bench.h"

#include "core/train/processusage.h"
#include "tests/core/train/trainfixture.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;

class TestBench : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void trainReports_data();
    void trainReports();
    void trainRefusals_data();
    void trainRefusals();
    void loaderReports();
    void loaderWithCaches();
    void loaderWithoutData();
    void cancelEnds();
};

void TestBench::trainReports_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("precision");
    for (const char *precision : {"fp32", "bf16"}) {
        for (const char *model : {"small_cnn", "mlp", "resnet18"})
            QTest::addRow("%s %s", model, precision) << QString::fromLatin1(model) << QString::fromLatin1(precision);
    }
}

void TestBench::trainReports()
{
    BenchTrainOptions options;
    QFETCH(QString, model);
    options.model = model;
    QFETCH(QString, precision);
    options.precision = precision;
    options.imageSize = 32;
    options.batch = 4;
    options.steps = 2;
    options.threads = 1;
    const auto report = benchTrain(options);
    TW_VERIFY(report);
    QVERIFY(report->imagesPerSecond > 0);
    QVERIFY(std::abs(report->imagesPerSecond * report->stepMs / 1000 - 4) < 1e-6);
    QVERIFY(report->firstStepSeconds > 0 && report->firstStepSeconds <= secondsSinceProcessStart() + 0.02);
    QVERIFY(report->peakRssMb > 10);
}

void TestBench::trainRefusals_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("precision");
    QTest::addColumn<int>("batch");
    QTest::addColumn<QString>("error");
    QTest::newRow("model") << "resnet17"
                           << "fp32" << 4 << "InvalidModelDirectoryError";
    QTest::newRow("precision") << "resnet18"
                               << "fp8" << 4 << "NotInRangeValueError";
    QTest::newRow("batch") << "resnet18"
                           << "fp32" << 0 << "GreaterThanError";
}

void TestBench::trainRefusals()
{
    BenchTrainOptions options;
    QFETCH(QString, model);
    options.model = model;
    QFETCH(QString, precision);
    options.precision = precision;
    QFETCH(int, batch);
    options.batch = batch;
    const auto report = benchTrain(options);
    QVERIFY(!report.ok());
    QTEST(report.error().name, "error");
}

void TestBench::loaderReports()
{
    test::SmallTraining small;
    BenchLoaderOptions options;
    options.data = QByteArray::fromStdString((small.folder / "train-images-idx3-ubyte").string());
    options.size = 16;
    options.seconds = 0.2;
    for (const bool training : {true, false}) {
        options.trainTransform = training;
        const auto report = benchLoader(options);
        TW_VERIFY(report);
        QVERIFY(report->imagesPerSecond > 0);
        QVERIFY(report->cpuMsPerImage > 0);
    }
}

void TestBench::loaderWithCaches()
{
    QTemporaryDir temporary;
    const fs::path folder = temporary.path().toStdString();
    for (int i = 0; i < 8; ++i) {
        const fs::path file = folder / "set" / (i % 2 ? "a" : "b") / (std::to_string(i) + ".ppm");
        fs::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << "P6\n40 30\n255\n" << std::string(40 * 30 * 3, char(i));
    }
    BenchLoaderOptions options;
    options.data = bytesFromPath(folder / "set");
    options.size = 16;
    options.batch = 4;
    options.seconds = 0.1;
    options.cacheFolder = folder / "cache";
    for (const CacheMode mode : {CacheMode::Memory, CacheMode::Disk}) {
        options.cache = mode;
        const auto report = benchLoader(options);
        TW_VERIFY(report);
        QVERIFY(report->imagesPerSecond > 0);
    }
    QVERIFY(!fs::is_empty(folder / "cache/decoded"));
}

void TestBench::loaderWithoutData()
{
    BenchLoaderOptions options;
    options.data = "/nowhere/at/all";
    const auto report = benchLoader(options);
    QVERIFY(!report.ok());
    QCOMPARE(report.error().name, QStringLiteral("InvalidDatasetError"));
}

void TestBench::cancelEnds()
{
    StopToken token;
    token.cancel = true;
    BenchTrainOptions options;
    options.model = QStringLiteral("mlp");
    options.imageSize = 8;
    const auto report = benchTrain(options, &token);
    QVERIFY(!report.ok());
    QCOMPARE(report.error().name, QStringLiteral("CanceledError"));
}

QTEST_APPLESS_MAIN(TestBench)
#include "tst_bench.moc"

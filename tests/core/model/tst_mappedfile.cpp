// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/mappedfile.h"

#include "core/model/modeldirectory.h"
#include "core/model/weightsfile.h"
#include "tests/core/model/weightshelpers.h"
#include "tests/support/testsupport.h"

#include <QElapsedTimer>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

using namespace tw;
using test::tensor;

/// Files that another program cuts while they are mapped: no crash, and nobody takes zeros for weights.
class MappedFileTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void nothingIsLostUsually();
    void whatIsCutReadsAsZeros();
    void manyFilesAtATime();
    void cutBetweenReadingAndWriting();
    void savedOverAgainAndAgain();

private:
    fs::path path(const char *name) const { return fs::path(m_dir.path().toStdString()) / name; }
    QTemporaryDir m_dir;
};

static void fill(const fs::path &file, std::size_t bytes)
{
    const std::string ones(bytes, '\1');
    std::ofstream(file, std::ios::binary) << ones;
}

static unsigned sum(std::span<const std::byte> bytes)
{
    unsigned total = 0;
    for (const std::byte one : bytes)
        total += std::to_integer<unsigned>(one);
    return total;
}

static StateDict largeTensor()
{
    return {tensor<float>("layer.weight", ElementType::F32, {500'000}, std::vector<float>(500'000, 0.5F))};
}

void MappedFileTest::nothingIsLostUsually()
{
    fill(path("whole"), 100'000);
    const unsigned before = MappedFile::lost();
    const auto file = MappedFile::open(path("whole"));
    TW_VERIFY(file);
    QCOMPARE(sum((*file)->bytes()), 100'000U);
    QCOMPARE(MappedFile::lost(), before);
    TW_VERIFY(MappedFile::checkNothingLost(before, QStringLiteral("whole")));
}

void MappedFileTest::whatIsCutReadsAsZeros()
{
    fill(path("cut"), 100'000);
    const unsigned before = MappedFile::lost();
    const auto file = MappedFile::open(path("cut"));
    TW_VERIFY(file);
    fs::resize_file(path("cut"), 5000);
    QCOMPARE(sum((*file)->bytes()), 5000U);
    QVERIFY(MappedFile::lost() > before);
    const auto checked = MappedFile::checkNothingLost(before, QStringLiteral("cut"));
    QVERIFY(!checked.ok());
    QCOMPARE(checked.error().name, QLatin1String(errors::InvalidModelDirectory));
    QVERIFY2(checked.error().sentence().startsWith(u"cut was cut short by another program"),
             qPrintable(checked.error().sentence()));
}

void MappedFileTest::manyFilesAtATime()
{
    fill(path("many"), 10'000);
    std::vector<std::shared_ptr<const MappedFile>> files;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 300; ++i) { // more than are guarded
            const auto file = MappedFile::open(path("many"));
            TW_VERIFY(file);
            files.push_back(*file);
        }
        files.clear();
    }
    const auto file = MappedFile::open(path("many"));
    TW_VERIFY(file);
    fs::resize_file(path("many"), 1);
    QCOMPARE(sum((*file)->bytes()), 1U);
}

void MappedFileTest::cutBetweenReadingAndWriting()
{
    for (const char *name : {"weights.pth", "weights.safetensors"}) {
        const fs::path source = path(name), out = path("out");
        TW_VERIFY(source.extension() == ".pth" ? writePth(source, largeTensor())
                                               : writeSafetensors(source, largeTensor()));
        const auto weights = readWeights(source);
        TW_VERIFY(weights);
        fs::resize_file(source, 4096);
        fs::remove_all(out);
        fs::create_directory(out);
        ModelInfo info;
        info.classes = {"a"};
        const auto written = writeModelDirectory(out, info, *weights, {});
        QVERIFY(!written.ok());
        QCOMPARE(written.error().name, QLatin1String(errors::InvalidModelDirectory));
        QVERIFY(!fs::exists(out / "model.json"));
    }
}

/// As a training script does with the file of its best weights: each look gives all of it or an error.
void MappedFileTest::savedOverAgainAndAgain()
{
    const fs::path file = path("best.pth"), whole = path("whole.pth");
    TW_VERIFY(writePth(whole, largeTensor()));
    std::ifstream in(whole, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::ofstream(file, std::ios::binary) << bytes;
    std::atomic<bool> stop = false;
    std::thread writer([&] {
        while (!stop) {
            std::ofstream(file, std::ios::binary) << bytes;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    });
    const auto end = qScopeGuard([&] {
        stop = true;
        writer.join();
    });
    int read = 0, refused = 0;
    QElapsedTimer clock;
    clock.start();
    while ((read < 20 || refused < 20) && clock.elapsed() < 60'000) {
        WeightsReport report;
        const auto weights = readWeights(file, &report);
        if (!weights.ok()) {
            QCOMPARE(weights.error().name, QLatin1String(errors::InvalidModelDirectory));
            ++refused;
            continue;
        }
        ++read;
        QCOMPARE(weights->front().elements(), 500'000);
    }
    QVERIFY(read >= 20 && refused >= 20);
}

QTEST_GUILESS_MAIN(MappedFileTest)
#include "tst_mappedfile.moc"

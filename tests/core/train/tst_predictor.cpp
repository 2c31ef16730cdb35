// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/predictor.h"

#include "tests/core/train/trainfixture.h"
#include "tests/support/testsupport.h"

#include <QTest>

using namespace tw;
using test::RecordingContext;
using test::SmallTraining;

class TestPredictor : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void scoresAsTheValidationDid();
    void batchSizeDoesNotMatter();
    void refusals();

private:
    Result<std::vector<float>> scoreAll(int batchSize);

    SmallTraining m_small{64};
    fs::path m_model;
    double m_valTop1 = 0;
};

void TestPredictor::initTestCase()
{
    m_small.spec.keep = QStringLiteral("last");
    RecordingContext context;
    const auto result = train(m_small.spec, context);
    TW_VERIFY(result);
    m_valTop1 = context.points[QStringLiteral("val_top1")].back().value;
    m_model = m_small.folder / "model";
    fs::create_directory(m_model);
    TW_VERIFY(writeModelDirectory(m_model, result->info, result->weights, {}));
}

Result<std::vector<float>> TestPredictor::scoreAll(int batchSize)
{
    TW_ASSIGN(predictor, Predictor::load(m_model, QStringLiteral("cpu")));
    LoaderOptions options;
    options.batchSize = batchSize;
    options.numWorkers = 0;
    options.channels = predictor->info().channels;
    options.normalization = predictor->info().normalization;
    TW_ASSIGN(loader, BatchLoader::create(m_small.spec.validation, predictor->info().transforms, options));
    loader->startEpoch(1);
    std::vector<float> all;
    while (true) {
        TW_ASSIGN(batch, loader->next());
        if (!batch)
            return all;
        TW_ASSIGN(logits, predictor->logits(**batch));
        all.insert(all.end(), logits.begin(), logits.end());
    }
}

void TestPredictor::scoresAsTheValidationDid()
{
    const auto logits = scoreAll(16);
    TW_VERIFY(logits);
    const std::size_t images = m_small.spec.validation->size();
    QCOMPARE(logits->size(), images * 4);
    std::size_t hits = 0;
    for (std::size_t i = 0; i < images; ++i) {
        const auto row = logits->begin() + std::ptrdiff_t(i * 4);
        hits += std::max_element(row, row + 4) - row == m_small.spec.validation->category(i) ? 1 : 0;
    }
    QCOMPARE(double(hits) / double(images), m_valTop1);
}

void TestPredictor::batchSizeDoesNotMatter()
{
    const auto sixteen = scoreAll(16), one = scoreAll(1);
    TW_VERIFY(sixteen);
    TW_VERIFY(one);
    for (std::size_t i = 0; i < sixteen->size(); ++i)
        QVERIFY(std::abs((*sixteen)[i] - (*one)[i]) < 1e-4F);
}

void TestPredictor::refusals()
{
    const auto nowhere = Predictor::load(m_small.folder / "nowhere", QStringLiteral("cpu"));
    QVERIFY(!nowhere.ok());
    QCOMPARE(nowhere.error().name, QStringLiteral("InvalidModelDirectoryError"));
    const auto device = Predictor::load(m_model, QStringLiteral("cuda:77"));
    QVERIFY(!device.ok());
    QCOMPARE(device.error().name, QStringLiteral("DeviceUnavailableError"));
}

QTEST_APPLESS_MAIN(TestPredictor)
#include "tst_predictor.moc"

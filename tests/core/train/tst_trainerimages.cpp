// SPDX-License-Identifier: GPL-3.0-or-later
// Trainings on picture files: unequal sizes, crops that do not fit and pictures that fail later.
#include "core/train/trainer.h"

#include "tests/core/data/datasamples.h"
#include "tests/core/train/trainfixture.h"
#include "tests/support/testsupport.h"

#include <QTest>

using namespace tw;
using namespace tw::test;
using Kind = TransformOp::Kind;

namespace {

ManifestPtr filesIn(const fs::path &folder, std::optional<TransformList> transforms = {}, bool skipUnreadable = true)
{
    auto scan = scanDataset(folder, {});
    if (!scan.ok())
        qFatal("%s", qPrintable(scan.error().toString()));
    scan->manifest.transforms = std::move(transforms);
    scan->manifest.skipUnreadable = skipUnreadable;
    return std::make_shared<const ImageManifest>(std::move(scan->manifest));
}

} // namespace

class TestTrainerImages : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void unequalSizesAreFoundFirst_data();
    void unequalSizesAreFoundFirst();
    void fixedSizesTrain();
    void batchesOfOneMayDiffer();
    void cropThatDoesNotFit();
    void unreadableLater_data();
    void unreadableLater();
    void unreadableWhileMeasuring();

private:
    void expectRefusal(const QStringList &parts);

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_training, m_validation;
    TrainingSpec m_spec;
};

void TestTrainerImages::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    const fs::path root = m_folder->path().toStdString();
    m_training = root / "train";
    m_validation = root / "val";
    writeClassFolders(m_training, 30, 16, 16);
    writeClassFolders(m_validation, 24, 16, 16);
    m_spec = TrainingSpec();
    m_spec.model.config = {QStringLiteral("small_cnn"), {{QStringLiteral("in_channels"), 3}}};
    m_spec.training = filesIn(m_training);
    m_spec.validation = filesIn(m_validation);
    m_spec.epochs = 1;
    m_spec.batchSize = 4;
    m_spec.learningRate = 0.01;
    m_spec.device = QStringLiteral("cpu");
    m_spec.normalization = QStringLiteral("half");
    m_spec.numWorkers = 1;
}

/// InvalidDatasetError with these parts in its sentence, before the first step.
void TestTrainerImages::expectRefusal(const QStringList &parts)
{
    RecordingContext context;
    const auto result = train(m_spec, context);
    QVERIFY(!result.ok());
    QCOMPARE(result.error().name, QLatin1String(errors::InvalidDataset));
    for (const QString &part : parts)
        QVERIFY2(result.error().sentence().contains(part), qPrintable(result.error().sentence()));
    QVERIFY(!result.error().hint.isEmpty());
    QVERIFY2(context.points.isEmpty(), "nothing was trained");
}

void TestTrainerImages::unequalSizesAreFoundFirst_data()
{
    QTest::addColumn<bool>("hasOwnList");
    QTest::addColumn<bool>("randomList");
    QTest::addColumn<bool>("inTraining");
    QTest::newRow("the training list less its random crop") << false << false << false;
    QTest::newRow("a list of its own") << true << false << false;
    QTest::newRow("a random list: the model would have none") << true << true << false;
    QTest::newRow("training pictures") << true << false << true;
}

void TestTrainerImages::unequalSizesAreFoundFirst()
{
    QFETCH(bool, hasOwnList);
    QFETCH(bool, randomList);
    QFETCH(bool, inTraining);
    const TransformList crop{{Kind::RandomResizedCrop, 16}}, flip{{Kind::RandomHorizontalFlip}};
    writeBytes((inTraining ? m_training : m_validation) / "c" / "23.ppm", ppmOf(patternImage(18, 20, 1)));
    m_spec.training = filesIn(m_training, inTraining ? flip : crop);
    m_spec.validation =
        filesIn(m_validation, hasOwnList ? std::optional(randomList ? crop : TransformList{}) : std::nullopt);
    expectRefusal({inTraining ? QStringLiteral("training") : QStringLiteral("validation"),
                   QStringLiteral("a/0.ppm\" with 16 × 16"), QStringLiteral("c/23.ppm\" with 18 × 20")});
}

void TestTrainerImages::fixedSizesTrain()
{
    writeBytes(m_validation / "c" / "23.ppm", ppmOf(patternImage(18, 20, 1)));
    const TransformList crop{{Kind::RandomResizedCrop, 16}, {Kind::CenterCrop, 16}};
    m_spec.training = filesIn(m_training, crop);
    m_spec.validation = filesIn(m_validation);
    RecordingContext context;
    const auto result = train(m_spec, context);
    TW_VERIFY(result);
    QCOMPARE(result->info.transforms, (TransformList{{Kind::CenterCrop, 16}}));
}

void TestTrainerImages::batchesOfOneMayDiffer()
{
    // A network that reads any size; one picture a step.
    writeClassFolders(m_validation, 24, 32, 32);
    writeBytes(m_validation / "c" / "23.ppm", ppmOf(patternImage(36, 32, 1)));
    m_spec.model.config = {QStringLiteral("resnet18"), {}};
    m_spec.training = filesIn(m_training, TransformList{{Kind::RandomResizedCrop, 64}});
    m_spec.validation = filesIn(m_validation, TransformList{});
    expectRefusal({QStringLiteral("36 × 32")});
    m_spec.batchSize = 1;
    RecordingContext context;
    TW_VERIFY(train(m_spec, context));
}

void TestTrainerImages::cropThatDoesNotFit()
{
    writeBytes(m_validation / "b" / "22.ppm", ppmOf(patternImage(20, 11, 1)));
    m_spec.training = filesIn(m_training, TransformList{{Kind::CenterCrop, 12}});
    m_spec.validation = filesIn(m_validation);
    expectRefusal({QStringLiteral("12 × 12"), QStringLiteral("b/22.ppm\" of 20 × 11")});
}

void TestTrainerImages::unreadableLater_data()
{
    QTest::addColumn<bool>("skip");
    QTest::addColumn<bool>("inTraining");
    for (const bool inTraining : {true, false}) {
        QTest::addRow("%s, skip", inTraining ? "training" : "validation") << true << inTraining;
        QTest::addRow("%s, fail", inTraining ? "training" : "validation") << false << inTraining;
    }
}

void TestTrainerImages::unreadableLater()
{
    QFETCH(bool, skip);
    QFETCH(bool, inTraining);
    m_spec.training = filesIn(m_training, {}, skip || !inTraining);
    m_spec.validation = filesIn(m_validation, {}, skip || inTraining);
    fs::remove((inTraining ? m_training : m_validation) / "b" / "4.ppm");
    RecordingContext context;
    const auto result = train(m_spec, context);
    if (skip) {
        TW_VERIFY(result);
        QCOMPARE(context.warnings.filter(QStringLiteral("b/4.ppm")).size(), 1);
        return;
    }
    QVERIFY(!result.ok());
    QCOMPARE(result.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(result.error().sentence().contains(QStringLiteral("b/4.ppm")), qPrintable(result.error().sentence()));
}

void TestTrainerImages::unreadableWhileMeasuring()
{
    m_spec.normalization = QStringLiteral("dataset");
    m_spec.training = filesIn(m_training, {}, false);
    fs::remove(m_training / "b" / "4.ppm");
    expectRefusal({QStringLiteral("b/4.ppm")});
}

QTEST_APPLESS_MAIN(TestTrainerImages)
#include "tst_trainerimages.moc"

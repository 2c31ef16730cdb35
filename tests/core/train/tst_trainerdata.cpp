// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainingdata.h"

#include "core/base/files.h"
#include "core/component/portobjects.h"
#include "core/component/trainingchecks.h"
#include "tests/core/train/trainfixture.h"
#include "tests/support/testsupport.h"

#include <QTest>

#include <limits>

using namespace tw;
using test::RecordingContext;
using test::SmallTraining;

namespace {

/// A manifest in memory only: these checks open no image.
ManifestPtr manifest(std::vector<std::string> categories, const std::vector<int> &labels)
{
    auto out = std::make_shared<ImageManifest>();
    out->root = "/pictures";
    out->categories = std::move(categories);
    out->reserve(labels.size(), labels.size() * 8);
    for (std::size_t i = 0; i < labels.size(); ++i)
        out->add(std::to_string(i) + ".png", labels[i], 10, 0);
    return out;
}

TrainingSpec specOf(ManifestPtr training, ManifestPtr validation)
{
    TrainingSpec spec;
    spec.training = std::move(training);
    spec.validation = std::move(validation);
    spec.batchSize = 2;
    return spec;
}

} // namespace

class TestTrainerData : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void validationIdsAreRemappedByName();
    void refusals_data();
    void refusals();
    void missingValidationCategoryIsAWarning();
    void sameCategoriesMayBeRequired();
    void preflightAgrees_data();
    void preflightAgrees();
    void inferenceTransforms();
    void normalizations();
    void sizesMustAgreeForASmallNetwork();
    void batchLargerThanTheData();
    void seedsAreWrittenAsTheyAre_data();
    void seedsAreWrittenAsTheyAre();
};

void TestTrainerData::validationIdsAreRemappedByName()
{
    const auto spec = specOf(manifest({"ant", "bee", "cat"}, {0, 1, 2, 0}), manifest({"cat", "ant"}, {0, 1, 0}));
    const auto data = checkTrainingData(spec);
    TW_VERIFY(data);
    QCOMPARE(data->validation->categories, spec.training->categories);
    QCOMPARE(data->validation->category(0), 2);
    QCOMPARE(data->validation->category(1), 0);
    QCOMPARE(data->validation->category(2), 2);
    QCOMPARE(std::string(data->validation->path(2)), std::string("2.png"));
    QVERIFY(data->warnings.join(u' ').contains(QLatin1String("bee")));
}

void TestTrainerData::refusals_data()
{
    QTest::addColumn<ManifestPtr>("training");
    QTest::addColumn<ManifestPtr>("validation");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("says");
    const auto good = manifest({"ant", "bee"}, {0, 1, 0, 1});
    QTest::newRow("unlabelled training") << manifest({"ant", "bee"}, {0, -1, 1}) << good << "NotLabeledDatasetError"
                                         << "1.png";
    QTest::newRow("unlabelled validation") << good << manifest({}, {-1}) << "NotLabeledDatasetError"
                                           << "validation";
    QTest::newRow("one category") << manifest({"ant"}, {0, 0}) << manifest({"ant"}, {0}) << "InvalidDatasetError"
                                  << "have 1: 'ant'";
    QTest::newRow("unknown validation category") << good << manifest({"ant", "wasp"}, {0, 1}) << "InvalidDatasetError"
                                                 << "wasp";
    QTest::newRow("unknown validation category without images")
        << good << manifest({"ant", "wasp"}, {0}) << "InvalidDatasetError"
        << "wasp";
    QTest::newRow("no training images") << manifest({"ant", "bee"}, {}) << good << "InvalidDatasetError"
                                        << "training";
    QTest::newRow("no validation images") << good << manifest({"ant", "bee"}, {}) << "InvalidDatasetError"
                                          << "validation";
}

void TestTrainerData::refusals()
{
    QFETCH(ManifestPtr, training);
    QFETCH(ManifestPtr, validation);
    QFETCH(QString, name);
    QFETCH(QString, says);
    const auto data = checkTrainingData(specOf(training, validation));
    QVERIFY(!data.ok());
    QCOMPARE(data.error().name, name);
    QVERIFY2(data.error().sentence().contains(says), qPrintable(data.error().sentence()));
}

void TestTrainerData::missingValidationCategoryIsAWarning()
{
    const auto data = checkTrainingData(specOf(manifest({"ant", "bee"}, {0, 1}), manifest({"ant", "bee"}, {0, 0})));
    TW_VERIFY(data);
    QCOMPARE(data->warnings.size(), 1);
    QVERIFY(data->warnings.first().contains(QLatin1String("bee")));
}

void TestTrainerData::sameCategoriesMayBeRequired()
{
    auto spec = specOf(manifest({"ant", "bee"}, {0, 1}), manifest({"ant", "bee"}, {0, 0}));
    spec.requireSameCategories = true;
    const auto data = checkTrainingData(spec);
    QVERIFY(!data.ok());
    QCOMPARE(data.error().name, QStringLiteral("InvalidDatasetError"));
    QVERIFY(data.error().sentence().contains(QLatin1String("bee")));
}

void TestTrainerData::inferenceTransforms()
{
    TransformOp resize, flip, crop;
    resize.size = 40;
    flip.kind = TransformOp::Kind::RandomHorizontalFlip;
    crop.kind = TransformOp::Kind::CenterCrop;
    crop.size = 32;
    auto training = std::make_shared<ImageManifest>(*manifest({"ant", "bee"}, {0, 1}));
    training->transforms = TransformList{resize, flip, crop};
    auto data = checkTrainingData(specOf(training, manifest({"ant", "bee"}, {0, 1})));
    TW_VERIFY(data);
    QCOMPARE(data->inferenceTransforms, (TransformList{resize, crop}));
    QCOMPARE(data->validationTransforms, data->inferenceTransforms);
    auto validation = std::make_shared<ImageManifest>(*manifest({"ant", "bee"}, {0, 1}));
    validation->transforms = TransformList{crop};
    data = checkTrainingData(specOf(training, validation));
    TW_VERIFY(data);
    QCOMPARE(data->inferenceTransforms, TransformList{crop});
    QCOMPARE(data->trainingTransforms, (TransformList{resize, flip, crop}));
    const auto size = inputSize(validation, TransformList{crop}, 1);
    TW_VERIFY(size);
    QCOMPARE(size->height, 32);
}

void TestTrainerData::normalizations()
{
    SmallTraining small(16);
    TrainingSpec &spec = small.spec;
    spec.batchSize = 4;
    const auto data = checkTrainingData(spec);
    TW_VERIFY(data);
    const auto resolve = [&](const char *choice) {
        spec.normalization = QString::fromLatin1(choice);
        return resolveNormalization(spec, *data, nullptr);
    };
    QCOMPARE(resolve("weights")->mean[0], 0.485F);
    QCOMPARE(resolve("imagenet")->std[2], 0.225F);
    QCOMPARE(resolve("half")->std[1], 0.5F);
    QCOMPARE(resolve("none")->std[1], 1.0F);
    const auto measured = resolve("dataset");
    TW_VERIFY(measured);
    QVERIFY(measured->mean[0] > 0.1F && measured->mean[0] < 0.6F);
    QCOMPARE(resolve("other").error().name, QStringLiteral("NotInRangeValueError"));
}

void TestTrainerData::sizesMustAgreeForASmallNetwork()
{
    SmallTraining small(16);
    small.spec.batchSize = 4;
    small.spec.validation = test::openIdx(test::writeIdx(small.folder, "wide", 8, 4, 20, 3));
    RecordingContext context;
    const auto result = train(small.spec, context);
    QVERIFY(!result.ok());
    QCOMPARE(result.error().name, QStringLiteral("InvalidDatasetError"));
    QVERIFY(result.error().sentence().contains(QStringLiteral("16×16")));
    QVERIFY(result.error().sentence().contains(QStringLiteral("20×20")));
}

void TestTrainerData::batchLargerThanTheData()
{
    auto spec = specOf(manifest({"ant", "bee"}, {0, 1, 0}), manifest({"ant", "bee"}, {0, 1}));
    spec.batchSize = 3;
    TW_VERIFY(checkTrainingData(spec));
    spec.batchSize = 4;
    const auto data = checkTrainingData(spec);
    QVERIFY(!data.ok());
    QCOMPARE(data.error().name, QStringLiteral("LessThanOrEqualToError"));
    QCOMPARE(data.error().parameter, QStringLiteral("batch_size"));
    QVERIFY(data.error().sentence().contains(u'4') && data.error().sentence().contains(u'3'));
}

void TestTrainerData::preflightAgrees_data()
{
    QTest::addColumn<ManifestPtr>("validation");
    QTest::addColumn<bool>("same");
    const std::vector<int> all{0, 1, 0, 1};
    for (const bool same : {false, true}) {
        const char *mode = same ? "required" : "not required";
        QTest::addRow("equal, %s", mode) << manifest({"ant", "bee"}, all) << same;
        QTest::addRow("without images, %s", mode) << manifest({"ant", "bee"}, {0, 0}) << same;
        QTest::addRow("missing, %s", mode) << manifest({"bee"}, {0, 0}) << same;
        QTest::addRow("unknown, %s", mode) << manifest({"ant", "bee", "wasp"}, {0, 1, 2}) << same;
        QTest::addRow("unknown without images, %s", mode) << manifest({"ant", "bee", "wasp"}, all) << same;
    }
}

/// What is said before a run is what the run says.
void TestTrainerData::preflightAgrees()
{
    QFETCH(ManifestPtr, validation);
    QFETCH(bool, same);
    auto spec = specOf(manifest({"ant", "bee"}, {0, 1, 0, 1}), validation);
    spec.requireSameCategories = same;
    ParameterValues values;
    values.set(QStringLiteral("require_same_categories"), same);
    values.set(QStringLiteral("batch_size"), qlonglong(spec.batchSize));
    PreflightReply reply;
    checkTrainingData({values,
                       {{QStringLiteral("training_dataset"), factsOf(*spec.training)},
                        {QStringLiteral("validation_dataset"), factsOf(*spec.validation)}}},
                      reply);
    const auto data = checkTrainingData(spec);
    QCOMPARE(reply.errors.isEmpty(), data.ok());
    if (!data.ok()) {
        QCOMPARE(reply.errors.first().sentence(), data.error().sentence());
        return;
    }
    QCOMPARE(reply.warnings, data->warnings);
}

void TestTrainerData::seedsAreWrittenAsTheyAre_data()
{
    QTest::addColumn<qint64>("seed");
    QTest::newRow("negative") << qint64(-7);
    QTest::newRow("more digits than a double holds") << qint64(-9007199254740993);
    QTest::newRow("largest") << std::numeric_limits<qint64>::max();
    QTest::newRow("least") << std::numeric_limits<qint64>::min();
}

void TestTrainerData::seedsAreWrittenAsTheyAre()
{
    QFETCH(qint64, seed);
    SmallTraining small(16);
    small.spec.epochs = 1;
    small.spec.batchSize = 8;
    small.spec.seed = std::uint64_t(seed);
    RecordingContext context;
    const auto result = train(small.spec, context);
    TW_VERIFY(result);
    const QString text = QString::number(seed);
    QCOMPARE(context.lines.filter(QStringLiteral("seed: %1; ").arg(text)).size(), 1);
    const fs::path folder = small.folder / "model";
    fs::create_directory(folder);
    TW_VERIFY(writeModelDirectory(folder, result->info, result->weights, {}));
    const auto bytes = readFile(folder / "model.json", errors::InvalidDataset);
    TW_VERIFY(bytes);
    QVERIFY2(bytes->contains("\"random_seed\":" + text.toLatin1()), bytes->constData());
    const auto read = readModelInfo(folder);
    TW_VERIFY(read);
    QCOMPARE(read->training.value(QStringLiteral("random_seed")).toInteger(), seed);
}

QTEST_APPLESS_MAIN(TestTrainerData)
#include "tst_trainerdata.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// What Train PyTorch Model makes of how pictures were prepared for its initial weights.
#include "core/component/componentregistry.h"
#include "core/component/portobjects.h"
#include "core/data/datasetscan.h"
#include "tests/support/idxfiles.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QJsonDocument>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;
using Kind = TransformOp::Kind;

Q_DECLARE_METATYPE(std::optional<TransformList>)

namespace {

using Attached = std::optional<TransformList>;

TransformOp sized(Kind kind, int size, Interpolation interpolation = Interpolation::Bilinear)
{
    TransformOp op = defaultOp(kind);
    op.size = size;
    op.interpolation = interpolation;
    return op;
}

TransformList resized(int resize, Interpolation interpolation, int crop)
{
    return {sized(Kind::Resize, resize, interpolation), sized(Kind::CenterCrop, crop)};
}

PortFacts pictures(const Attached &list)
{
    PortFacts facts;
    if (list)
        facts.extra.insert(QStringLiteral("transforms"), transformsToJson(*list).toVariantList());
    return facts;
}

PortFacts modelOf(const char *architecture, const QVariantMap &arguments)
{
    PortFacts facts;
    facts.extra.insert(QStringLiteral("architecture"), QLatin1String(architecture));
    facts.extra.insert(QStringLiteral("arguments"), arguments);
    return facts;
}

const WeightsPreprocessing Wanted{232, 224, Interpolation::Bicubic, {0.1F, 0.2F, 0.3F}, {0.25F, 0.5F, 1}};

} // namespace

class TestWeightsPreprocessing : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void otherListsAreSaid_data();
    void otherListsAreSaid();
    void unknownWeightsSayNothing();
    void sizesThatTheModelCannotRead_data();
    void sizesThatTheModelCannotRead();
    void sizesThatTheNetworkCannotRead_data();
    void sizesThatTheNetworkCannotRead();
    void sizesOfPicturesWithoutAList();
    void oneSizeOfPicturesWithoutAList();
    void normalization_data();
    void normalization();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    PreflightReply preflight(const PortFacts &model, const Attached &training, const Attached &validation) const;
    Result<ModelInfo> train(const UntrainedModel &model, const QString &normalization);

    ComponentRegistry m_registry;
    const ComponentType *m_type = nullptr;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<test::RecordingContext> m_context;
    ManifestPtr m_images; ///< of 28×28 pixels
};

void TestWeightsPreprocessing::initTestCase()
{
    registerAllComponents(m_registry);
    m_type = m_registry.find(QStringLiteral("train-pytorch-model"));
    QVERIFY(m_type);
}

void TestWeightsPreprocessing::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_context = std::make_unique<test::RecordingContext>(folder() / "job");
    auto scan = scanDataset(test::writeIdxPair(folder(), "train", 12, 3), {});
    TW_VERIFY(scan);
    m_images = std::make_shared<const ImageManifest>(std::move(scan->manifest));
}

PreflightReply TestWeightsPreprocessing::preflight(const PortFacts &model, const Attached &training,
                                                   const Attached &validation) const
{
    const ParameterValues values = m_type->schema.effective({});
    return m_type->preflight({values,
                              {{QStringLiteral("untrained_model"), model},
                               {QStringLiteral("training_dataset"), pictures(training)},
                               {QStringLiteral("validation_dataset"), pictures(validation)}},
                              nullptr,
                              false});
}

Result<ModelInfo> TestWeightsPreprocessing::train(const UntrainedModel &model, const QString &normalization)
{
    ParameterValues given;
    given.set(QStringLiteral("epochs"), 1LL);
    given.set(QStringLiteral("batch_size"), 6LL);
    given.set(QStringLiteral("device"), QStringLiteral("cpu"));
    given.set(QStringLiteral("normalization"), normalization);
    const ParameterValues values = m_type->schema.effective(given);
    const fs::path output = folder() / "trained";
    fs::create_directories(output);
    std::ofstream(m_context->nodeFolder() / "metrics.jsonl");
    TW_TRY(m_type->run({values,
                        {{QStringLiteral("untrained_model"), {{}, model}},
                         {QStringLiteral("training_dataset"), {{}, m_images}},
                         {QStringLiteral("validation_dataset"), {{}, m_images}}},
                        {{QStringLiteral("trained_model"), output}},
                        *m_context}));
    return readModelInfo(output);
}

void TestWeightsPreprocessing::otherListsAreSaid_data()
{
    QTest::addColumn<Attached>("training");
    QTest::addColumn<Attached>("validation");
    QTest::addColumn<QStringList>("said"); // none: no warning
    const TransformList same = resized(232, Interpolation::Bicubic, 224);
    const QString list = QStringLiteral("the list at 'validation_dataset' is ");
    QTest::newRow("the same") << Attached(TransformList{}) << Attached(same) << QStringList();
    QTest::newRow("size") << Attached(same) << Attached(resized(256, Interpolation::Bicubic, 224))
                          << QStringList{list + "resize 256 bicubic, center_crop 224.",
                                         " To prepare them alike, set size = 232 in Init Image Transformation."};
    QTest::newRow("interpolation") << Attached(same) << Attached(resized(232, Interpolation::Bilinear, 224))
                                   << QStringList{list + "resize 232 bilinear, center_crop 224",
                                                  " set resize_interpolation = bicubic in "};
    QTest::newRow("crop") << Attached(same) << Attached(resized(232, Interpolation::Bicubic, 200))
                          << QStringList{list + "resize 232 bicubic, center_crop 200", " set crop_size = 224 in "};
    QTest::newRow("nothing") << Attached(same) << Attached(TransformList{})
                             << QStringList{list + "nothing.",
                                            " set resize = true, size = 232, resize_interpolation = bicubic, "
                                            "center_crop = true, crop_size = 224 in "};
    TransformList more = same;
    more.insert(more.begin(), defaultOp(Kind::RandomHorizontalFlip));
    more.push_back(sized(Kind::Pad, 2));
    more.push_back(defaultOp(Kind::Grayscale));
    QTest::newRow("other operations beside") << Attached(same) << Attached(more) << QStringList();
    more.front() = sized(Kind::RandomResizedCrop, 300);
    more[1].size = 240;
    QTest::newRow("random ones are not listed")
        << Attached(same) << Attached(more)
        << QStringList{list + "resize 240 bicubic, center_crop 224, pad 2, grayscale."};
    QTest::newRow("the training list where validation has none")
        << Attached(resized(256, Interpolation::Bicubic, 224)) << Attached()
        << QStringList{"the list at 'training_dataset' is resize 256 bicubic", " set size = 232 in "};
    QTest::newRow("no list at all") << Attached() << Attached() << QStringList();
}

void TestWeightsPreprocessing::otherListsAreSaid()
{
    QFETCH(const Attached, training);
    QFETCH(const Attached, validation);
    QFETCH(const QStringList, said);
    PortFacts model = modelOf("resnet18", {});
    setPreprocessingFact(model, Wanted);
    const PreflightReply reply = preflight(model, training, validation);
    QVERIFY(reply.errors.isEmpty());
    const QString warnings = reply.warnings.join(u'\n');
    QCOMPARE(
        warnings.contains(QStringLiteral("trained on pictures prepared with resize 232 bicubic, center_crop 224;")),
        !said.isEmpty());
    for (const QString &part : said)
        QVERIFY2(warnings.contains(part), qPrintable(warnings));
}

void TestWeightsPreprocessing::unknownWeightsSayNothing()
{
    PortFacts model = modelOf("resnet18", {});
    QVERIFY(preflight(model, TransformList{}, TransformList{}).warnings.isEmpty());
    setPreprocessingFact(model, Wanted);
    setPreprocessingFact(model, std::nullopt);
    QVERIFY(!preprocessingFact(model));
}

void TestWeightsPreprocessing::sizesThatTheModelCannotRead_data()
{
    QTest::addColumn<Attached>("training");
    QTest::addColumn<Attached>("validation");
    QTest::addColumn<QString>("said"); // none: no error
    const TransformList fits = resized(12, Interpolation::Bilinear, 12),
                        other = resized(28, Interpolation::Bilinear, 28);
    QTest::newRow("fits") << Attached(fits) << Attached(fits) << QString();
    QTest::newRow("validation") << Attached(fits) << Attached(other)
                                << "12×12 pixels only, but those at 'validation_dataset' come with 28×28.";
    QTest::newRow("training") << Attached(TransformList{sized(Kind::RandomResizedCrop, 28)}) << Attached(fits)
                              << "12×12 pixels only, but those at 'training_dataset' come with 28×28.";
    QTest::newRow("not known before") << Attached() << Attached(TransformList{}) << QString();
}

void TestWeightsPreprocessing::sizesThatTheModelCannotRead()
{
    QFETCH(const Attached, training);
    QFETCH(const Attached, validation);
    QFETCH(const QString, said);
    PortFacts model = modelOf("mlp", {{"in_channels", 1}, {"height", 12}, {"width", 12}});
    setPreprocessingFact(model, WeightsPreprocessing{12, 12});
    const PreflightReply reply = preflight(model, training, validation);
    QCOMPARE(reply.errors.size(), said.isEmpty() ? 0 : 1);
    if (said.isEmpty())
        return;
    QCOMPARE(reply.errors[0].name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(reply.errors[0].sentence().contains(said), qPrintable(reply.errors[0].sentence()));
    QVERIFY(reply.errors[0].sentence().contains(QStringLiteral("(mlp)")));
    QVERIFY(!reply.errors[0].hint.isEmpty());
    QVERIFY(reply.warnings.isEmpty()); // the error says it
}

void TestWeightsPreprocessing::sizesThatTheNetworkCannotRead_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QVariantMap>("arguments");
    QTest::addColumn<int>("training");
    QTest::addColumn<int>("validation");
    QTest::addColumn<QString>("said"); // none: no error
    const QVariantMap none, small{{"image_size", 64}};
    QTest::newRow("transformer") << "vit_b_16" << none << 224 << 224 << QString();
    QTest::newRow("transformer, training") << "vit_b_16" << none << 240 << 224 << "224×224 pixels only, not of 240×240";
    QTest::newRow("transformer, validation") << "vit_b_32" << none << 224 << 64 << "224×224 pixels only, not of 64×64";
    QTest::newRow("transformer of another size") << "vit_b_32" << small << 64 << 64 << QString();
    QTest::newRow("transformer of another size, 224")
        << "vit_b_32" << small << 224 << 224 << "64×64 pixels only, not of 224×224";
    QTest::newRow("densenet") << "densenet121" << none << 29 << 29 << QString();
    QTest::newRow("densenet, too small") << "densenet121" << none << 29 << 28
                                         << "densenet121 cannot read images of 28×28";
    QTest::newRow("convnext, too small") << "convnext_tiny" << none << 31 << 32 << "cannot read images of 31×31";
    QTest::newRow("odd size") << "resnet18" << none << 33 << 47 << QString();
    QTest::newRow("small_cnn without weights takes the size") << "small_cnn" << none << 30 << 30 << QString();
}

void TestWeightsPreprocessing::sizesThatTheNetworkCannotRead()
{
    QFETCH(QString, architecture);
    QFETCH(QVariantMap, arguments);
    QFETCH(int, training);
    QFETCH(int, validation);
    QFETCH(QString, said);
    const auto cropped = [](int size) { return TransformList{sized(Kind::CenterCrop, size)}; };
    const PreflightReply reply =
        preflight(modelOf(qPrintable(architecture), arguments), cropped(training), cropped(validation));
    QCOMPARE(reply.errors.size(), said.isEmpty() ? 0 : 1);
    if (said.isEmpty())
        return;
    QCOMPARE(reply.errors[0].name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(reply.errors[0].sentence().contains(said), qPrintable(reply.errors[0].sentence()));
    QVERIFY(!reply.errors[0].hint.isEmpty());
}

/// What preflight cannot know is found before the first batch.
void TestWeightsPreprocessing::sizesOfPicturesWithoutAList()
{
    UntrainedModel model;
    model.config = {QStringLiteral("small_cnn"), {{"in_channels", 1}, {"height", 12}, {"width", 16}}};
    const auto refused = train(model, QStringLiteral("weights"));
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().name, QLatin1String(errors::InvalidDataset));
    for (const QString &part : {QStringLiteral("(small_cnn)"), QStringLiteral("16×12"), QStringLiteral("28×28")})
        QVERIFY2(refused.error().sentence().contains(part), qPrintable(refused.error().sentence()));
    QVERIFY(!refused.error().hintSentence().isEmpty());
    model.config.arguments = {{"in_channels", 1}, {"height", 28}, {"width", 28}};
    TW_VERIFY(train(model, QStringLiteral("weights")));
}

void TestWeightsPreprocessing::oneSizeOfPicturesWithoutAList()
{
    UntrainedModel model;
    model.config = {QStringLiteral("vit_b_32"), {}};
    const auto trained = train(model, QStringLiteral("half"));
    QVERIFY(!trained.ok());
    QCOMPARE(trained.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(trained.error().sentence().contains(QStringLiteral("(vit_b_32) reads pictures of 224×224")),
             qPrintable(trained.error().sentence()));
    QVERIFY(trained.error().sentence().contains(QStringLiteral("28×28")));
}

void TestWeightsPreprocessing::normalization_data()
{
    QTest::addColumn<QString>("choice");
    QTest::addColumn<bool>("known");
    QTest::addColumn<bool>("stored"); ///< of the weights' own model directory beside it
    QTest::addColumn<float>("mean");
    QTest::newRow("weights") << "weights" << true << false << 0.2F;
    QTest::newRow("imagenet") << "imagenet" << true << false << 0.456F;
    QTest::newRow("weights, nothing known") << "weights" << false << false << 0.456F;
    QTest::newRow("weights, one of their own") << "weights" << true << true << 0.75F;
}

/// Mean and deviation of the weights are the model's, and all of it is kept as where they come from.
void TestWeightsPreprocessing::normalization()
{
    QFETCH(const QString, choice);
    QFETCH(const bool, known);
    QFETCH(const bool, stored);
    QFETCH(const float, mean);
    UntrainedModel model;
    model.config.architecture = QStringLiteral("mlp");
    if (known)
        model.preprocessing = Wanted;
    if (stored)
        model.normalization = Normalization{{0.75F, 0.75F, 0.75F}, {1, 1, 1}};
    const auto info = train(model, choice);
    TW_VERIFY(info);
    QCOMPARE(info->normalization.mean[1], mean);
    const QJsonValue kept = info->provenance.value(QStringLiteral("weights_preprocessing"));
    QCOMPARE(kept.isObject(), known);
    if (known)
        QCOMPARE(kept.toObject(), QJsonDocument::fromJson(Wanted.toJson()).object());
}

QTEST_GUILESS_MAIN(TestWeightsPreprocessing)
#include "tst_weightspreprocessing.moc"

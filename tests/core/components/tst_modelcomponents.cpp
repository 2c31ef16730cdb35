// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"
#include "tests/core/components/blockrunner.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;

/// The blocks of networks: what each parameter moves, what they write, what they refuse.
class TestModelComponents : public QObject, private test::BlockRunner
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init() { begin(); }
    void parametersMoveTheModel_data();
    void parametersMoveTheModel();
    void initialWeightsTravelWithTheJob();
    void weightsThatDoNotFit_data();
    void weightsThatDoNotFit();
    void summaries_data();
    void summaries();

private:
    QTemporaryDir m_shared;
    fs::path m_weights; ///< resnet18 for 7 classes as a .pth
};

void TestModelComponents::initTestCase()
{
    m_weights = fs::path(m_shared.path().toStdString()) / "resnet18-seven.pth";
    const auto seven = freshWeights({QStringLiteral("resnet18"), {{"num_classes", 7}}}, 1);
    TW_VERIFY(seven);
    TW_VERIFY(writePth(m_weights, *seven));
}

void TestModelComponents::parametersMoveTheModel_data()
{
    QTest::addColumn<QString>("component");
    QTest::addColumn<QVariantMap>("stored");
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QJsonObject>("arguments");
    QTest::addColumn<QString>("summary");
    const QJsonObject none;
    QTest::newRow("resnet") << "resnet" << QVariantMap{} << "resnet18" << none
                            << "11.7 M parameters · 1.8 GMAC · 224 × 224";
    QTest::newRow("resnet, model_name") << "resnet" << QVariantMap{{"model_name", "wide_resnet50_2"}}
                                        << "wide_resnet50_2" << none << "68.9 M parameters · 11.4 GMAC · 224 × 224";
    QTest::newRow("resnet, zero_init_residual")
        << "resnet" << QVariantMap{{"zero_init_residual", true}} << "resnet18"
        << QJsonObject{{"zero_init_residual", true}} << "11.7 M parameters · 1.8 GMAC · 224 × 224";
    QTest::newRow("densenet") << "densenet" << QVariantMap{} << "densenet121" << none
                              << "8.0 M parameters · 2.8 GMAC · 224 × 224";
    QTest::newRow("densenet, model_name") << "densenet" << QVariantMap{{"model_name", "densenet161"}} << "densenet161"
                                          << none << "28.7 M parameters · 7.7 GMAC · 224 × 224";
    QTest::newRow("densenet201") << "densenet" << QVariantMap{{"model_name", "densenet201"}} << "densenet201" << none
                                 << "20.0 M parameters · 4.3 GMAC · 224 × 224";
    QTest::newRow("densenet, memory_efficient")
        << "densenet" << QVariantMap{{"memory_efficient", true}} << "densenet121"
        << QJsonObject{{"memory_efficient", true}} << "8.0 M parameters · 2.8 GMAC · 224 × 224";
    QTest::newRow("efficientnet") << "efficientnet" << QVariantMap{} << "efficientnet_b0" << none
                                  << "5.3 M parameters · 385.8 MMAC · 224 × 224";
    QTest::newRow("efficientnet, model_name")
        << "efficientnet" << QVariantMap{{"model_name", "efficientnet_b4"}} << "efficientnet_b4" << none
        << "19.3 M parameters · 4.4 GMAC · 380 × 380";
    QTest::newRow("efficientnet, lite") << "efficientnet" << QVariantMap{{"model_name", "efficientnet_lite2"}}
                                        << "efficientnet_lite2" << none << "6.1 M parameters · 859.7 MMAC · 260 × 260";
    QTest::newRow("mobilenet") << "mobilenet" << QVariantMap{} << "mobilenet_v2" << none
                               << "3.5 M parameters · 300.8 MMAC · 224 × 224";
    QTest::newRow("mobilenet, model_name")
        << "mobilenet" << QVariantMap{{"model_name", "mobilenet_v3_large"}} << "mobilenet_v3_large" << none
        << "5.5 M parameters · 216.6 MMAC · 224 × 224";
    QTest::newRow("mobilenet, the smallest")
        << "mobilenet" << QVariantMap{{"model_name", "mobilenet_v3_small"}} << "mobilenet_v3_small" << none
        << "2.5 M parameters · 56.5 MMAC · 224 × 224";
    QTest::newRow("convnext") << "convnext" << QVariantMap{} << "convnext_tiny" << none
                              << "28.6 M parameters · 4.5 GMAC · 224 × 224";
    QTest::newRow("convnext, model_name") << "convnext" << QVariantMap{{"model_name", "convnext_small"}}
                                          << "convnext_small" << none << "50.2 M parameters · 8.7 GMAC · 224 × 224";
    QTest::newRow("vision-transformer") << "vision-transformer" << QVariantMap{} << "vit_b_16" << none
                                        << "86.6 M parameters · 17.6 GMAC · 224 × 224";
    QTest::newRow("vision-transformer, model_name") << "vision-transformer" << QVariantMap{{"model_name", "vit_b_32"}}
                                                    << "vit_b_32" << none << "88.2 M parameters · 4.4 GMAC · 224 × 224";
    // One channel saves 2·64·49 weights, each used 112² times.
    QTest::newRow("resnet, input_channels")
        << "resnet" << QVariantMap{{"input_channels", "1"}} << "resnet18" << QJsonObject{{"in_channels", 1}}
        << "11.7 M parameters · 1.7 GMAC · 224 × 224";
    for (const auto &[family, architecture, figures] :
         {std::tuple("densenet", "densenet121", "8.0 M parameters · 2.8 GMAC"),
          std::tuple("convnext", "convnext_tiny", "28.6 M parameters · 4.4 GMAC"),
          std::tuple("vision-transformer", "vit_b_16", "86.2 M parameters · 17.5 GMAC")})
        QTest::addRow("%s, input_channels", family)
            << family << QVariantMap{{"input_channels", "1"}} << architecture << QJsonObject{{"in_channels", 1}}
            << QString::fromUtf8(figures) + QStringLiteral(" · 224 × 224");
}

void TestModelComponents::parametersMoveTheModel()
{
    QFETCH(QString, component);
    QFETCH(QVariantMap, stored);
    QFETCH(QJsonObject, arguments);
    const PreflightReply reply = preflight(qPrintable(component), stored);
    QVERIFY(reply.errors.isEmpty());
    QTEST(reply.summary, "summary");
    const PortFacts facts = reply.outputs.value("untrained_model");
    QTEST(facts.extra.value("architecture").toString(), "architecture");
    QCOMPARE(QJsonObject::fromVariantMap(facts.extra.value("arguments").toMap()), arguments);
    TW_VERIFY(run(qPrintable(component), stored));
    QTEST(untrained().config.architecture, "architecture");
    QCOMPARE(untrained().config.arguments, arguments);
    QVERIFY(untrained().weightsFile.empty());
}

/// `weights` and `weights_file`: a copy, so that neither a removed nor a changed file reaches the job.
void TestModelComponents::initialWeightsTravelWithTheJob()
{
    const fs::path file = folder() / "mine.pth";
    fs::copy_file(m_weights, file);
    const QVariantMap stored{{"weights", "file"}, {"weights_file", bytesFromPath(file)}};
    QVERIFY(preflight("resnet", stored).errors.isEmpty());
    TW_VERIFY(run("resnet", stored));
    const fs::path output = m_outputs["untrained_model"];
    std::ofstream(file, std::ios::binary | std::ios::in) << "overwritten in place";
    fs::rename(output, folder() / "moved");
    const auto model = UntrainedModel::read(folder() / "moved");
    TW_VERIFY(model);
    QCOMPARE(model->weightsFile, folder() / "moved" / "weights.pth");
    QCOMPARE(bytes(model->weightsFile), bytes(m_weights));
    TW_VERIFY(readInitialWeights(model->config, model->weightsFile, model->weightsSha256));
    const auto other = readInitialWeights(model->config, model->weightsFile, QByteArray(64, '0'));
    QVERIFY(!other.ok());
    QCOMPARE(other.error().name, QLatin1String(errors::InvalidModelDirectory));
    QVERIFY(other.error().sentence().contains(QString(64, u'0')));
    // The file is the parameter's when weights says so only.
    TW_VERIFY(run("resnet", {{"weights", "none"}, {"weights_file", bytesFromPath(file)}}));
    QVERIFY(untrained().weightsFile.empty());
}

void TestModelComponents::weightsThatDoNotFit_data()
{
    QTest::addColumn<QString>("component");
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("error");
    QTest::addColumn<QStringList>("named");
    QTest::newRow("another family") << "densenet"
                                    << "densenet121"
                                    << "CheckpointMismatchError"
                                    << QStringList{"features.conv0.weight", "unexpected: ", "layer1.0.conv1.weight",
                                                   "classifier.weight"};
    QTest::newRow("EfficientNet") << "efficientnet"
                                  << "efficientnet_lite0"
                                  << "CheckpointMismatchError"
                                  << QStringList{"_conv_stem.weight", "unexpected: ", "layer1.0.conv1.weight"};
    QTest::newRow("MobileNet") << "mobilenet"
                               << "mobilenet_v3_small"
                               << "CheckpointMismatchError"
                               << QStringList{"features.0.0.weight", "unexpected: ", "layer1.0.conv1.weight"};
    QTest::newRow("another size") << "resnet"
                                  << "resnet34"
                                  << "CheckpointMismatchError"
                                  << QStringList{"layer1.2.conv1.weight", "layer3.5.bn2.bias"};
}

void TestModelComponents::weightsThatDoNotFit()
{
    QFETCH(QString, component);
    QFETCH(QString, model);
    QFETCH(QStringList, named);
    const PreflightReply reply =
        preflight(qPrintable(component),
                  {{"model_name", model}, {"weights", "file"}, {"weights_file", bytesFromPath(m_weights)}});
    QCOMPARE(reply.errors.size(), 1);
    const Error &error = reply.errors.first();
    QTEST(error.name, "error");
    QCOMPARE(error.parameter, QStringLiteral("weights_file"));
    QVERIFY(!error.hintSentence().isEmpty());
    for (const QString &name : named)
        QVERIFY2(error.sentence().contains(name), qPrintable(name));
}

void TestModelComponents::summaries_data()
{
    QTest::addColumn<QString>("component");
    QTest::addColumn<QVariantMap>("stored");
    QTest::addColumn<QString>("summary");
    QTest::newRow("resnet18") << "resnet" << QVariantMap{} << "11.7 M parameters · 1.8 GMAC · 224 × 224";
    QTest::newRow("resnet50") << "resnet" << QVariantMap{{"model_name", "resnet50"}}
                              << "25.6 M parameters · 4.1 GMAC · 224 × 224";
    // 784·10 + 10·10 multiply-adds, with 20 biases.
    QTest::newRow("mlp") << "basic-network" << QVariantMap{{"network", "mlp"}, {"input_channels", "1"}}
                         << "8.0 k parameters · 7.9 kMAC · 28 × 28";
    // conv 9·32·784 + 9·32·64·196, dense 3136·128 + 128·10.
    QTest::newRow("small_cnn") << "basic-network" << QVariantMap{{"input_channels", "1"}}
                               << "421.6 k parameters · 4.2 MMAC · 28 × 28";
}

void TestModelComponents::summaries()
{
    QFETCH(QString, component);
    QFETCH(QVariantMap, stored);
    QFETCH(QString, summary);
    const PreflightReply reply = preflight(component.toLatin1().constData(), stored);
    QVERIFY(reply.errors.isEmpty());
    QCOMPARE(reply.summary, summary);
}

QTEST_GUILESS_MAIN(TestModelComponents)
#include "tst_modelcomponents.moc"

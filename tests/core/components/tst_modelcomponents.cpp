// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/componentregistry.h"
#include "core/component/emptyport.h"
#include "core/component/portobjects.h"
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <fstream>

using namespace tw;

/// ResNet, DenseNet, EfficientNet, MobileNet and Load Model: what each parameter moves, what they write, what they
/// refuse.
class TestModelComponents : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void parametersMoveTheModel_data();
    void parametersMoveTheModel();
    void initialWeightsTravelWithTheJob();
    void weightsThatDoNotFit_data();
    void weightsThatDoNotFit();
    void loadsAModelDirectory();
    void loadsAWeightsFileOfAModel();
    void loadsFilesWithoutClasses_data();
    void loadsFilesWithoutClasses();
    void filesThatNameTheirClasses();
    void summaries_data();
    void summaries();
    void refusals_data();
    void refusals();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    ParameterValues values(const char *component, const QVariantMap &stored) const;
    PreflightReply preflight(const char *component, const QVariantMap &stored) const;
    Result<RunReply> run(const char *component, const QVariantMap &stored);
    UntrainedModel untrained() const { return *UntrainedModel::read(m_outputs["untrained_model"]); }
    static QByteArray bytes(const fs::path &file);

    ComponentRegistry m_registry;
    QTemporaryDir m_shared;
    fs::path m_model, m_weights; ///< a model directory of small_cnn; resnet18 for 7 classes as a .pth
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<test::RecordingContext> m_context;
    QMap<QString, fs::path> m_outputs;
    int m_runs = 0;
};

namespace {

ModelConfig smallCnn(int classes)
{
    return {QStringLiteral("small_cnn"), {{"num_classes", classes}, {"in_channels", 1}, {"height", 12}, {"width", 12}}};
}

/// A .safetensors whose metadata names classes.
void writeNamedSafetensors(const fs::path &file, const StateDict &weights, const std::string &classes)
{
    if (!writeSafetensors(file, weights).ok())
        qFatal("the file could not be written");
    std::ifstream in(file, std::ios::binary);
    std::string all((std::istreambuf_iterator<char>(in)), {});
    in.close();
    std::uint64_t length = 0;
    std::memcpy(&length, all.data(), 8);
    std::string header = all.substr(8, length);
    const std::string data = all.substr(8 + length);
    const std::string known = "\"format\":\"pt\"";
    header.insert(header.find(known) + known.size(), ",\"classes\":\"" + classes + "\"");
    length = header.size();
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char *>(&length), 8);
    out << header << data;
}

QString notesOf(const PreflightReply &reply)
{
    QStringList notes;
    for (const Error &note : reply.notes)
        notes.append(note.parameter + QStringLiteral(": ") + note.sentence());
    return notes.join(u'\n');
}

} // namespace

void TestModelComponents::initTestCase()
{
    registerAllComponents(m_registry);
    const fs::path shared = m_shared.path().toStdString();
    m_model = shared / "model";
    fs::create_directory(m_model);
    auto info = usualModelInfo(smallCnn(3), {"caf\xe9", "b", "a"});
    TW_VERIFY(info);
    info->normalization = {{0.25F, 0.25F, 0.25F}, {0.5F, 0.5F, 0.5F}};
    const auto weights = freshWeights(info->config, 3);
    TW_VERIFY(weights);
    TW_VERIFY(writeModelDirectory(m_model, *info, *weights, {}));
    m_weights = shared / "resnet18-seven.pth";
    const auto seven = freshWeights({QStringLiteral("resnet18"), {{"num_classes", 7}}}, 1);
    TW_VERIFY(seven);
    TW_VERIFY(writePth(m_weights, *seven));
}

void TestModelComponents::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_context = std::make_unique<test::RecordingContext>(folder() / "job");
}

QByteArray TestModelComponents::bytes(const fs::path &file)
{
    QFile in(QString::fromStdString(file.string()));
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray("unreadable");
}

ParameterValues TestModelComponents::values(const char *component, const QVariantMap &stored) const
{
    ParameterValues given;
    for (auto it = stored.begin(); it != stored.end(); ++it)
        given.set(it.key(), it.value());
    return m_registry.find(QLatin1String(component))->schema.effective(given);
}

PreflightReply TestModelComponents::preflight(const char *component, const QVariantMap &stored) const
{
    const ParameterValues effective = values(component, stored);
    return m_registry.find(QLatin1String(component))->preflight({effective, {}, nullptr, false});
}

Result<RunReply> TestModelComponents::run(const char *component, const QVariantMap &stored)
{
    const ComponentType *type = m_registry.find(QLatin1String(component));
    m_outputs.clear();
    for (const PortSpec &port : type->outputs) {
        m_outputs[port.id] = folder() / ("out" + std::to_string(++m_runs));
        fs::create_directories(m_outputs[port.id]);
    }
    const ParameterValues effective = values(component, stored);
    return type->run({effective, {}, m_outputs, *m_context});
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

void TestModelComponents::loadsAModelDirectory()
{
    const QVariantMap stored{{"path", bytesFromPath(m_model)}};
    const PreflightReply reply = preflight("load-model", stored);
    QVERIFY2(reply.errors.isEmpty(), reply.errors.isEmpty() ? "" : qPrintable(reply.errors.first().toString()));
    QCOMPARE(reply.summary, QStringLiteral("small_cnn · 3 classes · 93.1 k parameters · 779.1 kMAC · 12 × 12 · "
                                           "all 8 tensors fit · model directory"));
    QCOMPARE(reply.outputs["trained_model"].categories->mid(1), (QStringList{"b", "a"}));
    QVERIFY(!emptyReason(reply.outputs["trained_model"]));
    TW_VERIFY(run("load-model", stored));
    QCOMPARE(m_context->results.value("architecture").toString(), QStringLiteral("small_cnn"));
    QCOMPARE(m_context->results.value("classes").toInt(), 3);
    for (const char *name : {"model.json", "weights.pth", "weights.safetensors", "labels.txt", "score.py"}) {
        const fs::path copy = m_outputs["trained_model"] / name;
        QCOMPARE(bytes(copy), bytes(m_model / name));
        QVERIFY(!fs::equivalent(copy, m_model / name));
    }
    TW_VERIFY(readModelWeights(m_outputs["trained_model"]));
    const UntrainedModel model = untrained();
    QVERIFY(!model.config.arguments.contains("num_classes"));
    QCOMPARE(model.config.arguments.value("in_channels").toInt(), 1);
    QCOMPARE(bytes(model.weightsFile), bytes(m_model / "weights.safetensors"));
    QVERIFY(model.normalization && model.normalization->mean[0] == 0.25F && model.normalization->std[2] == 0.5F);
    const WeightsPreprocessing own{12, 12, Interpolation::Bilinear, {0.25F, 0.25F, 0.25F}, {0.5F, 0.5F, 0.5F}};
    QVERIFY(model.preprocessing == own);
    QVERIFY(preprocessingFact(reply.outputs["untrained_model"]) == own);
}

/// weights.pth of a model directory is the model.
void TestModelComponents::loadsAWeightsFileOfAModel()
{
    TW_VERIFY(run("load-model", {{"path", bytesFromPath(m_model / "weights.pth")}}));
    QCOMPARE(bytes(m_outputs["trained_model"] / "model.json"), bytes(m_model / "model.json"));
}

void TestModelComponents::loadsFilesWithoutClasses_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::newRow("automatic") << "auto";
    QTest::newRow("chosen") << "resnet18";
}

void TestModelComponents::loadsFilesWithoutClasses()
{
    QFETCH(QString, architecture);
    const QVariantMap stored{{"path", bytesFromPath(m_weights)}, {"architecture", architecture}};
    const PreflightReply reply = preflight("load-model", stored);
    QVERIFY(reply.errors.isEmpty());
    QCOMPARE(reply.summary, QStringLiteral("resnet18 · 11.2 M parameters · 1.8 GMAC · 224 × 224 · "
                                           "all 122 tensors fit · PyTorch"));
    QCOMPARE(notesOf(reply).contains("Recognised as resnet18: all 122"), architecture == "auto");
    const auto reason = emptyReason(reply.outputs["trained_model"]);
    QVERIFY(reason);
    QCOMPARE(reason->name, QLatin1String(errors::InvalidModelDirectory));
    QCOMPARE(reason->parameter, QStringLiteral("path"));
    QVERIFY(reason->sentence().contains("resnet18-seven.pth"));
    TW_VERIFY(run("load-model", stored));
    QVERIFY(fs::is_empty(m_outputs["trained_model"]));
    QCOMPARE(untrained().config.architecture, QStringLiteral("resnet18"));
    QVERIFY(untrained().config.arguments.isEmpty());
    QVERIFY(!untrained().preprocessing && !preprocessingFact(reply.outputs["untrained_model"]));
}

void TestModelComponents::filesThatNameTheirClasses()
{
    const auto weights = freshWeights({QStringLiteral("mlp"), {{"num_classes", 2}, {"height", 3}, {"width", 3}}}, 1);
    TW_VERIFY(weights);
    const fs::path file = folder() / "named.safetensors";
    writeNamedSafetensors(file, *weights, R"([\"yes\",\"no\"])");
    const PreflightReply reply = preflight("load-model", {{"path", bytesFromPath(file)}});
    QVERIFY2(reply.errors.isEmpty(), reply.errors.isEmpty() ? "" : qPrintable(reply.errors.first().toString()));
    QCOMPARE(*reply.outputs["trained_model"].categories, (QStringList{"yes", "no"}));
    QVERIFY(reply.warnings.join(u' ').contains("does not say how pictures are prepared"));
    TW_VERIFY(run("load-model", {{"path", bytesFromPath(file)}}));
    const auto info = readModelInfo(m_outputs["trained_model"]);
    TW_VERIFY(info);
    TW_VERIFY(checkModel(*info, m_outputs["trained_model"]));
    QCOMPARE(info->classes, (std::vector<std::string>{"yes", "no"}));
    QCOMPARE(info->width, 3);
    TW_VERIFY(readModelWeights(m_outputs["trained_model"]));
    for (const auto &[classes, said] :
         {std::pair(R"([\"yes\"])", "1 classes"), std::pair(R"([\"a\",\"a\"])", "1 different")}) {
        writeNamedSafetensors(file, *weights, classes);
        const PreflightReply wrong = preflight("load-model", {{"path", bytesFromPath(file)}});
        QCOMPARE(wrong.errors.size(), 1);
        QCOMPARE(wrong.errors.first().name, QLatin1String(errors::InvalidModelDirectory));
        QVERIFY2(wrong.errors.first().sentence().contains(QLatin1String(said)),
                 qPrintable(wrong.errors.first().sentence()));
    }
    // Texts that are no list of names name nothing.
    writeNamedSafetensors(file, *weights, R"({\"yes\":1})");
    QVERIFY(emptyReason(preflight("load-model", {{"path", bytesFromPath(file)}}).outputs["trained_model"]));
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

void TestModelComponents::refusals_data()
{
    QTest::addColumn<QString>("case_");
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("error");
    QTest::addColumn<QString>("parameter");
    QTest::addColumn<QStringList>("named");
    const QString invalid = QStringLiteral("InvalidModelDirectoryError");
    QTest::newRow("missing") << "missing"
                             << "auto" << invalid << "path" << QStringList{"nowhere", "does not exist"};
    QTest::newRow("folder") << "folder"
                            << "auto" << invalid << "path" << QStringList{"model.json"};
    QTest::newRow("text") << "text"
                          << "auto" << invalid << "path" << QStringList{"notes.pth", "a text file"};
    QTest::newRow("unknown tensors") << "strange"
                                     << "auto" << invalid << "path" << QStringList{"strange.safetensors", "'w'"};
    QTest::newRow("one name missing") << "almost"
                                      << "auto"
                                      << "CheckpointMismatchError"
                                      << "path"
                                      << QStringList{"resnet18", "missing: bn1.bias", "unexpected: bn1.bias_"};
    QTest::newRow("another architecture") << "file"
                                          << "resnet50"
                                          << "CheckpointMismatchError"
                                          << "architecture" << QStringList{"resnet50", "layer1.0.conv3.weight"};
    QTest::newRow("shapes of another kind")
        << "file"
        << "mlp"
        << "CheckpointMismatchError"
        << "architecture" << QStringList{"mlp", "missing: fc1.weight", "layer4.1.bn2.bias"};
    QTest::newRow("directory of another")
        << "model"
        << "resnet18" << invalid << "architecture" << QStringList{"small_cnn", "resnet18"};
    QTest::newRow("changed weights") << "changed"
                                     << "auto" << invalid << "path" << QStringList{"SHA-256"};
    QTest::newRow("weights of another") << "exchanged"
                                        << "auto"
                                        << "CheckpointMismatchError"
                                        << "path"
                                        << QStringList{"missing: conv1.bias", "fc.bias",
                                                       "conv1.weight (given 64×3×7×7, needed 32×1×3×3)"};
}

void TestModelComponents::refusals()
{
    QFETCH(QString, case_);
    QFETCH(QString, architecture);
    QFETCH(QStringList, named);
    fs::path path = case_ == "model" ? m_model : m_weights;
    if (case_ == "missing")
        path = folder() / "nowhere";
    if (case_ == "folder")
        path = folder();
    if (case_ == "text") {
        path = folder() / "notes.pth";
        std::ofstream(path) << "weights: see the other folder\n";
    }
    if (case_ == "strange" || case_ == "almost") {
        auto weights = freshWeights({QStringLiteral("resnet18"), {{"num_classes", 2}}}, 1);
        path = folder() / (case_ == "strange" ? "strange.safetensors" : "almost.safetensors");
        for (TensorBlob &blob : *weights)
            blob.name += blob.name == "bn1.bias" ? "_" : "";
        if (case_ == "strange")
            *weights = {(*weights)[0]};
        if (case_ == "strange")
            weights->front().name = "w";
        TW_VERIFY(writeSafetensors(path, *weights));
    }
    if (case_ == "changed" || case_ == "exchanged") {
        path = folder() / "model";
        fs::create_directory(path);
        TW_VERIFY(copyModelDirectory(m_model, path));
        fs::remove(path / "weights.safetensors");
        fs::copy_file(m_weights, path / "weights.pth", fs::copy_options::overwrite_existing);
    }
    if (case_ == "exchanged") {
        QByteArray json = bytes(path / "model.json");
        json.replace(json.indexOf("\"pth\":\"") + 7, 64, QByteArray("0").repeated(64));
        const qsizetype at = json.indexOf("\"weights\": ");
        json.replace(at, json.indexOf('\n', at) - at, "\"weights\": {},");
        std::ofstream(path / "model.json", std::ios::binary) << json.toStdString();
    }
    const QVariantMap stored{{"path", bytesFromPath(path)}, {"architecture", architecture}};
    const PreflightReply reply = preflight("load-model", stored);
    QCOMPARE(reply.errors.size(), 1);
    const auto ran = run("load-model", stored);
    QVERIFY(!ran.ok());
    for (const Error &error : {reply.errors.first(), ran.error()}) {
        QTEST(error.name, "error");
        QTEST(error.parameter, "parameter");
        QVERIFY(!error.hintSentence().isEmpty());
        for (const QString &name : named)
            QVERIFY2(error.sentence().contains(name), qPrintable(error.sentence().left(400)));
    }
    QVERIFY(fs::is_empty(m_outputs["trained_model"]));
}

QTEST_GUILESS_MAIN(TestModelComponents)
#include "tst_modelcomponents.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/emptyport.h"
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"
#include "tests/core/components/blockrunner.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <fstream>

using namespace tw;

/// Load Model: model directories and weights files; what it shows, writes and refuses.
class TestLoadModel : public QObject, private test::BlockRunner
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init() { begin(); }
    void loadsAModelDirectory();
    void saysWhatIsDamagedBesideTheWeights();
    void loadsAWeightsFileOfAModel();
    void loadsFilesWithoutClasses_data();
    void loadsFilesWithoutClasses();
    void filesThatNameTheirClasses();
    void refusals_data();
    void refusals();

private:
    QTemporaryDir m_shared;
    fs::path m_model, m_weights; ///< a model directory of small_cnn; resnet18 for 7 classes as a .pth
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

void TestLoadModel::initTestCase()
{
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

void TestLoadModel::loadsAModelDirectory()
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

/// Only one of the two weights files is read, but both are given on.
void TestLoadModel::saysWhatIsDamagedBesideTheWeights()
{
    const fs::path copy = folder() / "copy";
    fs::copy(m_model, copy);
    const fs::path file = copy / "weights.pth";
    fs::resize_file(file, fs::file_size(file) - 1);
    const QVariantMap stored{{"path", bytesFromPath(copy)}};
    const PreflightReply reply = preflight("load-model", stored);
    QVERIFY(reply.errors.isEmpty());
    QVERIFY2(reply.warnings.join(u' ').contains(u"weights.pth"), qPrintable(reply.warnings.join(u' ')));
    TW_VERIFY(run("load-model", stored));
    QVERIFY(!m_context->warnings.filter(QStringLiteral("weights.pth")).isEmpty());
}

/// weights.pth of a model directory is the model.
void TestLoadModel::loadsAWeightsFileOfAModel()
{
    TW_VERIFY(run("load-model", {{"path", bytesFromPath(m_model / "weights.pth")}}));
    QCOMPARE(bytes(m_outputs["trained_model"] / "model.json"), bytes(m_model / "model.json"));
}

void TestLoadModel::loadsFilesWithoutClasses_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::newRow("automatic") << "auto";
    QTest::newRow("chosen") << "resnet18";
}

void TestLoadModel::loadsFilesWithoutClasses()
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

void TestLoadModel::filesThatNameTheirClasses()
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

void TestLoadModel::refusals_data()
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

void TestLoadModel::refusals()
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

QTEST_GUILESS_MAIN(TestLoadModel)
#include "tst_loadmodel.moc"

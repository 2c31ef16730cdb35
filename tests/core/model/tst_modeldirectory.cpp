// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/modeldirectory.h"
#include "core/model/weightsfile.h"
#include "tests/core/model/weightshelpers.h"
#include "tests/support/testsupport.h"

#include <QCryptographicHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QTest>

using namespace tw;

class ModelDirectoryTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void filesAndRoundTrip();
    void keysInTheirOrder();
    void interpolation();
    void oneChannel();
    void namesThatAreNotUtf8OrBreakLines();
    void oneWeightsFileIsEnough();
    void changedWeightsAreRefused();
    void badModelJson_data();
    void badModelJson();
    void badHashes();
    void copies();
    void missingFolder();
    void untrainedModel();
    void preprocessingOfTheWeights();
    void badPreprocessing_data();
    void badPreprocessing();
    void badUntrainedModel();

private:
    static ModelInfo info();
    static StateDict weights();
    QByteArray bytes(const char *name) const { return *readFile(m_folder / name, errors::Library); }
    std::unique_ptr<QTemporaryDir> m_dir;
    fs::path m_folder;
};

ModelInfo ModelDirectoryTest::info()
{
    ModelInfo info;
    info.config = {QStringLiteral("resnet18"), {{QStringLiteral("num_classes"), 2}}};
    info.classes = {"cat", "dog"};
    info.transforms = {{.kind = TransformOp::Kind::Resize, .size = 256},
                       {.kind = TransformOp::Kind::CenterCrop, .size = 224}};
    info.training = {{QStringLiteral("epochs"), 3}};
    info.provenance = {{QStringLiteral("program"), QStringLiteral("test")}};
    return info;
}

StateDict ModelDirectoryTest::weights()
{
    return {test::tensor<float>("fc.weight", ElementType::F32, {2, 2}, {1, 2, 3, 4}),
            test::tensor<std::int64_t>("n", ElementType::I64, {}, {5})};
}

void ModelDirectoryTest::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    m_folder = m_dir->path().toStdString();
}

void ModelDirectoryTest::filesAndRoundTrip()
{
    const fs::path metrics = m_folder / "source.jsonl";
    TW_VERIFY(writeFileAtomically(metrics, "{\"series\":\"train_loss\"}\n"));
    TW_VERIFY(writeModelDirectory(m_folder, info(), weights(), {metrics, "{}"}));
    QCOMPARE(bytes("labels.txt"), QByteArray("cat\ndog\n"));
    QCOMPARE(bytes("metrics.jsonl"), bytes("source.jsonl"));
    QCOMPARE(bytes("pipeline.json"), QByteArray("{}"));
    QVERIFY(bytes("score.py").startsWith("#!/usr/bin/env python3\n"));
    const auto got = readModelInfo(m_folder);
    TW_VERIFY(got);
    QCOMPARE(got->config.architecture, info().config.architecture);
    QCOMPARE(got->config.arguments, info().config.arguments);
    QCOMPARE(got->classes, info().classes);
    QCOMPARE(got->transforms, info().transforms);
    QVERIFY(got->normalization == info().normalization);
    QCOMPARE(got->training, info().training);
    QCOMPARE(got->provenance, info().provenance);
    const auto read = readModelWeights(m_folder);
    TW_VERIFY(read);
    QCOMPARE(read->size(), 2u);
    QCOMPARE(test::element((*read)[0], 3), 4.0);
    const QJsonObject hashes = QJsonDocument::fromJson(bytes("model.json"))["weights"].toObject();
    QCOMPARE(hashes["pth"].toString().toLatin1(),
             QCryptographicHash::hash(bytes("weights.pth"), QCryptographicHash::Sha256).toHex());
}

void ModelDirectoryTest::keysInTheirOrder()
{
    TW_VERIFY(writeModelDirectory(m_folder, info(), weights(), {}));
    const QByteArray json = bytes("model.json");
    qsizetype at = 0;
    for (const char *key :
         {"format", "version", "architecture", "arguments", "num_classes",   "classes",  "input",     "channels",
          "height", "width",   "resize",       "crop",      "interpolation", "mean",     "std",       "transforms",
          "op",     "size",    "weights",      "pth",       "safetensors",   "training", "provenance"}) {
        const qsizetype found = json.indexOf(QByteArray("\"") + key + "\":", at);
        QVERIFY2(found > at, key);
        at = found;
    }
    QVERIFY(json.contains("[0.485,0.456,0.406]"));
    QVERIFY(!QJsonDocument::fromJson(json).isNull());
}

/// The list says how; input.interpolation repeats it, and need not stand there.
void ModelDirectoryTest::interpolation()
{
    ModelInfo cubic = info();
    cubic.transforms.front().interpolation = Interpolation::Bicubic;
    TW_VERIFY(writeModelDirectory(m_folder, cubic, weights(), {}));
    QByteArray json = bytes("model.json");
    QVERIFY2(json.contains("\"crop\":224,\"interpolation\":\"bicubic\""), json.constData());
    auto got = readModelInfo(m_folder);
    TW_VERIFY(got);
    QVERIFY(got->transforms == cubic.transforms);
    TW_VERIFY(writeFileAtomically(m_folder / "model.json", json.replace(",\"interpolation\":\"bicubic\",", ",")));
    got = readModelInfo(m_folder);
    TW_VERIFY(got);
    QVERIFY(got->transforms == cubic.transforms);
    cubic.transforms.erase(cubic.transforms.begin());
    TW_VERIFY(writeModelDirectory(m_folder, cubic, weights(), {}));
    QVERIFY(bytes("model.json").contains("\"interpolation\":\"bilinear\"")); // nothing is resized
    TW_VERIFY(readModelInfo(m_folder));
}

void ModelDirectoryTest::oneChannel()
{
    ModelInfo grey = info();
    grey.channels = 1;
    grey.height = grey.width = 28;
    grey.transforms.clear();
    grey.normalization = {{0.5F, 0.5F, 0.5F}, {0.25F, 0.25F, 0.25F}};
    TW_VERIFY(writeModelDirectory(m_folder, grey, weights(), {}));
    const QJsonObject input = QJsonDocument::fromJson(bytes("model.json"))["input"].toObject();
    QCOMPARE(input["mean"].toArray(), QJsonArray{0.5});
    QVERIFY(input["resize"].isNull() && input["crop"].isNull());
    const auto got = readModelInfo(m_folder);
    TW_VERIFY(got);
    QCOMPARE(got->channels, 1);
    QCOMPARE(got->normalization.std[2], 0.25F);
}

void ModelDirectoryTest::namesThatAreNotUtf8OrBreakLines()
{
    ModelInfo odd = info();
    odd.classes = {"caf\xe9", "two\nlines \\ 层"};
    TW_VERIFY(writeModelDirectory(m_folder, odd, weights(), {}));
    QCOMPARE(bytes("labels.txt"), QByteArray("caf\xe9\ntwo\\nlines \\\\ 层\n"));
    const auto got = readModelInfo(m_folder);
    TW_VERIFY(got);
    QCOMPARE(got->classes, odd.classes);
}

void ModelDirectoryTest::oneWeightsFileIsEnough()
{
    TW_VERIFY(writeModelDirectory(m_folder, info(), weights(), {}));
    fs::remove(m_folder / "weights.safetensors");
    const auto read = readModelWeights(m_folder);
    TW_VERIFY(read);
    QCOMPARE(test::element((*read)[0], 3), 4.0);
    fs::remove(m_folder / "weights.pth");
    QCOMPARE(readModelWeights(m_folder).error().name, QString::fromLatin1(errors::InvalidModelDirectory));
}

void ModelDirectoryTest::changedWeightsAreRefused()
{
    TW_VERIFY(writeModelDirectory(m_folder, info(), weights(), {}));
    QByteArray changed = bytes("weights.safetensors");
    changed[changed.size() - 1] = static_cast<char>(changed.back() ^ 1);
    TW_VERIFY(writeFileAtomically(m_folder / "weights.safetensors", changed));
    const auto read = readModelWeights(m_folder);
    QVERIFY(!read.ok());
    QVERIFY(read.error().sentence().contains(u"SHA-256"));
}

void ModelDirectoryTest::badModelJson_data()
{
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QString>("named");
    const auto row = [](const char *name, const char *from, const char *to, const char *named) {
        QTest::newRow(name) << QByteArray(from) << QByteArray(to) << QString::fromLatin1(named);
    };
    row("other format", "trainwright-model", "other", "format");
    row("newer version", "\"version\": 1", "\"version\": 2", "version 2");
    row("no version", "\"version\": 1", "\"versio\": 1", "version");
    row("no architecture", "\"resnet18\"", "7", "architecture");
    row("class count", "\"num_classes\":2", "\"num_classes\":3", "num_classes");
    row("class twice", "\"dog\"", "\"cat\"", "cat");
    row("no classes", "[\"cat\",\"dog\"]", "{}", "classes");
    row("channels", "\"channels\":3", "\"channels\":2", "channels");
    row("height", "\"height\":224", "\"height\":2.5", "height");
    row("std of zero", "[0.229,", "[0,", "std");
    row("two means", "[0.485,", "[", "mean");
    row("unknown operation", "center_crop", "explode", "explode");
    row("no transforms", "\"transforms\":", "\"transform\":", "transforms");
    row("not JSON", "{", "", "model.json");
    row("format of another type", "\"trainwright-model\"", "[1]", "format");
    row("version as text", "\"version\": 1", "\"version\": \"1\"", "version");
    row("version huge", "\"version\": 1", "\"version\": 12345678901", "version 12345678901");
    row("version between", "\"version\": 1", "\"version\": 1.5", "\"version\" is 1.5");
    row("empty architecture", "\"resnet18\"", "\"\"", "architecture");
    row("arguments missing", "\"arguments\":", "\"argument\":", "\"arguments\" is missing");
    row("arguments a list", "{\"num_classes\":2}", "[2]", "\"arguments\" is [2]");
    row("num_classes missing", "{\"num_classes\":2}", "{}", "arguments.num_classes\" is missing; it must be 2");
    row("num_classes huge", "\"num_classes\":2", "\"num_classes\":1e300", "arguments.num_classes");
    row("num_classes as text", "\"num_classes\":2", "\"num_classes\":\"2\"", "arguments.num_classes");
    row("class that is no text", "\"dog\"", "7", "\"classes\" is 7");
    row("class without a name", "\"dog\"", "\"\"", "\"classes\"");
    row("input missing", "\"input\":", "\"inputs\":", "\"input\" is missing");
    row("input a text", "\"input\": {", "\"input\": 4, \"x\": {", "\"input\" is 4");
    row("channels missing", "\"channels\":", "\"channel\":", "input.channels");
    row("channels as text", "\"channels\":3", "\"channels\":\"3\"", "input.channels");
    row("height zero", "\"height\":224", "\"height\":0", "input.height");
    row("height huge", "\"height\":224", "\"height\":1e30", "input.height");
    row("height unlike the crop", "\"height\":224", "\"height\":225", "\"input.height\" is 225; it must be 224");
    row("width unlike the crop", "\"width\":224", "\"width\":100", "\"input.width\" is 100; it must be 224");
    row("width negative", "\"width\":224", "\"width\":-224", "input.width");
    row("resize unlike the list", "\"resize\":256", "\"resize\":255", "\"input.resize\" is 255; it must be 256");
    row("crop left out of the list", "\"crop\":224", "\"crop\":null", "\"input.crop\" is null; it must be 224");
    row("another interpolation", "\"bilinear\"", "\"bicubic\"",
        "\"input.interpolation\" is \"bicubic\"; it must be \"bilinear\"");
    row("interpolation of the list", "{\"op\":\"resize\",", "{\"op\":\"resize\",\"interpolation\":\"bicubic\",",
        "\"input.interpolation\" is \"bilinear\"; it must be \"bicubic\"");
    row("unknown interpolation", "{\"op\":\"resize\",", "{\"op\":\"resize\",\"interpolation\":\"cubic\",",
        "\"interpolation\" is \"cubic\"; it must be \"bilinear\" or \"bicubic\"");
    row("mean missing", "\"mean\":", "\"means\":", "input.mean");
    row("mean as text", "[0.485,", "[\"0.485\",", "input.mean");
    row("mean huge", "[0.485,", "[1e300,", "input.mean");
    row("four means", "[0.485,", "[0.1,0.485,", "input.mean");
    row("negative std", "[0.229,", "[-0.229,", "input.std");
    row("std too small for a float", "[0.229,", "[1e-60,", "input.std");
    row("std missing", "\"std\":", "\"sdt\":", "input.std");
    row("transforms an object", "\"transforms\":[", "\"transforms\":{},\"more\":[", "input.transforms");
    row("operation of no kind", "{\"op\":\"resize\",", "{", "input.transforms");
    row("operation that is a number", "{\"op\":\"resize\",\"size\":256}", "256", "input.transforms");
    row("random operation", "{\"op\":\"resize\",\"size\":256}", "{\"op\":\"random_horizontal_flip\",\"p\":0.5}",
        "without random operations");
    row("training a list", "\"training\": {", "\"training\": [], \"x\": {", "\"training\" is []");
    row("provenance a number", "\"provenance\": {", "\"provenance\": 1, \"x\": {", "\"provenance\" is 1");
}

void ModelDirectoryTest::badModelJson()
{
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QString, named);
    TW_VERIFY(writeModelDirectory(m_folder, info(), weights(), {}));
    QByteArray json = bytes("model.json");
    const qsizetype at = json.indexOf(from);
    QVERIFY2(at >= 0, json.constData());
    json.replace(at, from.size(), to);
    TW_VERIFY(writeFileAtomically(m_folder / "model.json", json));
    const auto got = readModelInfo(m_folder);
    QVERIFY(!got.ok());
    QCOMPARE(got.error().name, QString::fromLatin1(errors::InvalidModelDirectory));
    QVERIFY2(got.error().sentence().contains(named), qPrintable(got.error().sentence()));
    QVERIFY(got.error().sentence().contains(u"model.json"));
}

void ModelDirectoryTest::badHashes()
{
    TW_VERIFY(writeModelDirectory(m_folder, info(), weights(), {}));
    const QByteArray json = bytes("model.json");
    const qsizetype at = json.indexOf("\"pth\":\"") + 6;
    for (const QByteArray &wrong : {QByteArray("7"), QByteArray("\"short\""), '"' + QByteArray(64, 'g') + '"'}) {
        TW_VERIFY(writeFileAtomically(m_folder / "model.json", QByteArray(json).replace(at, 66, wrong)));
        const auto read = readModelWeights(m_folder);
        QVERIFY(!read.ok());
        QCOMPARE(read.error().name, QString::fromLatin1(errors::InvalidModelDirectory));
        QVERIFY2(read.error().sentence().contains(u"\"weights.pth\" is"), qPrintable(read.error().sentence()));
        QCOMPARE(checkModelHashes(m_folder).error(), read.error());
    }
    TW_VERIFY(writeFileAtomically(m_folder / "model.json", QByteArray(json).replace(at, 66, "null")));
    TW_VERIFY(readModelWeights(m_folder));
    QCOMPARE(*checkModelHashes(m_folder), QStringList());
}

void ModelDirectoryTest::copies()
{
    TW_VERIFY(writeModelDirectory(m_folder, info(), weights(), {}));
    QVERIFY(isModelDirectory(m_folder) && !isModelDirectory(m_folder / "absent"));
    TW_VERIFY(writeFileAtomically(m_folder / "notes.txt", "mine"));
    QTemporaryDir other;
    const fs::path to = other.path().toStdString();
    TW_VERIFY(copyModelDirectory(m_folder, to));
    TW_VERIFY(readModelWeights(to));
    QVERIFY(!fs::exists(to / "notes.txt") && fs::exists(to / "score.py"));
    QCOMPARE(copyModelDirectory(m_folder, to / "absent").error().name,
             QString::fromLatin1(errors::FailedToWriteOutputs));
    QCOMPARE(modelWeightsFile(to)->filename().string(), std::string("weights.safetensors"));
}

void ModelDirectoryTest::missingFolder()
{
    QCOMPARE(readModelInfo(m_folder / "absent").error().name, QString::fromLatin1(errors::InvalidModelDirectory));
    QCOMPARE(readModelWeights(m_folder / "absent").error().name, QString::fromLatin1(errors::InvalidModelDirectory));
    QCOMPARE(writeModelDirectory(m_folder / "absent", info(), weights(), {}).error().name,
             QString::fromLatin1(errors::FailedToWriteOutputs));
}

void ModelDirectoryTest::untrainedModel()
{
    UntrainedModel model;
    model.config = {QStringLiteral("mlp"), {{QStringLiteral("hidden_sizes"), QJsonArray{10, 5}}}};
    TW_VERIFY(model.write(m_folder));
    auto got = UntrainedModel::read(m_folder);
    TW_VERIFY(got);
    QCOMPARE(got->config.architecture, model.config.architecture);
    QCOMPARE(got->config.arguments, model.config.arguments);
    QVERIFY(got->weightsFile.empty());
    model.weightsFile = fs::path("/data/caf\xe9.pth");
    model.weightsSha256 = QByteArray(64, 'a');
    TW_VERIFY(model.write(m_folder));
    got = UntrainedModel::read(m_folder);
    TW_VERIFY(got);
    QCOMPARE(got->weightsFile, model.weightsFile);
    QCOMPARE(got->weightsSha256, model.weightsSha256);
    QVERIFY(!got->normalization);
    model.weightsFile = "weights.pth";
    model.normalization = Normalization{{0.1F, 0.2F, 0.3F}, {1, 2, 3}};
    TW_VERIFY(model.write(m_folder));
    got = UntrainedModel::read(m_folder);
    TW_VERIFY(got);
    QCOMPARE(got->weightsFile, m_folder / "weights.pth");
    QVERIFY(got->normalization == model.normalization);
    QVERIFY(!got->preprocessing);
}

void ModelDirectoryTest::preprocessingOfTheWeights()
{
    UntrainedModel model;
    model.config.architecture = QStringLiteral("resnet18");
    model.preprocessing = WeightsPreprocessing{232, 224, Interpolation::Bicubic, {0.1F, 0.2F, 0.3F}, {0.25F, 0.5F, 1}};
    TW_VERIFY(model.write(m_folder));
    const QByteArray json = bytes("untrained_model.json");
    QVERIFY2(json.contains(R"("preprocessing":{"resize":232,"crop":224,"interpolation":"bicubic",)"
                           R"("mean":[0.1,0.2,0.3],"std":[0.25,0.5,1]})"),
             json.constData());
    const auto got = UntrainedModel::read(m_folder);
    TW_VERIFY(got);
    QVERIFY(got->preprocessing == model.preprocessing);
    QCOMPARE(got->preprocessing->normalization().std[1], 0.5F);
    const TransformList list = got->preprocessing->transforms();
    QCOMPARE(jsonCompact(transformsToJson(list)),
             QByteArray(R"([{"interpolation":"bicubic","op":"resize","size":232},{"op":"center_crop","size":224}])"));
    QVERIFY(WeightsPreprocessing::of(list, got->preprocessing->normalization()) == model.preprocessing);
    QVERIFY(!WeightsPreprocessing::of({list.front()}, {}));
    QVERIFY(!WeightsPreprocessing::of({list.back()}, {}));
    TransformList small = list;
    small.back().size = 233;
    QVERIFY(!WeightsPreprocessing::of(small, {}));
}

void ModelDirectoryTest::badPreprocessing_data()
{
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QString>("named");
    const auto row = [](const char *from, const char *to, const char *named) {
        QTest::newRow(to) << QByteArray(from) << QByteArray(to) << QString::fromLatin1(named);
    };
    row("\"preprocessing\":{", "\"preprocessing\":[],\"x\":{", "\"preprocessing\" is []; it must be an object");
    row("\"resize\":256", "\"resize\":0", "\"preprocessing.resize\" is 0");
    row("\"resize\":256", "\"size\":256", "\"preprocessing.resize\" is missing");
    row("\"resize\":256", "\"resize\":1e9", "\"preprocessing.resize\" is 1000000000");
    row("\"crop\":224", "\"crop\":257", "\"preprocessing.crop\" is 257; it must be a whole number from 1 to 256");
    row("\"crop\":224", "\"crop\":22.5", "\"preprocessing.crop\" is 22.5");
    row("\"bilinear\"", "\"nearest\"", "is \"nearest\"; it must be \"bilinear\" or \"bicubic\"");
    row("\"bilinear\"", "7", "\"preprocessing.interpolation\" is 7");
    row("[0.485,", "[", "preprocessing.mean");
    row("[0.229,", "[0,", "preprocessing.std");
}

void ModelDirectoryTest::badPreprocessing()
{
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QString, named);
    UntrainedModel model;
    model.config.architecture = QStringLiteral("resnet18");
    model.preprocessing = WeightsPreprocessing{};
    TW_VERIFY(model.write(m_folder));
    const QByteArray json = bytes("untrained_model.json");
    QVERIFY2(json.contains(from), json.constData());
    TW_VERIFY(writeFileAtomically(m_folder / "untrained_model.json", QByteArray(json).replace(from, to)));
    const auto got = UntrainedModel::read(m_folder);
    QVERIFY(!got.ok());
    QCOMPARE(got.error().name, QString::fromLatin1(errors::InvalidModelDirectory));
    QVERIFY2(got.error().sentence().contains(named), qPrintable(got.error().sentence()));
    QVERIFY(got.error().sentence().contains(u"untrained_model.json"));
}

void ModelDirectoryTest::badUntrainedModel()
{
    QCOMPARE(UntrainedModel::read(m_folder).error().name, QString::fromLatin1(errors::InvalidModelDirectory));
    for (const char *json :
         {"{}", "[]",
          R"({"format":"trainwright-untrained-model","version":2,"architecture":"a","arguments":{},"weights":null})",
          R"({"format":"trainwright-untrained-model","version":1,"arguments":{},"weights":null})",
          R"({"format":"trainwright-untrained-model","version":1,"architecture":"a","arguments":{},"weights":{}})"}) {
        TW_VERIFY(writeFileAtomically(m_folder / "untrained_model.json", json));
        QVERIFY2(!UntrainedModel::read(m_folder).ok(), json);
    }
}

QTEST_GUILESS_MAIN(ModelDirectoryTest)
#include "tst_modeldirectory.moc"

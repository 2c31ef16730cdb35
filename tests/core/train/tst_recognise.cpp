// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>

using namespace tw;

/// Which network a state_dict belongs to, by names and shapes alone, and how its weights get there.
class TestRecognise : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyArchitecture_data();
    void everyArchitecture();
    void basicNetworks_data();
    void basicNetworks();
    void prefixesAndCounters_data();
    void prefixesAndCounters();
    void prefixesOfSomeNamesStay();
    void namesOfOlderFiles();
    void notRecognised_data();
    void notRecognised();
    void guesses();
    void likeBasicNetworksOnly_data();
    void likeBasicNetworksOnly();
    void wholeFileInHalfPrecision();
    void headOfOtherClassesOnly();
    void warningsOfTheFileAreTold();
    void chosenArchitecture();
    void fittedWeightsConvert();
    void inputOfAModel_data();
    void inputOfAModel();
};

namespace {

const QString file = QStringLiteral("some.pth");

StateDict layout(const QString &name, QJsonObject arguments = {})
{
    auto made = weightsLayout({name, std::move(arguments)});
    if (!made.ok())
        qFatal("%s", qPrintable(made.error().toString()));
    return *made;
}

/// torchvision's names of 2017.
std::string oldName(const std::string &name)
{
    std::string changed = name;
    for (const char *part : {".norm1.", ".norm2.", ".conv1.", ".conv2."}) {
        const std::size_t at = changed.find(part);
        if (at != std::string::npos && changed.find("denselayer") != std::string::npos)
            changed.insert(changed.begin() + std::ptrdiff_t(at + 5), '.');
    }
    return changed;
}

} // namespace

void TestRecognise::everyArchitecture_data()
{
    QTest::addColumn<QString>("name");
    for (const QString &name : architectureNames()) {
        if (name != QLatin1String("mlp") && name != QLatin1String("small_cnn"))
            QTest::newRow(qPrintable(name)) << name;
    }
}

void TestRecognise::everyArchitecture()
{
    QFETCH(QString, name);
    const auto model = recogniseModel(layout(name, {{"num_classes", 37}}), {}, file);
    TW_VERIFY(model);
    QCOMPARE(model->config.architecture, name);
    QCOMPARE(model->config.arguments, (QJsonObject{{"num_classes", 37}}));
    QVERIFY(model->initial.notes.first().contains(QLatin1String("Recognised as ") + name));
    TW_VERIFY(recogniseModel(layout(name), name, file));
}

void TestRecognise::basicNetworks_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QJsonObject>("arguments");
    QTest::newRow("small_cnn") << "small_cnn"
                               << QJsonObject{{"num_classes", 4}, {"in_channels", 1}, {"height", 28}, {"width", 28}};
    QTest::newRow("small_cnn, colour") << "small_cnn"
                                       << QJsonObject{
                                              {"num_classes", 4}, {"in_channels", 3}, {"height", 64}, {"width", 64}};
    QTest::newRow("mlp, gray") << "mlp"
                               << QJsonObject{{"num_classes", 2},
                                              {"in_channels", 1},
                                              {"height", 5},
                                              {"width", 5},
                                              {"hidden_sizes", QJsonArray{7, 6}}};
    QTest::newRow("mlp, colour") << "mlp"
                                 << QJsonObject{{"num_classes", 2},
                                                {"in_channels", 3},
                                                {"height", 8},
                                                {"width", 8},
                                                {"hidden_sizes", QJsonArray{10}}};
}

void TestRecognise::basicNetworks()
{
    QFETCH(QString, name);
    QFETCH(QJsonObject, arguments);
    const auto model = recogniseModel(layout(name, arguments), {}, file);
    TW_VERIFY(model);
    QCOMPARE(model->config.architecture, name);
    QCOMPARE(model->config.arguments, arguments);
    QVERIFY2(model->initial.notes.join(u' ').contains(QLatin1String("taken for granted")),
             qPrintable(model->initial.notes.join(u' ')));
}

void TestRecognise::prefixesAndCounters_data()
{
    QTest::addColumn<QString>("prefix");
    for (const char *prefix : {"module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.", "model.", "net.",
                               "network.", "backbone.", "model.module.", "module.model._orig_mod.backbone."})
        QTest::newRow(prefix) << QString::fromLatin1(prefix);
}

void TestRecognise::prefixesAndCounters()
{
    QFETCH(QString, prefix);
    StateDict weights = layout(QStringLiteral("resnet34"));
    std::erase_if(weights, [](const TensorBlob &blob) { return blob.name.find("num_batches") != std::string::npos; });
    for (TensorBlob &blob : weights) {
        blob.name = prefix.toStdString() + blob.name;
        blob.type = ElementType::F16;
    }
    const auto model = recogniseModel(weights, {}, file);
    TW_VERIFY(model);
    QCOMPARE(model->config.architecture, QStringLiteral("resnet34"));
    QVERIFY(model->initial.notes.join(u' ').contains(QStringLiteral("'%1', which was taken off").arg(prefix)));
    QCOMPARE(model->initial.weights.front().name, std::string("conv1.weight"));
}

/// One name without it is enough: then it may belong to the network.
void TestRecognise::prefixesOfSomeNamesStay()
{
    StateDict weights = layout(QStringLiteral("resnet34"));
    for (std::size_t i = 1; i < weights.size(); ++i)
        weights[i].name.insert(0, "module.");
    const auto model = recogniseModel(weights, {}, file);
    QVERIFY(!model.ok());
    QVERIFY2(model.error().sentence().contains(u"module.bn1.weight"), qPrintable(model.error().sentence()));
}

/// The names move, the values come with them.
void TestRecognise::namesOfOlderFiles()
{
    const ModelConfig config{QStringLiteral("densenet121"), {{"num_classes", 3}}};
    const auto weights = freshWeights(config, 5);
    TW_VERIFY(weights);
    StateDict old = *weights;
    int renamed = 0;
    for (TensorBlob &blob : old) {
        const std::string name = oldName(blob.name);
        renamed += name != blob.name;
        blob.name = name;
    }
    QVERIFY(renamed > 600);
    QTemporaryDir folder;
    const fs::path path = fs::path(folder.path().toStdString()) / "old.pth";
    TW_VERIFY(writePth(path, old));
    const ModelConfig other{config.architecture, {{"num_classes", 9}}};
    TW_VERIFY(checkInitialWeights(other, path));
    const auto initial = readInitialWeights(config, path);
    TW_VERIFY(initial);
    QVERIFY(initial->notes.first().startsWith(QString::number(renamed)));
    const auto fitted = fittedWeights(config, initial->weights, file);
    TW_VERIFY(fitted);
    for (std::size_t i = 0; i < weights->size(); ++i) {
        QCOMPARE((*fitted)[i].name, (*weights)[i].name);
        QVERIFY(std::memcmp((*fitted)[i].data, (*weights)[i].data, (*weights)[i].bytes) == 0);
    }
    const auto model = recogniseModel(old, {}, file);
    TW_VERIFY(model);
    QCOMPARE(model->config.architecture, config.architecture);
}

void TestRecognise::notRecognised_data()
{
    QTest::addColumn<QString>("change");
    QTest::addColumn<QString>("error");
    QTest::addColumn<QStringList>("named");
    QTest::newRow("one shape") << "shape"
                               << "CheckpointMismatchError"
                               << QStringList{"resnet18", "layer1.0.bn1.weight (given 63, needed 64)"};
    QTest::newRow("one type") << "type"
                              << "CheckpointMismatchError" << QStringList{"bn1.weight (given I64, needed F32)"};
    QTest::newRow("names gone") << "gone"
                                << "CheckpointMismatchError" << QStringList{"resnet18", "missing: fc.weight, fc.bias"};
    QTest::newRow("names more") << "more"
                                << "CheckpointMismatchError" << QStringList{"unexpected: extra.weight"};
    QTest::newRow("head of two sizes") << "head"
                                       << "CheckpointMismatchError" << QStringList{"fc.bias (given 999, needed 1000)"};
    QTest::newRow("other names") << "strange"
                                 << "InvalidModelDirectoryError"
                                 << QStringList{"some.pth", "'x.conv1.weight'", "and 119 more"};
    QTest::newRow("nothing") << "empty"
                             << "InvalidModelDirectoryError" << QStringList{"some.pth"};
}

void TestRecognise::notRecognised()
{
    QFETCH(QString, change);
    QFETCH(QStringList, named);
    StateDict weights = layout(QStringLiteral("resnet18"));
    if (change == "gone")
        std::erase_if(weights, [](const TensorBlob &blob) { return blob.name.starts_with("fc."); });
    if (change == "more") {
        weights.push_back(weights.front());
        weights.back().name = "extra.weight";
    }
    if (change == "empty")
        weights.clear();
    for (TensorBlob &blob : weights) {
        if (change == "shape" && blob.name == "layer1.0.bn1.weight")
            blob.shape = {63};
        if (change == "type" && blob.name == "bn1.weight")
            blob.type = ElementType::I64;
        if (change == "head" && blob.name == "fc.bias")
            blob.shape = {999};
        if (change == "strange")
            blob.name = std::string("x.").append(blob.name);
    }
    const auto model = recogniseModel(weights, {}, file);
    QVERIFY(!model.ok());
    QTEST(model.error().name, "error");
    for (const QString &name : named)
        QVERIFY2(model.error().sentence().contains(name), qPrintable(model.error().sentence()));
    QVERIFY(!model.error().hintSentence().isEmpty());
    if (change == "strange")
        QVERIFY(model.error().hintSentence().contains(QLatin1String("densenet201")));
}

/// What `inspect` says of weights that fit, of a changed network and of something else.
void TestRecognise::guesses()
{
    const StateDict whole = layout(QStringLiteral("resnet34"));
    const auto fits = guessModel(whole, file);
    TW_VERIFY(fits);
    QVERIFY(fits->model);
    QCOMPARE(fits->model->config.architecture, QStringLiteral("resnet34"));
    QVERIFY(fits->nearest.isEmpty() && fits->differences.isEmpty());
    StateDict changed = whole;
    changed[0].name.insert(0, "encoder.");
    const auto near = guessModel(changed, file);
    TW_VERIFY(near);
    QVERIFY(!near->model);
    QCOMPARE(near->nearest, QStringLiteral("resnet34"));
    for (const char *part : {"missing: conv1.weight", "unexpected: encoder.conv1.weight"})
        QVERIFY2(near->differences.contains(QLatin1String(part)), qPrintable(near->differences));
    for (TensorBlob &blob : changed)
        blob.name.insert(0, "part.");
    const auto strange = guessModel(changed, file);
    TW_VERIFY(strange);
    QVERIFY(!strange->model && strange->nearest.isEmpty() && strange->differences.isEmpty());
}

void TestRecognise::likeBasicNetworksOnly_data()
{
    QTest::addColumn<StateDict>("weights");
    QTest::addColumn<QString>("says");
    const auto blob = [](const std::string &name, std::vector<std::int64_t> shape) {
        TensorBlob made;
        made.name = name;
        made.shape = std::move(shape);
        return made;
    };
    QTest::newRow("13 input channels") << StateDict{blob("conv1.weight", {32, 13, 3, 3}), blob("conv1.bias", {32}),
                                                    blob("fc1.weight", {128, 3136}), blob("fc1.bias", {128})}
                                       << "unexpected: conv1.bias, conv1.weight";
    QTest::newRow("none") << StateDict{blob("fc1.weight", {0, 64}), blob("fc1.bias", {0}), blob("fc2.weight", {2, 0}),
                                       blob("fc2.bias", {2})}
                          << "no network that this program knows";
    StateDict deep;
    for (int i = 1; i <= 50'000; ++i) {
        deep.push_back(blob("fc" + std::to_string(i) + ".weight", {1, 1}));
        deep.push_back(blob("fc" + std::to_string(i) + ".bias", {1}));
    }
    QTest::newRow("50,000 layers") << deep << "no network that this program knows";
}

/// Names of a tutorial's network, but not what the network of that name can be.
void TestRecognise::likeBasicNetworksOnly()
{
    QFETCH(StateDict, weights);
    QFETCH(QString, says);
    const auto model = recogniseModel(weights, {}, file);
    QVERIFY(!model.ok());
    QVERIFY2(model.error().sentence().contains(says), qPrintable(model.error().sentence()));
    const auto guess = guessModel(weights, file);
    TW_VERIFY(guess);
    QVERIFY(!guess->model);
    QVERIFY(!recogniseModel(weights, QStringLiteral("small_cnn"), file).ok());
    QVERIFY(!recogniseModel(weights, QStringLiteral("mlp"), file).ok());
}

/// {name: tensor.half()} converts the counters of batches too; PyTorch loads such a file.
void TestRecognise::wholeFileInHalfPrecision()
{
    StateDict weights = layout(QStringLiteral("resnet18"));
    for (TensorBlob &blob : weights) {
        const auto bits = blob.name.ends_with("num_batches_tracked") ? std::uint16_t(0x4200) : std::uint16_t(0x3800);
        auto memory = std::make_shared<std::vector<std::uint16_t>>(std::size_t(blob.elements()), bits); // 3 and 0.5
        blob.type = ElementType::F16;
        blob.bytes = memory->size() * sizeof(std::uint16_t);
        blob.data = reinterpret_cast<const std::byte *>(memory->data());
        blob.owner = std::move(memory);
    }
    const auto model = recogniseModel(weights, {}, file);
    TW_VERIFY(model);
    const auto fitted = fittedWeights(model->config, model->initial.weights, file);
    TW_VERIFY(fitted);
    for (const TensorBlob &blob : *fitted) {
        const bool isCounter = blob.name.ends_with("num_batches_tracked");
        QCOMPARE(blob.type, isCounter ? ElementType::I64 : ElementType::F32);
        std::int64_t count = 0;
        float value = 0;
        std::memcpy(&count, blob.data, isCounter ? sizeof count : 0);
        std::memcpy(&value, blob.data, isCounter ? 0 : sizeof value);
        QVERIFY(isCounter ? count == 3 : value == 0.5F);
    }
}

/// A head is replaced where its number of classes is another; anything else that differs is listed.
void TestRecognise::headOfOtherClassesOnly()
{
    const ModelConfig seven{QStringLiteral("mlp"), {{"num_classes", 7}, {"height", 2}, {"width", 2}}};
    const auto fresh = freshWeights(seven, 1);
    TW_VERIFY(fresh);
    QTemporaryDir folder;
    const fs::path path = fs::path(folder.path().toStdString()) / "head.pth";
    const auto check = [&](const std::string &name, std::vector<std::int64_t> shape) {
        StateDict weights = *fresh;
        for (TensorBlob &blob : weights) {
            if (blob.name != name)
                continue;
            blob.shape = shape;
            blob.bytes = std::size_t(blob.elements()) * sizeof(float);
            auto memory = std::make_shared<std::vector<float>>(std::size_t(blob.elements()));
            blob.data = reinterpret_cast<const std::byte *>(memory->data());
            blob.owner = std::move(memory);
        }
        const Result<void> written = writePth(path, weights);
        ModelConfig three = seven;
        three.arguments["num_classes"] = 3;
        return written.ok() ? checkInitialWeights(three, path) : written;
    };
    TW_VERIFY(check({}, {}));
    for (const auto &[name, shape] :
         {std::pair("fc2.bias", std::vector<std::int64_t>{3}), std::pair("fc2.bias", std::vector<std::int64_t>{8}),
          std::pair("fc2.weight", std::vector<std::int64_t>{7, 11}),
          std::pair("fc2.weight", std::vector<std::int64_t>{7, 10, 1})}) {
        const auto refused = check(name, shape);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().name, QLatin1String(errors::CheckpointMismatch));
        QVERIFY2(refused.error().sentence().contains(QLatin1String("fc2.")), qPrintable(refused.error().sentence()));
    }
}

void TestRecognise::warningsOfTheFileAreTold()
{
    const ModelConfig config{QStringLiteral("mlp"), {{"num_classes", 2}, {"height", 1}, {"width", 1}}};
    auto weights = freshWeights(config, 1);
    TW_VERIFY(weights);
    const std::vector<float> values{std::nanf(""), 1};
    weights->back().data = reinterpret_cast<const std::byte *>(values.data());
    QTemporaryDir folder;
    const fs::path path = fs::path(folder.path().toStdString()) / "nan.pth";
    TW_VERIFY(writePth(path, *weights));
    const auto initial = readInitialWeights(config, path);
    TW_VERIFY(initial);
    QVERIFY2(initial->notes.join(u' ').contains(u"A NaN or an infinity stands in: fc2.bias"),
             qPrintable(initial->notes.join(u' ')));
}

void TestRecognise::chosenArchitecture()
{
    const auto wrong = recogniseModel(layout(QStringLiteral("resnet18")), QStringLiteral("densenet121"), file);
    QVERIFY(!wrong.ok());
    QCOMPARE(wrong.error().name, QLatin1String(errors::CheckpointMismatch));
    for (const char *name : {"densenet121", "missing: features.conv0.weight", "unexpected: bn1.bias", "fc.weight"})
        QVERIFY2(wrong.error().sentence().contains(QLatin1String(name)), name);
    const auto unknown = recogniseModel(layout(QStringLiteral("resnet18")), QStringLiteral("resnet19"), file);
    QVERIFY(!unknown.ok());
    QCOMPARE(unknown.error().name, QLatin1String(errors::InvalidModelDirectory));
}

void TestRecognise::fittedWeightsConvert()
{
    const ModelConfig config{QStringLiteral("mlp"), {{"num_classes", 2}, {"height", 1}, {"width", 1}}};
    auto weights = freshWeights(config, 1);
    TW_VERIFY(weights);
    const std::vector<double> values{0.5, -2};
    TensorBlob &bias = weights->back();
    bias.type = ElementType::F64;
    bias.data = reinterpret_cast<const std::byte *>(values.data());
    bias.bytes = 16;
    std::swap(weights->front(), weights->back());
    const auto fitted = fittedWeights(config, *weights, file);
    TW_VERIFY(fitted);
    QCOMPARE(fitted->back().name, std::string("fc2.bias"));
    QCOMPARE(fitted->back().type, ElementType::F32);
    float last = 0;
    std::memcpy(&last, fitted->back().data + 4, 4);
    QCOMPARE(last, -2.0F);
    const auto other =
        fittedWeights({config.architecture, {{"num_classes", 3}, {"height", 1}, {"width", 1}}}, *weights, file);
    QVERIFY(!other.ok());
    QCOMPARE(other.error().name, QLatin1String(errors::CheckpointMismatch));
    QVERIFY(other.error().sentence().contains(QString::fromUtf8("fc2.weight (given 2×10, needed 3×10)")));
}

void TestRecognise::inputOfAModel_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("key");
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("width");
    QTest::newRow("fits") << "small_cnn"
                          << "" << 3 << 28 << 28;
    QTest::newRow("channels of a fixed input") << "small_cnn"
                                               << "input.channels" << 1 << 28 << 28;
    QTest::newRow("height of a fixed input") << "mlp"
                                             << "input.height" << 3 << 224 << 28;
    QTest::newRow("width of a fixed input") << "mlp"
                                            << "input.width" << 3 << 28 << 224;
    QTest::newRow("any size") << "resnet18"
                              << "" << 3 << 1 << 500;
    QTest::newRow("gray") << "resnet18"
                          << "input.channels" << 1 << 224 << 224;
    QTest::newRow("low") << "densenet121"
                         << "input.height" << 3 << 28 << 224;
    QTest::newRow("narrow") << "densenet121"
                            << "input.width" << 3 << 224 << 28;
    QTest::newRow("unknown") << "resnet19"
                             << "architecture" << 3 << 224 << 224;
}

void TestRecognise::inputOfAModel()
{
    QFETCH(QString, architecture);
    QFETCH(QString, key);
    QFETCH(int, channels);
    QFETCH(int, height);
    QFETCH(int, width);
    ModelInfo info;
    info.config = {architecture, {{"num_classes", 2}}};
    info.channels = channels;
    info.height = height;
    info.width = width;
    const auto checked = checkModel(info, "some/folder");
    QCOMPARE(checked.ok(), key.isEmpty());
    if (checked.ok())
        return;
    QCOMPARE(checked.error().name, QLatin1String(errors::InvalidModelDirectory));
    QVERIFY2(checked.error().sentence().startsWith(QLatin1String("some/folder/model.json: \"") + key),
             qPrintable(checked.error().sentence()));
}

QTEST_GUILESS_MAIN(TestRecognise)
#include "tst_recognise.moc"

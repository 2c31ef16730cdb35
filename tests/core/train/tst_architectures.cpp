// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/architectures.h"

#include "tests/support/testsupport.h"

#include <QCryptographicHash>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

#include <cmath>
#include <cstring>

using namespace tw;

namespace {

ModelConfig config(const char *architecture, QJsonObject arguments = {})
{
    return {QString::fromLatin1(architecture), std::move(arguments)};
}

/// A line of the table's listing as name and shape of each tensor.
QStringList expanded(const QString &line)
{
    QStringList words = line.split(u' ');
    const QString module = words.takeFirst(), prefix = module == u"-" ? QString() : module + u'.';
    if (words.first() == u"BatchNorm") {
        QStringList out;
        for (const char *name : {"weight", "bias", "running_mean", "running_var"})
            out.append(prefix + QLatin1String(name) + u'\t' + words[1]);
        return out << prefix + QStringLiteral("num_batches_tracked\t");
    }
    QStringList out;
    for (qsizetype i = 0; i + 1 < words.size(); i += 2)
        out.append(prefix + words[i] + u'\t' + words[i + 1]);
    return out;
}

/// "name<TAB>size,size", as tests/data/make_torchvision_table.py writes them.
QStringList lines(const StateDict &weights)
{
    QStringList out;
    for (const TensorBlob &blob : weights) {
        QStringList sizes;
        for (const std::int64_t size : blob.shape)
            sizes.append(QString::number(size));
        out.append(QString::fromStdString(blob.name) + u'\t' + sizes.join(u','));
    }
    return out;
}

const TensorBlob &named(const StateDict &weights, const std::string &name)
{
    for (const TensorBlob &blob : weights) {
        if (blob.name == name)
            return blob;
    }
    qFatal("there is no tensor %s", name.c_str());
}

std::span<const float> floats(const TensorBlob &blob)
{
    return {reinterpret_cast<const float *>(blob.data), blob.bytes / sizeof(float)};
}

struct Moments
{
    double mean = 0, deviation = 0, largest = 0;
};

Moments moments(std::span<const float> values)
{
    double sum = 0, squares = 0, largest = 0;
    for (const float value : values) {
        sum += value;
        squares += double(value) * value;
        largest = std::max(largest, std::abs(double(value)));
    }
    const double mean = sum / double(values.size());
    return {mean, std::sqrt(squares / double(values.size()) - mean * mean), largest};
}

} // namespace

class TestArchitectures : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void networksAreTorchvisions_data();
    void networksAreTorchvisions();
    void countersAreWholeNumbers();
    void basicNetworks_data();
    void basicNetworks();
    void sameSeedSameBits();
    void resnetInitialisation();
    void zeroInitResidual();
    void densenetInitialisation();
    void smallestPictures_data();
    void smallestPictures();
    void refusals_data();
    void refusals();
    void mismatchListsEverything();

private:
    QJsonObject m_table;
};

void TestArchitectures::initTestCase()
{
    QFile file(QString::fromStdString((test::sourceFolder() / "tests/data/torchvision_table.json").string()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    m_table = QJsonDocument::fromJson(file.readAll()).object();
    QCOMPARE(m_table.size(), 26);
}

void TestArchitectures::networksAreTorchvisions_data()
{
    QTest::addColumn<QString>("name");
    for (const QString &name : m_table.keys())
        QTest::newRow(qPrintable(name)) << name;
}

void TestArchitectures::networksAreTorchvisions()
{
    QFETCH(QString, name);
    const QJsonObject expected = m_table[name].toObject();
    if (!architectureNames().contains(name))
        QSKIP("this build has no such network");
    const ModelConfig wanted{name, {{QStringLiteral("num_classes"), 1000}}};
    const int size = expected[QStringLiteral("size")].toInt();
    const auto summary = summarizeModel(wanted, 3, size, size);
    TW_VERIFY(summary);
    const double published = expected[QStringLiteral("gflops")].toDouble() * 1e9;
    QVERIFY(std::abs(double(summary->multiplyAdds) / published - 1) <= 0.01);
    QCOMPARE(double(summary->parameters), expected[QStringLiteral("parameters")].toDouble());
    QCOMPARE(double(summary->multiplyAdds), expected[QStringLiteral("multiply_adds")].toDouble());
    const auto weights = weightsLayout(wanted);
    TW_VERIFY(weights);
    QStringList listed;
    for (const QJsonValue &line : expected[QStringLiteral("listing")].toArray())
        listed += expanded(line.toString());
    const QStringList ours = lines(*weights);
    for (qsizetype i = 0; i < std::min(ours.size(), listed.size()); ++i)
        QCOMPARE(ours[i], listed[i]);
    QCOMPARE(ours.size(), listed.size());
    QCOMPARE(int(weights->size()), expected[QStringLiteral("entries")].toInt());
    const QByteArray text = lines(*weights).join(u'\n').toUtf8();
    QCOMPARE(QString::fromLatin1(QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex()),
             expected[QStringLiteral("sha256")].toString());
    TW_VERIFY(checkWeights(wanted, *weights));
}

void TestArchitectures::countersAreWholeNumbers()
{
    const auto weights = weightsLayout(config("resnet18"));
    TW_VERIFY(weights);
    QCOMPARE(named(*weights, "bn1.num_batches_tracked").type, ElementType::I64);
    QVERIFY(named(*weights, "bn1.num_batches_tracked").shape.empty());
}

void TestArchitectures::basicNetworks_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QJsonObject>("arguments");
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("width");
    QTest::addColumn<qint64>("parameters");
    QTest::addColumn<qint64>("multiplyAdds");
    QTest::addColumn<QString>("names");
    const QString cnn = QStringLiteral("conv1.weight conv1.bias conv2.weight conv2.bias fc1.weight fc1.bias "
                                       "fc2.weight fc2.bias");
    QTest::newRow("mlp 2-10-2") << "mlp" << QJsonObject{{"num_classes", 2}} << 1 << 1 << 2 << qint64(52) << qint64(40)
                                << "fc1.weight fc1.bias fc2.weight fc2.bias";
    QTest::newRow("mlp, two hidden layers")
        << "mlp"
        << QJsonObject{{"num_classes", 3}, {"hidden_sizes", QJsonArray{8, 4}}, {"activation", "tanh"}, {"dropout", 0.5}}
        << 3 << 2 << 2 << qint64(13 * 8 + 9 * 4 + 5 * 3) << qint64(12 * 8 + 8 * 4 + 4 * 3)
        << "fc1.weight fc1.bias fc2.weight fc2.bias fc3.weight fc3.bias";
    QTest::newRow("small_cnn 28, gray") << "small_cnn" << QJsonObject{{"num_classes", 10}} << 1 << 28 << 28
                                        << qint64(421642)
                                        << qint64(784 * 32 * 9 + 196 * 64 * 32 * 9 + 3136 * 128 + 1280) << cnn;
    QTest::newRow("small_cnn 33×30, colour")
        << "small_cnn" << QJsonObject{{"num_classes", 2}} << 3 << 33 << 30
        << qint64(32 * 28 + 64 * 289 + (64 * 8 * 7 + 1) * 128 + 129 * 2)
        << qint64(33 * 30 * 32 * 27 + 16 * 15 * 64 * 288 + 64 * 56 * 128 + 256) << cnn;
}

void TestArchitectures::basicNetworks()
{
    QFETCH(QString, name);
    QFETCH(QJsonObject, arguments);
    QFETCH(int, channels);
    QFETCH(int, height);
    QFETCH(int, width);
    QFETCH(QString, names);
    const auto summary = summarizeModel({name, arguments}, channels, height, width);
    TW_VERIFY(summary);
    QTEST(qint64(summary->parameters), "parameters");
    QTEST(qint64(summary->multiplyAdds), "multiplyAdds");
    arguments[QStringLiteral("in_channels")] = channels;
    arguments[QStringLiteral("height")] = height;
    arguments[QStringLiteral("width")] = width;
    const auto weights = freshWeights({name, arguments}, 7);
    TW_VERIFY(weights);
    TW_VERIFY(checkWeights({name, arguments}, *weights));
    const auto layout = weightsLayout({name, arguments});
    TW_VERIFY(layout);
    QCOMPARE(lines(*layout), lines(*weights));
    QStringList found;
    for (const TensorBlob &blob : *weights)
        found.append(QString::fromStdString(blob.name));
    QCOMPARE(found.join(u' '), names);
}

void TestArchitectures::sameSeedSameBits()
{
    const auto first = freshWeights(config("resnet18"), 5);
    const auto second = freshWeights(config("resnet18"), 5);
    const auto other = freshWeights(config("resnet18"), 6);
    TW_VERIFY(first);
    TW_VERIFY(second);
    TW_VERIFY(other);
    bool differs = false;
    for (std::size_t i = 0; i < first->size(); ++i) {
        const TensorBlob &a = (*first)[i], &b = (*second)[i], &c = (*other)[i];
        QVERIFY(std::memcmp(a.data, b.data, a.bytes) == 0);
        differs = differs || std::memcmp(a.data, c.data, a.bytes) != 0;
    }
    QVERIFY(differs);
}

void TestArchitectures::resnetInitialisation()
{
    const auto weights = freshWeights(config("resnet18", {{"num_classes", 1000}}), 1);
    TW_VERIFY(weights);
    // kaiming_normal_(fan_out, relu): standard deviation √(2 / (512·3·3))
    const Moments conv = moments(floats(named(*weights, "layer4.0.conv2.weight")));
    QVERIFY(std::abs(conv.deviation / std::sqrt(2.0 / (512 * 9)) - 1) < 0.01);
    QVERIFY(std::abs(conv.mean) < 1e-4);
    // the dense layer is uniform within 1/√512
    const Moments fc = moments(floats(named(*weights, "fc.weight")));
    QVERIFY(fc.largest <= 1 / std::sqrt(512.0) && fc.largest > 0.999 / std::sqrt(512.0));
    QVERIFY(std::abs(fc.deviation * std::sqrt(3.0 * 512.0) - 1) < 0.01);
    QCOMPARE(moments(floats(named(*weights, "bn1.weight"))).mean, 1.0);
    QCOMPARE(moments(floats(named(*weights, "bn1.running_var"))).mean, 1.0);
    QCOMPARE(moments(floats(named(*weights, "bn1.running_mean"))).largest, 0.0);
}

void TestArchitectures::zeroInitResidual()
{
    for (const auto &[name, last] :
         {std::pair{"resnet18", "layer2.1.bn2.weight"}, std::pair{"resnet50", "layer2.1.bn3.weight"}}) {
        const auto zero = freshWeights(config(name, {{"zero_init_residual", true}}), 1);
        const auto plain = freshWeights(config(name), 1);
        TW_VERIFY(zero);
        TW_VERIFY(plain);
        QCOMPARE(moments(floats(named(*zero, last))).largest, 0.0);
        QCOMPARE(moments(floats(named(*plain, last))).mean, 1.0);
        QCOMPARE(moments(floats(named(*zero, "layer2.1.bn1.weight"))).mean, 1.0);
    }
}

void TestArchitectures::densenetInitialisation()
{
    const auto weights = freshWeights(config("densenet121"), 1);
    TW_VERIFY(weights);
    // kaiming_normal_(fan_in): standard deviation √(2 / inputs)
    const Moments conv = moments(floats(named(*weights, "features.denseblock4.denselayer16.conv1.weight")));
    QVERIFY(std::abs(conv.deviation / std::sqrt(2.0 / 992) - 1) < 0.01);
    const Moments wide = moments(floats(named(*weights, "features.denseblock3.denselayer2.conv2.weight")));
    QVERIFY(std::abs(wide.deviation / std::sqrt(2.0 / (128 * 9)) - 1) < 0.02);
    const Moments head = moments(floats(named(*weights, "classifier.weight")));
    QVERIFY(head.largest <= 1 / std::sqrt(1024.0) && head.largest > 0.999 / std::sqrt(1024.0));
    QCOMPARE(moments(floats(named(*weights, "classifier.bias"))).largest, 0.0);
    QCOMPARE(moments(floats(named(*weights, "features.norm5.weight"))).mean, 1.0);
}

void TestArchitectures::smallestPictures_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("size");
    QTest::newRow("resnet18") << "resnet18" << 1;
    QTest::newRow("densenet121") << "densenet121" << 29; // torchvision's own limit
    QTest::newRow("convnext_tiny") << "convnext_tiny" << 32;
    QTest::newRow("small_cnn") << "small_cnn" << 4;
    QTest::newRow("mlp") << "mlp" << 1;
}

void TestArchitectures::smallestPictures()
{
    QFETCH(QString, name);
    QFETCH(int, size);
    TW_VERIFY(summarizeModel({name, {}}, 3, size, size));
    if (size == 1)
        return;
    const auto below = summarizeModel({name, {}}, 3, size + 5, size - 1);
    QVERIFY(!below.ok());
    QCOMPARE(below.error().name, QStringLiteral("InvalidModelDirectoryError"));
    const QString offender = QStringLiteral("%1×%2").arg(size - 1).arg(size + 5);
    QVERIFY2(below.error().sentence().contains(offender), qPrintable(below.error().sentence()));
}

void TestArchitectures::refusals_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QJsonObject>("arguments");
    QTest::addColumn<QString>("says");
    QTest::newRow("unknown network") << "resnet19" << QJsonObject{} << "resnet19";
    QTest::newRow("no classes") << "resnet18" << QJsonObject{{"num_classes", 0}} << "num_classes";
    QTest::newRow("half a class") << "resnet18" << QJsonObject{{"num_classes", 2.5}} << "2.5";
    QTest::newRow("unknown argument") << "resnet18" << QJsonObject{{"depth", 3}} << "depth";
    QTest::newRow("text for a flag") << "resnet18" << QJsonObject{{"zero_init_residual", "yes"}} << "yes";
    QTest::newRow("number for a flag") << "densenet121" << QJsonObject{{"memory_efficient", 1}} << "memory_efficient";
    QTest::newRow("unknown activation") << "mlp" << QJsonObject{{"activation", "gelu"}} << "gelu";
    QTest::newRow("empty hidden sizes") << "mlp" << QJsonObject{{"hidden_sizes", QJsonArray{}}} << "hidden_sizes";
    QTest::newRow("zero hidden size") << "mlp" << QJsonObject{{"hidden_sizes", QJsonArray{4, 0}}} << "[4,0]";
    QTest::newRow("two channels") << "densenet121" << QJsonObject{{"in_channels", 2}} << "3 or 1 or 4";
    QTest::newRow("channels as text") << "vit_b_16" << QJsonObject{{"in_channels", "1"}} << "in_channels";
    QTest::newRow("half a patch") << "vit_b_32" << QJsonObject{{"image_size", 240}} << "240";
    QTest::newRow("stochastic depth 1") << "convnext_tiny" << QJsonObject{{"stochastic_depth_prob", 1}}
                                        << "stochastic_depth_prob";
    QTest::newRow("dropout 1") << "mlp" << QJsonObject{{"dropout", 1}} << "dropout";
    QTest::newRow("too small") << "small_cnn" << QJsonObject{{"height", 3}, {"width", 9}} << "9×3";
}

void TestArchitectures::refusals()
{
    QFETCH(QString, name);
    QFETCH(QJsonObject, arguments);
    QFETCH(QString, says);
    const auto weights = freshWeights({name, arguments}, 1);
    QVERIFY(!weights.ok());
    QCOMPARE(weights.error().name, QStringLiteral("InvalidModelDirectoryError"));
    QVERIFY2(weights.error().sentence().contains(says), qPrintable(weights.error().sentence()));
}

void TestArchitectures::mismatchListsEverything()
{
    auto weights = freshWeights(config("mlp", {{"height", 2}, {"width", 2}}), 1);
    TW_VERIFY(weights);
    (*weights)[0].name = "fc9.weight";
    (*weights)[1].shape = {5, 2};
    const auto check = checkWeights(config("mlp", {{"height", 2}, {"width", 2}}), *weights);
    QVERIFY(!check.ok());
    QCOMPARE(check.error().name, QStringLiteral("CheckpointMismatchError"));
    for (const char *part : {"missing: fc1.weight", "unexpected: fc9.weight", "fc1.bias (given 5×2, needed 10)"})
        QVERIFY2(check.error().sentence().contains(QString::fromUtf8(part)), qPrintable(check.error().sentence()));
}

QTEST_APPLESS_MAIN(TestArchitectures)
#include "tst_architectures.moc"

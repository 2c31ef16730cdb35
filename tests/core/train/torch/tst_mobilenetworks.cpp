// SPDX-License-Identifier: GPL-3.0-or-later
// EfficientNet, its lite ones and MobileNet: what tests/data/make_mobile_table.py says, first weights,
// arguments. Their passes are compared with PyTorch's in tst_networkinterop.
#include "core/model/pretrainedweights.h"
#include "core/train/architectures.h"
#include "core/train/torch/architecturelist.h"
#include "tests/core/train/torch/formula.h"
#include "tests/support/testsupport.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>

#include <QCryptographicHash>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

using namespace tw;
using test::formula;

namespace {

/// "name<TAB>size,size", as the script writes them.
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

std::unique_ptr<Network> fresh(const QString &name, const QJsonObject &arguments)
{
    auto made = makeNetwork({name, arguments}, TensorPlace::Memory);
    if (!made.ok())
        return nullptr;
    at::Generator generator = at::detail::createCPUGenerator(1);
    (*made)->initialise(generator);
    return std::move(*made);
}

at::Tensor pictures(int count, int size)
{
    return formula(std::int64_t(count) * 3 * size * size, 1).to(at::kFloat).reshape({count, 3, size, size});
}

bool isNear(double value, double wanted, double share)
{
    return std::abs(value - wanted) <= share * wanted;
}

} // namespace

class TestMobileNetworks : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void asInPython_data() { names(); }
    void asInPython();
    void usualInput_data() { names(); }
    void usualInput();
    void firstWeights_data();
    void firstWeights();
    void randomParts_data();
    void randomParts();
    void sizes_data();
    void sizes();
    void refusals_data();
    void refusals();
    void channelsLastChangesNothing_data();
    void channelsLastChangesNothing();

private:
    void names() const;
    QJsonObject m_table;
};

void TestMobileNetworks::initTestCase()
{
    at::set_num_threads(1);
    QFile file(QString::fromStdString((test::sourceFolder() / "tests/data/mobile_table.json").string()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    m_table = QJsonDocument::fromJson(file.readAll()).object();
    QCOMPARE(m_table.size(), 11);
}

void TestMobileNetworks::names() const
{
    QTest::addColumn<QString>("name");
    for (const QString &name : m_table.keys())
        QTest::newRow(qPrintable(name)) << name;
}

void TestMobileNetworks::asInPython()
{
    QFETCH(QString, name);
    const QJsonObject wanted = m_table[name].toObject();
    const auto weights = weightsLayout({name, {{"num_classes", 1000}}});
    TW_VERIFY(weights);
    const QStringList ours = lines(*weights);
    const QJsonArray shown = wanted["lines"].toArray();
    const int every = wanted["every"].toInt();
    for (qsizetype i = 0; i < shown.size(); ++i)
        QCOMPARE(ours.value(i * every), shown[i].toString());
    QCOMPARE(int(ours.size()), wanted["entries"].toInt());
    const QByteArray sum = QCryptographicHash::hash(ours.join(u'\n').toUtf8(), QCryptographicHash::Sha256);
    QCOMPARE(QString::fromLatin1(sum.toHex()), wanted["sha256"].toString());
    const int size = wanted["size"].toInt();
    const auto summary = summarizeModel({name, {}}, 3, size, size);
    TW_VERIFY(summary);
    QCOMPARE(double(summary->parameters), wanted["parameters"].toDouble());
    QCOMPARE(double(summary->multiplyAdds), wanted["multiply_adds"].toDouble());
    if (wanted["published"].isDouble())
        QVERIFY(isNear(double(summary->multiplyAdds) * 1e-9, wanted["published"].toDouble(), 0.01));
}

void TestMobileNetworks::usualInput()
{
    QFETCH(QString, name);
    const int size = m_table[name].toObject()["size"].toInt();
    const auto input = modelInput({name, {}});
    TW_VERIFY(input);
    QCOMPARE(input->height, size);
    QCOMPARE(input->width, size);
    QVERIFY(!input->fixed);
    const auto info = usualModelInfo({name, {{"num_classes", 2}}}, {"a", "b"});
    TW_VERIFY(info);
    QCOMPARE(info->height, size);
    QCOMPARE(info->transforms.at(1).size, size);
    const PretrainedWeights *weights = pretrainedWeightsOf(name);
    QVERIFY(weights); // whose preparation is the usual one
    QCOMPARE(info->transforms.at(0).size, weights->preprocessing.resize);
    QCOMPARE(info->transforms.at(0).interpolation, weights->preprocessing.interpolation);
    QVERIFY(info->normalization.mean == weights->preprocessing.mean);
}

void TestMobileNetworks::firstWeights_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("head");
    QTest::addColumn<bool>("uniform");
    QTest::newRow("efficientnet") << "efficientnet_b0"
                                  << "classifier.1." << true;
    QTest::newRow("lite") << "efficientnet_lite0"
                          << "_fc." << true;
    QTest::newRow("mobilenet_v2") << "mobilenet_v2"
                                  << "classifier.1." << false;
    QTest::newRow("mobilenet_v3") << "mobilenet_v3_small"
                                  << "classifier.3." << false;
}

/// Every layer: convolutions N(0, 2 / fan out), heads as each family says, norms 1 and 0, biases 0.
void TestMobileNetworks::firstWeights()
{
    QFETCH(QString, name);
    QFETCH(QString, head);
    QFETCH(bool, uniform);
    const auto network = fresh(name, {{"num_classes", 100}});
    QVERIFY(network);
    QCOMPARE(network->headPrefix(), head.toStdString());
    int convolutions = 0, dense = 0;
    for (const NamedTensor &entry : network->stateDict()) {
        const at::Tensor t = entry.tensor.detach();
        if (t.dim() == 4) {
            const double deviation = std::sqrt(2.0 / double(t.size(0) * t.size(2) * t.size(3)));
            const double chance = 5 / std::sqrt(2.0 * double(t.numel())); // five standard errors
            QVERIFY2(isNear(t.std().item<double>(), deviation, chance), entry.name.c_str());
            QVERIFY2(std::abs(t.mean().item<double>()) < 5 * deviation / std::sqrt(double(t.numel())),
                     entry.name.c_str());
            ++convolutions;
        } else if (t.dim() == 2) {
            const double bound = 1 / std::sqrt(double(t.size(0))); // of the outputs: 0.1
            QVERIFY2(isNear(t.std().item<double>(), uniform ? bound / std::sqrt(3.0) : 0.01, 0.02), entry.name.c_str());
            const double largest = t.abs().max().item<double>();
            QVERIFY(uniform ? largest <= bound && largest > 0.99 * bound : largest > 0.03);
            ++dense;
        } else if (t.is_floating_point()) {
            const bool one = test::endsWith(entry.name, "weight") || test::endsWith(entry.name, "running_var");
            QVERIFY2(at::equal(t, at::full_like(t, one ? 1 : 0)), entry.name.c_str());
        }
    }
    QVERIFY(convolutions >= 40);
    QCOMPARE(dense, name.startsWith("mobilenet_v3") ? 2 : 1);
}

void TestMobileNetworks::randomParts_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QJsonObject>("arguments");
    QTest::addColumn<bool>("random");
    for (const char *name : {"efficientnet_b0", "efficientnet_lite0"}) {
        QTest::addRow("%s", name) << name << QJsonObject{} << true;
        QTest::addRow("%s, dropout only", name) << name << QJsonObject{{"stochastic_depth_prob", 0}} << true;
        QTest::addRow("%s, stochastic depth only", name) << name << QJsonObject{{"dropout", 0}} << true;
        QTest::addRow("%s, neither", name)
            << name << QJsonObject{{"dropout", 0}, {"stochastic_depth_prob", 0}} << false;
    }
    for (const char *name : {"mobilenet_v2", "mobilenet_v3_small"}) {
        QTest::addRow("%s", name) << name << QJsonObject{} << true;
        QTest::addRow("%s, no dropout", name) << name << QJsonObject{{"dropout", 0}} << false;
    }
}

/// In training the seed decides; in evaluation nothing is drawn.
void TestMobileNetworks::randomParts()
{
    QFETCH(QString, name);
    QFETCH(QJsonObject, arguments);
    QFETCH(bool, random);
    arguments["num_classes"] = 3;
    const auto network = fresh(name, arguments);
    QVERIFY(network);
    const c10::NoGradGuard noGrad;
    const at::Tensor input = pictures(4, 40);
    const auto pass = [&](std::uint64_t seed, bool training) {
        network->setTraining(training);
        at::manual_seed(seed);
        return network->forward(input);
    };
    QVERIFY(at::equal(pass(1, true), pass(1, true)));
    QCOMPARE(!at::equal(pass(1, true), pass(2, true)), random);
    QVERIFY(at::equal(pass(1, false), pass(2, false)));
}

void TestMobileNetworks::sizes_data()
{
    QTest::addColumn<QString>("name");
    for (const char *name : {"efficientnet_b1", "efficientnet_lite1", "mobilenet_v2", "mobilenet_v3_large"})
        QTest::newRow(name) << name;
}

/// Any size from one pixel on, in memory as in figures.
void TestMobileNetworks::sizes()
{
    QFETCH(QString, name);
    const auto network = fresh(name, {{"num_classes", 3}});
    QVERIFY(network);
    network->setTraining(false);
    const c10::NoGradGuard noGrad;
    for (const auto &[height, width] : {std::pair{1, 1}, std::pair{33, 47}, std::pair{64, 20}}) {
        const at::Tensor logits = network->forward(at::ones({1, 3, height, width}));
        QCOMPARE(logits.sizes(), at::IntArrayRef({1, 3}));
        QVERIFY(logits.isfinite().all().item<bool>());
        TW_VERIFY(summarizeModel({name, {}}, 3, height, width));
    }
}

void TestMobileNetworks::refusals_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QJsonObject>("arguments");
    QTest::addColumn<QString>("says");
    QTest::newRow("dropout 1") << "efficientnet_b0" << QJsonObject{{"dropout", 1}} << "dropout";
    QTest::newRow("depth below 0") << "efficientnet_lite0" << QJsonObject{{"stochastic_depth_prob", -0.1}} << "-0.1";
    QTest::newRow("no depth here") << "mobilenet_v2" << QJsonObject{{"stochastic_depth_prob", 0.1}}
                                   << "stochastic_depth_prob";
    QTest::newRow("text") << "mobilenet_v3_small" << QJsonObject{{"dropout", "some"}} << "some";
    QTest::newRow("another name") << "efficientnet_b9" << QJsonObject{} << "efficientnet_b9";
}

void TestMobileNetworks::refusals()
{
    QFETCH(QString, name);
    QFETCH(QJsonObject, arguments);
    QFETCH(QString, says);
    const auto weights = weightsLayout({name, arguments});
    QVERIFY(!weights.ok());
    QCOMPARE(weights.error().name, QLatin1String(errors::InvalidModelDirectory));
    QVERIFY2(weights.error().sentence().contains(says), qPrintable(weights.error().sentence()));
}

void TestMobileNetworks::channelsLastChangesNothing_data()
{
    sizes_data();
}

void TestMobileNetworks::channelsLastChangesNothing()
{
    QFETCH(QString, name);
    const auto network = fresh(name, {{"num_classes", 5}});
    QVERIFY(network);
    test::fillByFormula(*network);
    network->setTraining(false);
    const c10::NoGradGuard noGrad;
    const at::Tensor plain = network->forward(pictures(2, 50));
    network->useChannelsLast();
    const at::Tensor other = network->forward(pictures(2, 50).contiguous(at::MemoryFormat::ChannelsLast));
    const double scale = std::max(1.0, plain.abs().max().item<double>());
    QVERIFY((plain - other).abs().max().item<double>() <= 2e-5 * scale);
}

QTEST_APPLESS_MAIN(TestMobileNetworks)
#include "tst_mobilenetworks.moc"

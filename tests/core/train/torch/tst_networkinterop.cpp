// SPDX-License-Identifier: GPL-3.0-or-later
// Forward and backward passes here and in torchvision, both in float64 from the same weights.
#include "core/train/torch/architecturelist.h"
#include "tests/core/train/torch/formula.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>

using namespace tw;
using test::formula;

namespace {

constexpr int classes = 5;
constexpr int pictures = 2;
constexpr double tolerance = 1e-9; ///< of float64; another order of sums gives some 1e-13

std::unique_ptr<Network> doubleNetwork(const QString &name, QJsonObject arguments)
{
    arguments.insert(QStringLiteral("num_classes"), classes);
    auto made = makeNetwork({name, arguments}, TensorPlace::Memory);
    if (!made.ok())
        return nullptr;
    c10::NoGradGuard noGrad;
    for (NamedTensor &entry : (*made)->stateDict()) {
        if (entry.tensor.is_floating_point())
            entry.tensor.set_data(entry.tensor.to(at::kDouble));
        else
            entry.tensor.zero_();
    }
    test::fillByFormula(**made);
    return std::move(*made);
}

double gap(double ours, const QJsonValue &theirs)
{
    const double wanted = theirs.toDouble(std::nan(""));
    return std::abs(ours - wanted) / (1 + std::abs(wanted));
}

double logitsGap(const at::Tensor &ours, const QJsonArray &theirs)
{
    const at::Tensor flat = ours.detach().flatten().contiguous();
    if (flat.numel() != theirs.size())
        return std::nan("");
    double largest = 0;
    for (qsizetype i = 0; i < theirs.size(); ++i)
        largest = std::max(largest, gap(flat[i].item<double>(), theirs[i]));
    return largest;
}

std::array<double, 3> digest(const at::Tensor &tensor)
{
    const at::Tensor flat = tensor.detach().to(at::kDouble).contiguous().flatten();
    return {flat.sum().item<double>(), flat.square().sum().sqrt().item<double>(),
            (flat * formula(flat.numel(), 3)).sum().item<double>()};
}

} // namespace

class TestNetworkInterop : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void passes_data();
    void passes();
    void cleanupTestCase()
    {
        m_python.closeWriteChannel();
        m_python.waitForFinished();
    }

private:
    QByteArray readWholeLine();
    void compareDigests(const Network &network, const QJsonObject &gradients, const QJsonObject &buffers);
    QProcess m_python;
};

void TestNetworkInterop::initTestCase()
{
    m_python.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    m_python.start(QStringLiteral("/usr/bin/python3"),
                   {QString::fromStdString((test::sourceFolder() / "tests/data/network_reference.py").string())});
    const QByteArray greeting = readWholeLine();
    if (greeting.isEmpty())
        QSKIP("python3 with torch and torchvision was not found");
    QCOMPARE(greeting, QByteArray("ready"));
}

QByteArray TestNetworkInterop::readWholeLine()
{
    while (!m_python.canReadLine())
        if (!m_python.waitForReadyRead(120000))
            return {};
    return m_python.readLine().trimmed();
}

void TestNetworkInterop::passes_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QJsonObject>("arguments");
    QTest::addColumn<int>("size");
    QTest::newRow("resnet18") << "resnet18" << QJsonObject() << 64;
    QTest::newRow("densenet121") << "densenet121" << QJsonObject() << 64;
    QTest::newRow("densenet121, memory efficient")
        << "densenet121" << QJsonObject{{QStringLiteral("memory_efficient"), true}} << 64;
    const QJsonObject sure{{QStringLiteral("dropout"), 0}};
    const QJsonObject whole{{QStringLiteral("dropout"), 0}, {QStringLiteral("stochastic_depth_prob"), 0}};
    QTest::newRow("efficientnet_b0") << "efficientnet_b0" << whole << 40;
    QTest::newRow("efficientnet_lite0") << "efficientnet_lite0" << whole << 40;
    QTest::newRow("efficientnet_lite2, odd size") << "efficientnet_lite2" << whole << 45;
    QTest::newRow("mobilenet_v2") << "mobilenet_v2" << sure << 40;
    QTest::newRow("mobilenet_v3_small") << "mobilenet_v3_small" << sure << 45;
    QTest::newRow("convnext_tiny") << "convnext_tiny" << QJsonObject{{QStringLiteral("stochastic_depth_prob"), 0}}
                                   << 45;
    // Five tokens: the class and four patches.
    QTest::newRow("vit_b_16") << "vit_b_16" << QJsonObject{{QStringLiteral("image_size"), 32}} << 32;
}

void TestNetworkInterop::passes()
{
    QFETCH(QString, name);
    QFETCH(QJsonObject, arguments);
    QFETCH(int, size);
    m_python.write(QStringLiteral("%1 %2\n").arg(name).arg(size).toLatin1());
    const auto network = doubleNetwork(name, arguments);
    QVERIFY(network);
    const at::Tensor input = formula(pictures * 3 * size * size, 1).reshape({pictures, 3, size, size});
    network->setTraining(false);
    const at::Tensor evaluation = network->forward(input).detach();
    network->setTraining(true);
    const at::Tensor training = network->forward(input);
    (training * formula(training.numel(), 2).reshape(training.sizes())).sum().backward();

    const QJsonObject theirs = QJsonDocument::fromJson(readWholeLine()).object();
    const double evaluationGap = logitsGap(evaluation, theirs[QStringLiteral("evaluation")].toArray());
    const double trainingGap = logitsGap(training, theirs[QStringLiteral("training")].toArray());
    QVERIFY2(evaluationGap <= tolerance && trainingGap <= tolerance,
             qPrintable(QStringLiteral("%1 in evaluation, %2 in training").arg(evaluationGap).arg(trainingGap)));
    compareDigests(*network, theirs[QStringLiteral("gradients")].toObject(),
                   theirs[QStringLiteral("buffers")].toObject());
}

void TestNetworkInterop::compareDigests(const Network &network, const QJsonObject &gradients,
                                        const QJsonObject &buffers)
{
    qsizetype compared = 0;
    for (const NamedTensor &entry : network.stateDict()) {
        const QJsonObject &side = entry.isBuffer ? buffers : gradients;
        const QJsonArray wanted = side[QString::fromStdString(entry.name)].toArray();
        QVERIFY2(wanted.size() == 3, entry.name.c_str());
        const at::Tensor &ours = entry.isBuffer ? entry.tensor : entry.tensor.grad();
        QVERIFY2(ours.defined(), entry.name.c_str());
        const auto found = digest(ours);
        for (std::size_t i = 0; i < found.size(); ++i)
            QVERIFY2(gap(found[i], wanted[qsizetype(i)]) <= tolerance * 10,
                     qPrintable(QStringLiteral("%1: %2 instead of %3")
                                    .arg(QString::fromStdString(entry.name))
                                    .arg(found[i], 0, 'g', 17)
                                    .arg(wanted[qsizetype(i)].toDouble(), 0, 'g', 17)));
        ++compared;
    }
    QCOMPARE(compared, gradients.size() + buffers.size());
}

QTEST_GUILESS_MAIN(TestNetworkInterop)
#include "tst_networkinterop.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Fresh weights against the laws that torchvision's own code draws from (tests/data/make_initial_laws.py).
#include "core/train/architectures.h"
#include "tests/core/train/families.h"
#include "tests/support/testsupport.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace tw;

namespace {

constexpr int classes = 7;
constexpr double sigmas = 6; ///< of each estimate

struct Moments
{
    double count = 0, mean = 0, deviation = 0, kurtosis = 0, lowest = 0, highest = 0;
    double farthest() const { return std::max(-lowest, highest); }
};

Moments momentsOf(const std::vector<float> &values)
{
    Moments m;
    m.count = double(values.size());
    m.lowest = m.highest = double(values.at(0));
    double sum = 0, squares = 0, fourths = 0;
    for (const float one : values) {
        const auto value = double(one);
        sum += value;
        m.lowest = std::min(m.lowest, value);
        m.highest = std::max(m.highest, value);
    }
    m.mean = sum / m.count;
    for (const float one : values) {
        const double square = (double(one) - m.mean) * (double(one) - m.mean);
        squares += square;
        fourths += square * square;
    }
    m.deviation = std::sqrt(squares / m.count);
    m.kurtosis = fourths * m.count / (squares * squares);
    return m;
}

struct Law
{
    QString kind;
    double value = 0; ///< of a constant; bound; deviation
};

QString figure(const char *what, double found, double wanted)
{
    return QStringLiteral("%1 is %2 instead of %3").arg(QLatin1String(what)).arg(found).arg(wanted);
}

/// Mean, deviation and kurtosis, each within `sigmas` standard errors. The errors of the last two, in parts
/// of the figure or as they are, are `relative` and `absolute` over the root of the count; both are
/// trusted from some count on only.
QString momentsProblem(const Moments &m, double deviation, double relative, double kurtosis, double absolute)
{
    constexpr double enoughForDeviation = 64, enoughForKurtosis = 5000;
    const double root = std::sqrt(m.count);
    if (std::abs(m.mean) > sigmas * deviation / root)
        return figure("the mean", m.mean, 0);
    if (m.count >= enoughForDeviation && std::abs(m.deviation / deviation - 1) > sigmas * relative / root)
        return figure("the deviation", m.deviation, deviation);
    if (m.count >= enoughForKurtosis && std::abs(m.kurtosis - kurtosis) > sigmas * absolute / root)
        return figure("the kurtosis", m.kurtosis, kurtosis);
    return {};
}

QString uniformProblem(const Moments &m, double bound)
{
    constexpr double rounding = 1e-6, improbable = 16; // e⁻¹⁶: nothing beyond 1 − 16/count of the bound
    if (m.farthest() > bound * (1 + rounding))
        return figure("the farthest value", m.farthest(), bound);
    if (m.farthest() < bound * (1 - improbable / m.count))
        return figure("the farthest value", m.farthest(), bound);
    return momentsProblem(m, bound / std::sqrt(3.0), std::sqrt(0.2), 1.8, 1.0);
}

QString normalProblem(const Moments &m, double deviation)
{
    const double farthest = deviation * (std::sqrt(2 * std::log(m.count)) + sigmas / 2);
    if (m.farthest() > farthest)
        return figure("the farthest value", m.farthest(), farthest);
    return momentsProblem(m, deviation, std::sqrt(0.5), 3, std::sqrt(24.0));
}

/// PyTorch's truncated normal gives the lower bound itself where its generator gives 0, once in 2²⁴ values;
/// so do the weights here, which have Python's bits.
QString truncatedProblem(std::vector<float> values, double deviation)
{
    constexpr float bound = -2;
    constexpr std::ptrdiff_t most = 6;
    const auto outliers = std::remove(values.begin(), values.end(), bound);
    if (values.end() - outliers > most)
        return figure("the number of values at the bound", double(values.end() - outliers), 0);
    values.erase(outliers, values.end());
    return normalProblem(momentsOf(values), deviation);
}

QString problemOf(const TensorBlob &blob, const Law &law)
{
    std::vector<float> values(std::size_t(blob.elements()));
    std::memcpy(values.data(), blob.data, values.size() * sizeof(float));
    if (law.kind == QLatin1String("truncated"))
        return truncatedProblem(std::move(values), law.value);
    const Moments m = momentsOf(values);
    if (law.kind == QLatin1String("uniform"))
        return uniformProblem(m, law.value);
    if (law.kind == QLatin1String("normal"))
        return normalProblem(m, law.value);
    const auto constant = double(float(law.value));
    return m.lowest == constant && m.highest == constant ? QString() : figure("the constant", m.farthest(), constant);
}

/// Small ones, and the smallest of each family.
bool isDrawnHere(const QString &name)
{
    constexpr std::int64_t mostParameters = 25'000'000; // drawing more takes long
    return test::parameterCount(name) < mostParameters || test::smallestOfEachFamily().contains(name);
}

bool sameBits(const StateDict &a, const StateDict &b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const TensorBlob &x, const TensorBlob &y) {
        return x.bytes == y.bytes && std::memcmp(x.data, y.data, x.bytes) == 0;
    });
}

} // namespace

class TestInitialDistribution : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void knowsEveryNetwork();
    void followsTorchvision_data();
    void followsTorchvision();
    void noticesAnotherLaw_data();
    void noticesAnotherLaw();
    void seeds_data();
    void seeds();

private:
    std::vector<Law> m_laws;
    QJsonObject m_networks;
};

void TestInitialDistribution::initTestCase()
{
    QFile file(QString::fromStdString((test::sourceFolder() / "tests/data/initial_laws.json").string()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject root = QJsonDocument::fromJson(file.readAll()).object();
    for (const QJsonValue &law : root[QStringLiteral("laws")].toArray())
        m_laws.push_back({law[0].toString(), law[1].toDouble()});
    m_networks = root[QStringLiteral("networks")].toObject();
}

/// Of those that are not drawn here too: as many tensors as torchvision fills, each with a law.
void TestInitialDistribution::knowsEveryNetwork()
{
    for (const QString &name : architectureNames()) {
        const auto layout = weightsLayout({name, {{QStringLiteral("num_classes"), classes}}});
        TW_VERIFY(layout);
        const auto floating = std::count_if(layout->begin(), layout->end(),
                                            [](const TensorBlob &blob) { return blob.type == ElementType::F32; });
        QVERIFY2(m_networks[name].toArray().size() == floating, qPrintable(name));
    }
}

void TestInitialDistribution::followsTorchvision_data()
{
    QTest::addColumn<QString>("name");
    for (const QString &name : architectureNames())
        if (isDrawnHere(name))
            QTest::newRow(qPrintable(name)) << name;
}

void TestInitialDistribution::followsTorchvision()
{
    QFETCH(QString, name);
    const auto weights = freshWeights({name, {{QStringLiteral("num_classes"), classes}}}, 1);
    TW_VERIFY(weights);
    const QJsonArray numbers = m_networks[name].toArray();
    qsizetype next = 0;
    for (const TensorBlob &blob : *weights) {
        if (blob.type != ElementType::F32)
            continue;
        const Law &law = m_laws.at(std::size_t(numbers[next++].toInt(-1)));
        const QString problem = problemOf(blob, law);
        QVERIFY2(problem.isEmpty(), qPrintable(QString::fromStdString(blob.name) + QStringLiteral(": ") + problem));
    }
    QCOMPARE(next, numbers.size());
}

void TestInitialDistribution::noticesAnotherLaw_data()
{
    QTest::addColumn<QString>("tensor");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<double>("value");
    QTest::addColumn<bool>("isRight");
    const double fanOut = std::sqrt(2.0 / (128 * 9)), fanIn = std::sqrt(2.0 / (64 * 9));
    const double bound = 1 / std::sqrt(512.0);
    QTest::newRow("fan out") << "layer2.0.conv1.weight"
                             << "normal" << fanOut << true;
    QTest::newRow("fan in") << "layer2.0.conv1.weight"
                            << "normal" << fanIn << false;
    QTest::newRow("2 % wider") << "layer2.0.conv1.weight"
                               << "normal" << fanOut * 1.02 << false;
    QTest::newRow("uniform of that deviation") << "layer2.0.conv1.weight"
                                               << "uniform" << fanOut * std::sqrt(3.0) << false;
    QTest::newRow("dense") << "fc.weight"
                           << "uniform" << bound << true;
    QTest::newRow("normal of that deviation") << "fc.weight"
                                              << "normal" << bound / std::sqrt(3.0) << false;
    QTest::newRow("constant") << "bn1.weight"
                              << "constant" << 1.0 << true;
    QTest::newRow("another constant") << "bn1.weight"
                                      << "constant" << 0.999999 << false;
}

void TestInitialDistribution::noticesAnotherLaw()
{
    QFETCH(QString, tensor);
    QFETCH(QString, kind);
    QFETCH(double, value);
    const auto weights = freshWeights({QStringLiteral("resnet18"), {{QStringLiteral("num_classes"), 100}}}, 1);
    TW_VERIFY(weights);
    const auto found = std::find_if(weights->begin(), weights->end(),
                                    [&](const TensorBlob &blob) { return blob.name == tensor.toStdString(); });
    QVERIFY(found != weights->end());
    const QString problem = problemOf(*found, {kind, value});
    QTEST(problem.isEmpty(), "isRight");
}

void TestInitialDistribution::seeds_data()
{
    constexpr std::int64_t mostParameters = 10'000'000;
    QTest::addColumn<QString>("name");
    for (const QString &name : test::smallestOfEachFamily())
        if (test::parameterCount(name) < mostParameters)
            QTest::newRow(qPrintable(name)) << name;
}

void TestInitialDistribution::seeds()
{
    QFETCH(QString, name);
    const ModelConfig config{name, {{QStringLiteral("num_classes"), classes}}};
    const auto first = freshWeights(config, 7), same = freshWeights(config, 7), other = freshWeights(config, 8);
    TW_VERIFY(first);
    TW_VERIFY(same);
    TW_VERIFY(other);
    QVERIFY(sameBits(*first, *same));
    QVERIFY(!sameBits(*first, *other));
}

QTEST_GUILESS_MAIN(TestInitialDistribution)
#include "tst_initialdistribution.moc"

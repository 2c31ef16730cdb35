// SPDX-License-Identifier: GPL-3.0-or-later
// The same steps from the same weights, here and in PyTorch (Debian's python3-torch).
#include "core/data/batchloader.h"
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"
#include "tests/core/train/trainfixture.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace tw;
using test::RecordingContext;
using test::SmallTraining;

namespace {

const QString python = QStringLiteral("/usr/bin/python3");

QJsonArray toJson(const auto &values)
{
    QJsonArray out;
    for (const auto value : values)
        out.append(double(value));
    return out;
}

QJsonObject describe(const TrainingSpec &spec, const ModelConfig &config, int size)
{
    const ImageManifest &images = *spec.training;
    std::vector<int> labels;
    for (std::size_t i = 0; i < images.size(); ++i)
        labels.push_back(images.category(i));
    return {{"architecture", config.architecture},
            {"classes", int(images.categories.size())},
            {"channels", config.arguments[QStringLiteral("in_channels")].toInt(3)},
            {"size", size},
            {"images", "train-images-idx3-ubyte"},
            {"labels", toJson(labels)},
            {"order", toJson(shuffledOrder(images.size(), spec.seed, 1))},
            {"batch_size", spec.batchSize},
            {"learning_rate", spec.learningRate},
            {"end_learning_rate", spec.endLearningRate},
            {"power", spec.power},
            {"momentum", spec.momentum},
            {"nesterov", spec.nesterov},
            {"weight_decay", spec.weightDecay},
            {"seed", double(spec.seed)}};
}

void save(const fs::path &file, const QJsonObject &json)
{
    QFile out(QString::fromStdString(file.string()));
    if (!out.open(QIODevice::WriteOnly) || out.write(QJsonDocument(json).toJson()) < 0)
        qFatal("case.json could not be written");
}

} // namespace

class TestPytorchInterop : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void threeSteps_data();
    void threeSteps();
    void freshWeights_data();
    void freshWeights();
    void cleanupTestCase()
    {
        m_python.closeWriteChannel();
        m_python.waitForFinished();
    }

private:
    QByteArray readWholeLine();
    QJsonObject reference(const char *what, const fs::path &folder);
    QProcess m_python;
};

void TestPytorchInterop::initTestCase()
{
    // One for all cases: importing torch is most of what a start costs.
    m_python.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    m_python.start(python,
                   {QString::fromStdString((test::sourceFolder() / "tests/data/pytorch_reference.py").string())});
    const QByteArray greeting = readWholeLine();
    if (greeting.isEmpty())
        QSKIP("python3 with torch and torchvision was not found");
    QCOMPARE(greeting, QByteArray("ready"));
}

QByteArray TestPytorchInterop::readWholeLine()
{
    // An unbuffered Python (PYTHONUNBUFFERED) writes a line and its end one after the other.
    while (!m_python.canReadLine())
        if (!m_python.waitForReadyRead(120000))
            return {};
    return m_python.readLine().trimmed();
}

QJsonObject TestPytorchInterop::reference(const char *what, const fs::path &folder)
{
    m_python.write(QByteArray(what) + ' ' + QByteArray::fromStdString(folder.string()) + '\n');
    return QJsonDocument::fromJson(readWholeLine()).object();
}

void TestPytorchInterop::threeSteps_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<int>("size");
    QTest::addColumn<double>("momentum");
    QTest::addColumn<bool>("nesterov");
    QTest::addColumn<double>("weightDecay");
    QTest::addColumn<double>("learningRate");
    QTest::addColumn<double>("tolerance");
    QTest::newRow("small_cnn, Nesterov") << "small_cnn" << 16 << 0.9 << true << 1e-2 << 0.1 << 1e-5;
    QTest::newRow("small_cnn, momentum") << "small_cnn" << 16 << 0.5 << false << 1e-4 << 0.1 << 1e-5;
    QTest::newRow("mlp, plain") << "mlp" << 16 << 0.0 << false << 0.1 << 0.1 << 1e-5;
    QTest::newRow("resnet18, Nesterov") << "resnet18" << 64 << 0.9 << true << 1e-4 << 1e-5 << 1e-5;
}

void TestPytorchInterop::threeSteps()
{
    QFETCH(QString, architecture);
    QFETCH(int, size);
    QFETCH(double, momentum);
    QFETCH(bool, nesterov);
    QFETCH(double, weightDecay);
    QFETCH(double, learningRate);
    QFETCH(double, tolerance);
    SmallTraining small(24, 4, size);
    TrainingSpec &spec = small.spec;
    spec.validation = spec.training;
    spec.epochs = 1;
    spec.batchSize = 8;
    spec.keep = QStringLiteral("last");
    spec.endLearningRate = learningRate / 100;
    spec.momentum = momentum;
    spec.nesterov = nesterov;
    spec.weightDecay = weightDecay;
    spec.learningRate = learningRate;
    spec.model.config = {architecture, {}};
    ModelConfig config{architecture, {{"num_classes", 4}}};
    if (!architecture.startsWith(QLatin1String("res"))) {
        spec.model.config.arguments = {{"in_channels", 1}};
        config.arguments = {{"num_classes", 4}, {"in_channels", 1}, {"height", size}, {"width", size}};
    }
    const auto initial = tw::freshWeights(config, 3);
    TW_VERIFY(initial);
    spec.model.weightsFile = small.folder / "initial.pth";
    TW_VERIFY(writePth(spec.model.weightsFile, *initial));
    RecordingContext context;
    const auto result = train(spec, context);
    TW_VERIFY(result);
    TW_VERIFY(writePth(small.folder / "result.pth", result->weights));
    save(small.folder / "case.json", describe(spec, config, size));
    const QJsonObject theirs = reference("train", small.folder);
    QVERIFY(theirs.contains(QStringLiteral("difference")));
    // Rounding alone moves a residual network further than the tolerance: PyTorch's own float32
    // result is that far from its float64 result, so ours may be as far from either.
    const double rounding = theirs[QStringLiteral("rounding")].toDouble(1);
    QVERIFY2(rounding < 5e-3, "the case is too sensitive to judge anything");
    const double allowed = std::max(tolerance, 3 * rounding);
    const double difference = theirs[QStringLiteral("difference")].toDouble(1);
    QVERIFY2(difference <= allowed, qPrintable(QStringLiteral("%1, allowed %2").arg(difference).arg(allowed)));
    const QJsonArray losses = theirs[QStringLiteral("losses")].toArray();
    const auto &ours = context.points[QStringLiteral("train_loss")];
    QCOMPARE(losses.size(), qsizetype(ours.size()));
    for (std::size_t i = 0; i < ours.size(); ++i)
        QVERIFY(std::abs(losses[qsizetype(i)].toDouble() - ours[i].value) <= allowed);
    const double validation = context.points[QStringLiteral("val_loss")].front().value;
    QVERIFY(std::abs(theirs[QStringLiteral("val_loss")].toDouble() - validation) <= 10 * allowed);
}

void TestPytorchInterop::freshWeights_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::newRow("small_cnn") << "small_cnn";
    QTest::newRow("mlp") << "mlp";
}

void TestPytorchInterop::freshWeights()
{
    QFETCH(QString, architecture);
    SmallTraining small(8, 4, 16);
    const ModelConfig config{architecture, {{"num_classes", 4}, {"in_channels", 1}, {"height", 16}, {"width", 16}}};
    const auto weights = tw::freshWeights(config, small.spec.seed);
    TW_VERIFY(weights);
    TW_VERIFY(writePth(small.folder / "initial.pth", *weights));
    save(small.folder / "case.json", describe(small.spec, config, 16));
    const QJsonObject theirs = reference("fresh", small.folder);
    QVERIFY(theirs.contains(QStringLiteral("difference")));
    QVERIFY(theirs[QStringLiteral("difference")].toDouble(1) <= 1e-7);
}

QTEST_GUILESS_MAIN(TestPytorchInterop)
#include "tst_pytorchinterop.moc"

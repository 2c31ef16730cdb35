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
#include <functional>

Q_DECLARE_METATYPE(std::function<void(tw::TrainingSpec &)>)

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
            {"optimizer", spec.optimizer},
            {"schedule", spec.schedule},
            {"beta1", spec.beta1},
            {"beta2", spec.beta2},
            {"balanced", spec.balancedClasses},
            {"label_smoothing", spec.labelSmoothing},
            {"clip", spec.gradientClipNorm},
            {"accumulation", spec.accumulationSteps},
            {"head", spec.trainableLayers != QLatin1String("head")          ? QString()
                     : config.architecture.startsWith(QLatin1String("res")) ? QStringLiteral("fc.")
                                                                            : QStringLiteral("fc2.")},
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
    QTest::addColumn<std::function<void(TrainingSpec &)>>("choose");
    const auto row = [](const char *name, const char *architecture, int size,
                        const std::function<void(TrainingSpec &)> &choose) {
        QTest::newRow(name) << QString::fromLatin1(architecture) << size << choose;
    };
    row("small_cnn, Nesterov, weight decay", "small_cnn", 16, [](TrainingSpec &spec) { spec.weightDecay = 1e-2; });
    row("mlp, plain, cosine", "mlp", 16, [](TrainingSpec &spec) {
        spec.momentum = 0;
        spec.nesterov = false;
        spec.schedule = QStringLiteral("cosine");
        spec.weightDecay = 0.1;
    });
    row("small_cnn, momentum, clipped", "small_cnn", 16, [](TrainingSpec &spec) {
        spec.momentum = 0.5;
        spec.nesterov = false;
        spec.gradientClipNorm = 0.05;
    });
    row("small_cnn, Adam, smoothed labels", "small_cnn", 16, [](TrainingSpec &spec) {
        spec.optimizer = QStringLiteral("adam");
        spec.learningRate = 0.003;
        spec.weightDecay = 1e-2;
        spec.labelSmoothing = 0.2;
    });
    row("mlp, AdamW, other betas, constant", "mlp", 16, [](TrainingSpec &spec) {
        spec.optimizer = QStringLiteral("adamw");
        spec.schedule = QStringLiteral("constant");
        spec.learningRate = 0.01;
        spec.beta1 = 0.6;
        spec.beta2 = 0.9;
        spec.weightDecay = 0.3;
    });
    row("mlp, accumulation, balanced, smoothed", "mlp", 16, [](TrainingSpec &spec) {
        spec.batchSize = 5;
        spec.accumulationSteps = 2;
        spec.balancedClasses = true;
        spec.labelSmoothing = 0.1;
    });
    row("small_cnn, head, Adam", "small_cnn", 16, [](TrainingSpec &spec) {
        spec.trainableLayers = QStringLiteral("head");
        spec.optimizer = QStringLiteral("adam");
        spec.learningRate = 0.01;
        spec.gradientClipNorm = 0.3;
    });
    row("mlp, head, accumulation, balanced", "mlp", 16, [](TrainingSpec &spec) {
        spec.trainableLayers = QStringLiteral("head");
        spec.batchSize = 4;
        spec.accumulationSteps = 2;
        spec.balancedClasses = true;
        spec.weightDecay = 0.1;
    });
    row("resnet18, head, Nesterov", "resnet18", 32, [](TrainingSpec &spec) {
        spec.trainableLayers = QStringLiteral("head");
        spec.learningRate = 0.01;
    });
    row("resnet18, Nesterov", "resnet18", 32, [](TrainingSpec &spec) { spec.learningRate = 1e-3; });
}

void TestPytorchInterop::threeSteps()
{
    QFETCH(QString, architecture);
    QFETCH(int, size);
    QFETCH(std::function<void(TrainingSpec &)>, choose);
    SmallTraining small(22, 4, size); // 6, 6, 5 and 5 images of the classes
    TrainingSpec &spec = small.spec;
    spec.validation = spec.training;
    spec.epochs = 1;
    spec.batchSize = 8;
    spec.keep = QStringLiteral("last");
    spec.learningRate = 0.1;
    spec.model.config = {architecture, {}};
    choose(spec);
    spec.endLearningRate = spec.learningRate / 100;
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
    QVERIFY2(theirs.contains(QStringLiteral("difference")), qPrintable(theirs[QStringLiteral("error")].toString()));
    // Rounding alone moves a residual network further than the tolerance: PyTorch's own float32
    // result is that far from its float64 result, so ours may be as far from either.
    const double rounding = theirs[QStringLiteral("rounding")].toDouble(1);
    QVERIFY2(rounding < 5e-3, "the case is too sensitive to judge anything");
    const double allowed = std::max(1e-5, 3 * rounding);
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
    QVERIFY2(theirs.contains(QStringLiteral("difference")), qPrintable(theirs[QStringLiteral("error")].toString()));
    QVERIFY(theirs[QStringLiteral("difference")].toDouble(1) <= 1e-7);
}

QTEST_GUILESS_MAIN(TestPytorchInterop)
#include "tst_pytorchinterop.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/model/pretrainedfiles.h"
#include "tests/core/data/httpserver.h"
#include "tests/support/commandline.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>

using namespace tw;
using namespace tw::test;

/// Published weights on the command line: the models page, `new`, the sample, and the numbers of a real
/// network on real pictures (tests/data/make_lite_logits.py).
class TestCommandLinePretrained : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void modelsPage();
    void modelsAsJson();
    void newRefuses_data();
    void newRefuses();
    void newDownloads();
    void logitsEqualPythons_data();
    void logitsEqualPythons();
    void scoreScriptAgrees();
    void sampleIsSound();
    void sampleTransfers_data();
    void sampleTransfers();

private:
    QString at(const QString &name) const { return m_folder->filePath(name); }
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    /// EfficientNet-Lite0 with its weights, three coloured classes; the exit code of new.
    ProcessOutcome makeLite() const;
    void writePicture(const QString &name, int width, int height, int step) const;
    void writeClasses(const QString &folder) const;
    QJsonObject weightsOf(const QString &model) const;

    HttpServer m_server;
    QList<QJsonObject> m_models; ///< lines of describe --models --json
    std::optional<fs::path> m_lite;
    bool m_knowsLite = false;
    std::unique_ptr<QTemporaryDir> m_folder;
};

#define NEED_LITE()                                                                                                    \
    do {                                                                                                               \
        if (!m_lite || !m_knowsLite)                                                                                   \
            QSKIP("EfficientNet-Lite0 is not there");                                                                  \
    } while (false)

constexpr char photograph[] = "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg";

void TestCommandLinePretrained::initTestCase()
{
    const ProcessOutcome outcome = cli({"describe", "--models", "--json"});
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    m_models = jsonLines(outcome.out);
    for (const QJsonObject &line : std::as_const(m_models))
        m_knowsLite = m_knowsLite || line.value("name").toString() == QLatin1String("efficientnet_lite0");
    const auto found = findPretrainedFile(*pretrainedWeightsOf("efficientnet_lite0"));
    TW_VERIFY(found);
    if (*found)
        m_lite = (*found)->path;
}

void TestCommandLinePretrained::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    qputenv("TORCH_HOME", at("torch").toLocal8Bit());
    qputenv("TRAINWRIGHT_WEIGHTS_URL", m_server.address("/models"));
    m_server.forget();
}

void TestCommandLinePretrained::cleanup()
{
    for (const char *name : {"TORCH_HOME", "XDG_CACHE_HOME", "TRAINWRIGHT_DEPS", "TRAINWRIGHT_WEIGHTS_URL"})
        qunsetenv(name);
}

void TestCommandLinePretrained::modelsPage()
{
    const ProcessOutcome page = cli({"describe", "--models", "--markdown"});
    QVERIFY2(page.exitCode == 0, page.err.constData());
    QVERIFY(page.out.startsWith("# Models\n"));
    const QByteArray row = "| `resnet18` | ResNet | 11,689,512 | 1,814,073,344 | 3 × 224 × 224 | "
                           "[resnet18-f37072fd.pth](https://download.pytorch.org/models/resnet18-f37072fd.pth) | "
                           "46.8 MB | 69.76 | 89.08 | BSD 3-Clause | resize 256 bilinear, crop 224, "
                           "mean 0.485 0.456 0.406, std 0.229 0.224 0.225 |\n";
    QVERIFY2(page.out.contains(row), page.out.mid(page.out.indexOf("`resnet18`") - 2, 400).constData());
    QVERIFY(page.out.contains("| `small_cnn` | Basic Network | 422,218 | "));
    // Every row has as many cells as the head.
    int rows = 0;
    for (const QByteArray &line : page.out.split('\n')) {
        if (!line.startsWith("| "))
            continue;
        QCOMPARE(line.count('|'), 12);
        ++rows;
    }
    QCOMPARE(rows, m_models.size() + 1);
    const ProcessOutcome text = cli({"describe", "--models"});
    QVERIFY(text.out.contains("densenet121-a639ec97.pth, 32.3 MB, top-1 74.43 %, BSD 3-Clause"));
    QCOMPARE(cli({"describe", "--models", "resnet"}).exitCode, 2);
}

void TestCommandLinePretrained::modelsAsJson()
{
    QVERIFY(m_models.size() >= 16);
    for (const QJsonObject &line : std::as_const(m_models)) {
        const char *name = qPrintable(line.value("name").toString());
        QVERIFY2(!line.value("block").toString().isEmpty(), name);
        QVERIFY2(line.value("parameters").toInteger() > 1000 && line.value("multiply_adds").toInteger() > 1000, name);
        const QJsonObject weights = line.value("weights").toObject();
        if (weights.isEmpty())
            continue;
        QVERIFY2(weights.value("file").toString().contains(weights.value("sha256_prefix").toString()), name);
        QVERIFY2(
            weights.value("preprocessing").toString().contains("crop " + QString::number(line.value("height").toInt())),
            name);
    }
}

void TestCommandLinePretrained::newRefuses_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QByteArrayList>("says");
    QTest::newRow("none published") << "small_cnn" << QByteArrayList{"InvalidModelDirectoryError: ", "small_cnn"};
    QTest::newRow("not on the server") << "resnet18"
                                       << QByteArrayList{"InvalidModelDirectoryError: ", "404", "resnet18-f37072fd.pth",
                                                         "trainwright/weights"};
}

void TestCommandLinePretrained::newRefuses()
{
    QFETCH(QString, model);
    QFETCH(QByteArrayList, says);
    const ProcessOutcome made = cli({"new", model, "--classes", "3", "--weights", "pretrained", "--out", at("m")});
    QCOMPARE(made.exitCode, 1);
    for (const QByteArray &part : says)
        QVERIFY2(made.err.contains(part), made.err.constData());
    QVERIFY(!QFile::exists(at("m")));
}

void TestCommandLinePretrained::newDownloads()
{
    NEED_LITE();
    qputenv("XDG_CACHE_HOME", at("cache").toLocal8Bit());
    qputenv("TRAINWRIGHT_DEPS", at("deps").toLocal8Bit());
    const QByteArray name = QByteArray::fromStdString(m_lite->filename().native());
    const auto bytes = readFile(*m_lite, errors::InvalidModelDirectory);
    TW_VERIFY(bytes);
    m_server.set("/models/" + name, {*bytes});
    const ProcessOutcome made = makeLite();
    QVERIFY2(made.exitCode == 0, made.err.constData());
    QVERIFY2(made.err.contains("Downloading " + name + " (18.8 MB) from http://127.0.0.1:"), made.err.constData());
    QVERIFY(QFile::exists(at("cache/trainwright/weights/") + QString::fromUtf8(name)));
}

ProcessOutcome TestCommandLinePretrained::makeLite() const
{
    return cli({"new", "efficientnet_lite0", "--classes", "1000", "--weights", "pretrained", "--out", at("m")});
}

/// As make_lite_logits.py makes them.
void TestCommandLinePretrained::writePicture(const QString &name, int width, int height, int step) const
{
    QByteArray bytes = QStringLiteral("P6\n%1 %2\n255\n").arg(width).arg(height).toLatin1();
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int channel = 0; channel < 3; ++channel) {
                const int wave = (step + channel) * x + (2 * channel + 1) * y + x * y / 40;
                bytes.append(char(std::abs(wave % 510 - 255)));
            }
    std::ofstream(at(name).toStdString(), std::ios::binary).write(bytes.constData(), bytes.size());
}

void TestCommandLinePretrained::logitsEqualPythons_data()
{
    QTest::addColumn<int>("width");
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("step");
    QTest::newRow("wide") << 320 << 256 << 3;
    QTest::newRow("tall") << 197 << 333 << 5;
    QTest::newRow("large") << 640 << 480 << 2;
    QTest::newRow("photograph") << 0 << 0 << 0;
}

/// The whole way: the file of 2020, the network, Pillow's bicubic, mean and deviation.
void TestCommandLinePretrained::logitsEqualPythons()
{
    QFETCH(int, width);
    QFETCH(int, height);
    QFETCH(int, step);
    NEED_LITE();
    QString picture = QString::fromLatin1(photograph);
    if (width > 0) {
        picture = at("picture.ppm");
        writePicture("picture.ppm", width, height, step);
    } else if (!QFile::exists(picture)) {
        QSKIP("python-matplotlib-data is not installed");
    }
    const auto golden = readFile(sourceFolder() / "tests/data/lite_logits.json", errors::InvalidDataset);
    TW_VERIFY(golden);
    const QJsonArray wanted =
        QJsonDocument::fromJson(*golden).object().value(QLatin1String(QTest::currentDataTag())).toArray();
    QCOMPARE(wanted.size(), 1000);
    const ProcessOutcome made = makeLite();
    QVERIFY2(made.exitCode == 0, made.err.constData());
    const ProcessOutcome scored = cli({"score", at("m"), picture, "--json", "--logits", "--device", "cpu"});
    QVERIFY2(scored.exitCode == 0, scored.err.constData());
    const QJsonArray logits = jsonLines(scored.out).value(0).value("logits").toArray();
    QCOMPARE(logits.size(), 1000);
    double gap = 0, largest = 1, low = 0;
    for (int i = 0; i < 1000; ++i) {
        gap = std::max(gap, std::abs(logits[i].toDouble() - wanted[i].toDouble()));
        largest = std::max(largest, std::abs(wanted[i].toDouble()));
        low = std::min(low, wanted[i].toDouble());
    }
    QVERIFY(largest - low > 3); // a network that says something
    QVERIFY2(gap <= 1e-4 * largest, qPrintable(QStringLiteral("%1 of %2").arg(gap).arg(largest)));
}

/// score.py has the lite networks that torchvision lacks.
void TestCommandLinePretrained::scoreScriptAgrees()
{
    NEED_LITE();
    if (runProcess("/usr/bin/python3", {"-c", "import torch, torchvision, PIL"}).exitCode != 0)
        QSKIP("torch, torchvision or PIL not found");
    writePicture("a.ppm", 300, 280, 3);
    QVERIFY(makeLite().exitCode == 0);
    const ProcessOutcome ours = cli({"score", at("m"), at("a.ppm"), "--json", "--logits", "--device", "cpu"});
    const ProcessOutcome theirs = runProcess("/usr/bin/python3", {at("m/score.py"), "--logits", at("a.ppm")}, 120000);
    QVERIFY2(theirs.exitCode == 0, theirs.err.constData());
    const QJsonArray one = jsonLines(ours.out).value(0).value("logits").toArray();
    const QJsonArray other = jsonLines(theirs.out).value(0).value("logits").toArray();
    QCOMPARE(one.size(), 1000);
    QCOMPARE(other.size(), 1000);
    for (int i = 0; i < 1000; ++i)
        QVERIFY(std::abs(one[i].toDouble() - other[i].toDouble()) < 1e-3);
}

static QString samplePath()
{
    return displayPath(sourceFolder() / "resources/samples/transfer-efficientnet.pipeline.json");
}

/// It is as our own writer would write it, and says what a person must choose.
void TestCommandLinePretrained::sampleIsSound()
{
    NEED_LITE();
    const ProcessOutcome described = cli({"describe", samplePath()});
    QVERIFY2(described.exitCode == 0, described.err.constData());
    for (const char *name : {"pictures", "layers", "learning_rate", "epochs"})
        QVERIFY2(described.out.contains(name), name);
    writeClasses("pictures");
    const ProcessOutcome valid =
        cli({"validate", samplePath(), "--set", "pictures=" + at("pictures"), "--set", "train.batch_size=4"});
    QVERIFY2(valid.exitCode == 0, valid.err.constData());
    QVERIFY2(!valid.err.contains("interpolation"), valid.err.constData());
}

void TestCommandLinePretrained::writeClasses(const QString &folder) const
{
    const int steps[3] = {1, 4, 9};
    for (int label = 0; label < 3; ++label) {
        const QString place = folder + QStringLiteral("/class%1").arg(label);
        QDir().mkpath(at(place));
        for (int i = 0; i < 5; ++i)
            writePicture(place + QStringLiteral("/%1.ppm").arg(i), 120 + i, 90, steps[label]);
    }
}

/// Sums of the tensors of a model directory, by name.
QJsonObject TestCommandLinePretrained::weightsOf(const QString &model) const
{
    QJsonObject sums;
    const QJsonArray tensors =
        jsonLines(cli({"inspect", model, "--json", "--values"}).out).value(0).value("tensors").toArray();
    for (const QJsonValue &entry : tensors) {
        const QJsonObject tensor = entry.toObject();
        sums.insert(tensor.value("name").toString(), tensor.value("sum"));
    }
    return sums;
}

void TestCommandLinePretrained::sampleTransfers_data()
{
    QTest::addColumn<QStringList>("set");
    QTest::addColumn<bool>("isFrozen");
    QTest::newRow("head") << QStringList{} << true;
    QTest::newRow("all layers") << QStringList{"--set", "layers=all", "--set", "learning_rate=0.002"} << false;
}

void TestCommandLinePretrained::sampleTransfers()
{
    QFETCH(QStringList, set);
    QFETCH(bool, isFrozen);
    NEED_LITE();
    writeClasses("pictures");
    const ProcessOutcome outcome =
        cli(QStringList{"run", samplePath(), "--workspace", at("ws"), "--set", "pictures=" + at("pictures"), "--set",
                        "epochs=2", "--set", "train.batch_size=6", "--set", "train.device=cpu", "--export",
                        "train.trained_model=" + at("trained")}
            + set);
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    QVERIFY2(makeLite().exitCode == 0, "new");
    const QJsonObject before = weightsOf(at("m")), after = weightsOf(at("trained"));
    QCOMPARE(after.size(), before.size());
    QVERIFY(before.size() > 200);
    int changed = 0;
    for (auto it = before.begin(); it != before.end(); ++it)
        changed += !it.key().startsWith("_fc.") && after.value(it.key()) != before.value(it.key());
    QVERIFY2(isFrozen ? changed == 0 : changed > before.size() / 2, qPrintable(QString::number(changed)));
    const QJsonObject input =
        jsonLines(cli({"inspect", at("trained"), "--json"}).out).value(0).value("input").toObject();
    QCOMPARE(input.value("interpolation").toString(), QStringLiteral("bicubic"));
    QVERIFY(std::abs(input.value("mean").toArray().first().toDouble() * 255 - 127) < 1e-3);
}

QTEST_GUILESS_MAIN(TestCommandLinePretrained)
#include "tst_commandlinepretrained.moc"

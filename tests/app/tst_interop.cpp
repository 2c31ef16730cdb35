// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/testsupport.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace tw;

/// A trained and exported model directory gives the same logits in PyTorch, through its own score.py,
/// as in the program. Never judged on fresh weights.
class InteropTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void logitsAgree_data();
    void logitsAgree();

private:
    QString path(const QString &name) const { return m_dir.filePath(name); }
    void makePictures();
    QJsonArray lines(const QString &program, const QStringList &arguments) const;
    void compareLogits(const QStringList &images, const QJsonArray &ours, const QJsonArray &theirs);
    QTemporaryDir m_dir;
    QString m_cli;
    QStringList m_pythons; ///< Debian's, and the one that TRAINWRIGHT_NEWER_PYTHON names
};

void InteropTest::initTestCase()
{
    m_cli = QString::fromStdString(test::programFolder() / "trainwright-cli");
    for (const QString &python : {QStringLiteral("/usr/bin/python3"), qEnvironmentVariable("TRAINWRIGHT_NEWER_PYTHON")})
        if (!python.isEmpty() && test::runProcess(python, {"-c", "import torch, torchvision, PIL"}).exitCode == 0)
            m_pythons.append(python);
    if (m_pythons.isEmpty())
        QSKIP("python3-torch and python3-torchvision: not found");
    makePictures();
}

/// Three classes that colour and frequency tell apart, two sizes, and pictures to score of every kind
/// that needs a rule: camera orientation, grey, 16-bit grey, alpha, palette, one larger than its crop.
void InteropTest::makePictures()
{
    const auto outcome = test::runProcess(m_pythons.first(), {"-", m_dir.path()}, 60000, R"(
import math, os, random, sys
from PIL import Image
random.seed(5)
root = sys.argv[1]

def picture(kind, width, height):
    phase = random.random() * 6
    image = Image.new("RGB", (width, height))
    for y in range(height):
        for x in range(width):
            wave = int(100 + 90 * math.sin(phase + (x if kind == 0 else y if kind == 1 else x + y) * (0.3 + 0.3 * kind)))
            noise = [random.randrange(40) for _ in range(3)]
            noise[kind] += wave
            image.putpixel((x, y), tuple(noise))
    return image

for folder, width, height, count in (("large", 90, 76, 10), ("small/train", 28, 28, 16), ("small/val", 28, 28, 6)):
    for kind, name in enumerate(("rot", "gr\u00fcn", "blau")):
        target = os.path.join(root, folder, name)
        os.makedirs(target)
        for i in range(count):
            picture(kind, width, height).save(os.path.join(target, "%02d.png" % i))
for folder, width, height in (("score-large", 131, 97), ("score-small", 28, 28)):
    target = os.path.join(root, folder)
    os.makedirs(target)
    base = picture(1, width, height)
    base.save(target + "/rgb.png")
    base.save(target + "/photo.jpg", quality=80)
    exif = Image.Exif()
    exif[0x0112] = 6
    base.save(target + "/turned.jpg", quality=90, exif=exif)
    base.convert("L").save(target + "/grey.png")
    base.convert("L").save(target + "/grey.jpg")
    base.convert("RGBA").save(target + "/alpha.png")
    base.quantize(32).save(target + "/palette.png")
    deep = Image.new("I", (width, height))
    deep.putdata([v * 211 + 17 for v in base.convert("L").getdata()])
    deep.save(target + "/deep.png")
)");
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
}

void InteropTest::logitsAgree_data()
{
    QTest::addColumn<QString>("sample");
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QString>("pictures");
    QTest::newRow("resnet18") << QStringLiteral(
        "folder-resnet18") << QStringList{"data.path=" + path("large"), "transform.size=72", "transform.crop_size=64",
                                          "transform.random_size=64",   "train.epochs=2",    "train.batch_size=4",
                                          "train.learning_rate=0.01"}
                              << path("score-large");
    QTest::newRow("small_cnn, one channel") << QStringLiteral("fashion-mnist")
                                            << QStringList{"data.path=" + path("small/train"),
                                                           "validation_data.path=" + path("small/val"),
                                                           "convert.class_names=",
                                                           "validation_convert.class_names=",
                                                           "train.epochs=3",
                                                           "train.batch_size=4"}
                                            << path("score-small");
    QTest::newRow("small_cnn, colour") << QStringLiteral("fashion-mnist")
                                       << QStringList{"data.path=" + path("small/train"),
                                                      "validation_data.path=" + path("small/val"),
                                                      "convert.class_names=",
                                                      "validation_convert.class_names=",
                                                      "model.input_channels=3",
                                                      "train.normalization=dataset",
                                                      "train.epochs=2",
                                                      "train.batch_size=4"}
                                       << path("score-small");
}

/// JSON objects, one a line of the program's output.
QJsonArray InteropTest::lines(const QString &program, const QStringList &arguments) const
{
    const auto outcome = test::runProcess(program, arguments, 120000);
    if (outcome.exitCode != 0)
        qWarning("%s", outcome.err.constData());
    QJsonArray objects;
    for (const QByteArray &line : outcome.out.split('\n')) {
        const QJsonDocument document = QJsonDocument::fromJson(line);
        if (document.isObject())
            objects += document.object();
    }
    return objects;
}

void InteropTest::logitsAgree()
{
    QFETCH(QString, sample);
    QFETCH(QStringList, settings);
    QFETCH(QString, pictures);
    const QString model = path(QString::fromLatin1(QTest::currentDataTag()).remove(QRegularExpression("\\W")));
    QStringList run{
        "run",
        QString::fromStdString(test::sourceFolder() / "resources/samples") + u'/' + sample + ".pipeline.json",
        "--workspace",
        path("workspace"),
        "--export",
        "train.trained_model=" + model};
    for (const QString &setting : settings)
        run += {"--set", setting};
    const auto trained = test::runProcess(m_cli, run, 240000);
    QVERIFY2(trained.exitCode == 0, (trained.out.right(2000) + trained.err).constData());

    QStringList images;
    for (const QString &name : QDir(pictures).entryList(QDir::Files, QDir::Name))
        images += pictures + u'/' + name;
    QCOMPARE(images.size(), 8);
    const QJsonArray ours = lines(m_cli, QStringList{"score", model} + images + QStringList{"--json", "--logits"});
    for (const QString &python : std::as_const(m_pythons))
        compareLogits(images, ours, lines(python, QStringList{model + "/score.py", "--logits"} + images));
}

void InteropTest::compareLogits(const QStringList &images, const QJsonArray &ours, const QJsonArray &theirs)
{
    QCOMPARE(ours.size(), images.size());
    QCOMPARE(theirs.size(), images.size());
    for (qsizetype i = 0; i < images.size(); ++i) {
        const QJsonObject our = ours[i].toObject(), their = theirs[i].toObject();
        const QJsonArray a = our["logits"].toArray(), b = their["logits"].toArray();
        QCOMPARE(a.size(), 3);
        QCOMPARE(b.size(), 3);
        double largest = 1, gap = 0;
        for (qsizetype c = 0; c < 3; ++c) {
            largest = std::max(largest, std::abs(b[c].toDouble()));
            gap = std::max(gap, std::abs(a[c].toDouble() - b[c].toDouble()));
        }
        QVERIFY2(gap <= 2e-5 * largest,
                 qPrintable(QStringLiteral("%1: gap %2, largest %3").arg(images[i]).arg(gap).arg(largest)));
        QCOMPARE(our["label"], their["label"]);
        QCOMPARE(our["path"], their["path"]);
        QCOMPARE(our["probabilities"].toObject().keys(), their["probabilities"].toObject().keys());
    }
}

QTEST_GUILESS_MAIN(InteropTest)
#include "tst_interop.moc"

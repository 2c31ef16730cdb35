// SPDX-License-Identifier: GPL-3.0-or-later
// Model directories of every network in PyTorch. Debian's python3-torch reads one of each family; another
// Python, which TRAINWRIGHT_NEWER_PYTHON names (PyTorch 2.11, torchvision 0.26), reads all of them.
#include "core/data/datasetscan.h"
#include "core/metrics/scoring.h"
#include "core/model/modeldirectory.h"
#include "core/train/predictor.h"
#include "tests/core/train/families.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <fstream>

using namespace tw;

namespace {

constexpr int classes = 5;
constexpr int usualEdge = 64; ///< pixels that every network of free size reads, and quickly

/// Two pictures that differ, as folders of classes.
void writePictures(const fs::path &folder)
{
    for (int number = 0; number < 2; ++number) {
        const fs::path place = folder / ("class" + std::to_string(number));
        fs::create_directories(place);
        std::ofstream out(place / "picture.ppm", std::ios::binary);
        out << "P6\n90 77\n255\n";
        for (int y = 0; y < 77; ++y)
            for (int x = 0; x < 90; ++x)
                for (int channel = 0; channel < 3; ++channel)
                    out.put(char(128 + 120 * std::sin(0.05 * (number == 0 ? x : 3 * y) * (1 + channel) + number)));
    }
}

TransformList squareOf(int edge)
{
    TransformOp resize, crop;
    resize.kind = TransformOp::Kind::Resize;
    resize.size = edge + edge / 8;
    crop.kind = TransformOp::Kind::CenterCrop;
    crop.size = edge;
    return {resize, crop};
}

/// A model directory with weights and statistics of a formula: never fresh ones, with which two networks
/// of a family may agree by chance.
Result<void> writeModel(const QString &architecture, const fs::path &folder)
{
    TW_ASSIGN(input, modelInput({architecture, {{QStringLiteral("num_classes"), classes}}}));
    ModelInfo info;
    info.config = input.config;
    info.channels = input.channels;
    info.height = info.width = input.fixed ? input.height : usualEdge;
    info.transforms = squareOf(info.height);
    for (int i = 0; i < classes; ++i)
        info.classes.push_back("class" + std::to_string(i));
    TW_ASSIGN(layout, weightsLayout(info.config));
    // With more gain that one is so steep that PyTorch's own rounding passes the tolerance.
    const double gain = architecture == QLatin1String("efficientnet_b3") ? 5 : 6;
    return writeModelDirectory(folder, info, test::formulaWeights(layout, gain), {});
}

using Logits = std::vector<std::vector<float>>;

Result<Logits> ourLogits(const fs::path &model, const fs::path &pictures)
{
    TW_ASSIGN(predictor, Predictor::load(model, QStringLiteral("cpu")));
    TW_ASSIGN(scan, scanDataset(pictures, {}));
    Logits logits;
    ScoringPass pass{std::make_shared<const ImageManifest>(std::move(scan.manifest)), predictor->info(),
                     [&](const Batch &batch) { return predictor->logits(batch); }};
    pass.picture = [&](const ScoredPicture &picture) {
        logits.emplace_back(picture.logits.begin(), picture.logits.end());
        return Result<void>();
    };
    TW_TRY(scorePictures(pass));
    return logits;
}

double largestOf(const Logits &logits)
{
    double largest = 0;
    for (const auto &row : logits)
        for (const float value : row)
            largest = std::max(largest, std::abs(double(value)));
    return largest;
}

} // namespace

class TestFilesInterop : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void everyFamilyHasARow();
    void loadsAndAgrees_data();
    void loadsAndAgrees();
    void classNames_data();
    void classNames();

private:
    struct Python
    {
        QProcess process;
        QByteArray versions; ///< empty: not there
    };
    void start(Python &python, const QString &program);
    static QByteArray readWholeLine(QProcess &process);
    static void compareLogits(const Logits &ours, const QJsonArray &theirs);
    static Result<void> writeOddNames(const fs::path &model);
    static QJsonObject ask(Python &python, const fs::path &model, const fs::path &pictures);

    Python m_debian, m_newer;
    QTemporaryDir m_folder;
    fs::path m_pictures{fs::path(m_folder.path().toStdString()) / "pictures"};
};

void TestFilesInterop::start(Python &python, const QString &program)
{
    if (program.isEmpty())
        return;
    python.process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    python.process.start(program,
                         {QString::fromStdString((test::sourceFolder() / "tests/data/files_reference.py").string())});
    const QByteArray greeting = readWholeLine(python.process);
    if (greeting.startsWith("ready "))
        python.versions = greeting.mid(6);
}

void TestFilesInterop::initTestCase()
{
    writePictures(m_pictures);
    start(m_debian, QStringLiteral("/usr/bin/python3"));
    start(m_newer, qEnvironmentVariable("TRAINWRIGHT_NEWER_PYTHON"));
    if (!qEnvironmentVariableIsEmpty("TRAINWRIGHT_NEWER_PYTHON"))
        QVERIFY2(!m_newer.versions.isEmpty(), "TRAINWRIGHT_NEWER_PYTHON has no torch, torchvision and PIL");
}

void TestFilesInterop::cleanupTestCase()
{
    for (Python *python : {&m_debian, &m_newer}) {
        python->process.closeWriteChannel();
        python->process.waitForFinished();
    }
}

QByteArray TestFilesInterop::readWholeLine(QProcess &process)
{
    while (!process.canReadLine())
        if (!process.waitForReadyRead(300000))
            return {};
    return process.readLine().trimmed();
}

QJsonObject TestFilesInterop::ask(Python &python, const fs::path &model, const fs::path &pictures)
{
    QByteArray line = QByteArray::fromStdString(model.string());
    for (const char *folder : {"class0", "class1"})
        line += '\t' + QByteArray::fromStdString((pictures / folder / "picture.ppm").string());
    python.process.write(line + '\n');
    return QJsonDocument::fromJson(readWholeLine(python.process)).object();
}

/// A family that familyOf() does not know would go unnoticed as one of its own or of another.
void TestFilesInterop::everyFamilyHasARow()
{
    const QStringList known{"convnext",     "densenet",     "efficientnet", "efficientnet_lite", "mlp",
                            "mobilenet_v2", "mobilenet_v3", "resnet",       "small_cnn",         "vit"};
    for (const QString &name : architectureNames())
        QVERIFY2(known.contains(test::familyOf(name)), qPrintable(name + QLatin1String(": ") + test::familyOf(name)));
    QVERIFY(test::smallestOfEachFamily().contains(QStringLiteral("resnet18")));
}

void TestFilesInterop::loadsAndAgrees_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<bool>("newer");
    for (const QString &name : test::smallestOfEachFamily())
        QTest::newRow(qPrintable(name + QLatin1String(", Debian"))) << name << false;
    if (m_newer.versions.isEmpty())
        QTest::newRow("all, newer") << QString() << true; // says that they are skipped
    else
        for (const QString &name : architectureNames())
            QTest::newRow(qPrintable(name + QLatin1String(", newer"))) << name << true;
}

/// A row a picture on both sides, which must say something of the network and of the pictures.
void TestFilesInterop::compareLogits(const Logits &ours, const QJsonArray &theirs)
{
    QCOMPARE(ours.size(), 2U);
    const double tolerance = 2e-5 * std::max(1.0, largestOf(ours));
    double gap = 0, influence = 0;
    for (std::size_t picture = 0; picture < 2; ++picture) {
        const QJsonArray row = theirs.at(qsizetype(picture)).toArray();
        QCOMPARE(row.size(), classes);
        const auto [low, high] = std::minmax_element(ours[picture].begin(), ours[picture].end());
        QVERIFY2(*high - *low > 100 * tolerance, "the classes are too much alike to judge anything");
        for (std::size_t i = 0; i < classes; ++i) {
            gap = std::max(gap, std::abs(double(ours[picture][i]) - row[qsizetype(i)].toDouble(1e300)));
            influence = std::max(influence, std::abs(double(ours[0][i] - ours[1][i])));
        }
    }
    QVERIFY2(influence > 100 * tolerance, "the pictures make too little difference to judge anything");
    QVERIFY2(gap <= tolerance, qPrintable(QStringLiteral("gap %1, tolerance %2").arg(gap).arg(tolerance)));
}

void TestFilesInterop::loadsAndAgrees()
{
    QFETCH(QString, architecture);
    QFETCH(bool, newer);
    Python &python = newer ? m_newer : m_debian;
    if (python.versions.isEmpty())
        QSKIP(newer ? "TRAINWRIGHT_NEWER_PYTHON is not set" : "python3 with torch and torchvision was not found");
    const QTemporaryDir folder; // removed after the row: all networks together take gigabytes
    const fs::path model = folder.path().toStdString();
    TW_VERIFY(writeModel(architecture, model));
    const auto ours = ourLogits(model, m_pictures);
    TW_VERIFY(ours);
    const QJsonObject theirs = ask(python, model, m_pictures);
    if (!newer && theirs.contains(QStringLiteral("lacks")))
        QSKIP(qPrintable(QStringLiteral("the torchvision of PyTorch %1 lacks %2")
                             .arg(QString::fromLatin1(python.versions), architecture)));
    QVERIFY2(!theirs.contains(QStringLiteral("lacks")), "score.py must define what torchvision lacks");
    QVERIFY2(theirs[QStringLiteral("error")].toString().isEmpty(),
             qPrintable(theirs[QStringLiteral("error")].toString()));
    QVERIFY(theirs[QStringLiteral("equal")].toBool());
    QCOMPARE(theirs[QStringLiteral("strict")].toString(), QStringLiteral("<All keys matched successfully>"));
    compareLogits(*ours, theirs[QStringLiteral("logits")].toArray());
}

void TestFilesInterop::classNames_data()
{
    QTest::addColumn<bool>("newer");
    QTest::newRow("Debian") << false;
    QTest::newRow("newer") << true;
}

Result<void> TestFilesInterop::writeOddNames(const fs::path &model)
{
    fs::create_directory(model);
    ModelInfo info;
    info.classes = {"grün", "层 🐈", "a \"quoted\" \\ one", "two\nlines", "caf\xe9"};
    info.config = {QStringLiteral("small_cnn"), {{"num_classes", classes}, {"height", 28}, {"width", 28}}};
    info.height = info.width = 28;
    info.transforms = squareOf(28);
    TW_ASSIGN(layout, weightsLayout(info.config));
    return writeModelDirectory(model, info, test::formulaWeights(layout), {});
}

/// labels.txt, model.json and score.py, whatever the names are; the shell's language must not matter.
void TestFilesInterop::classNames()
{
    QFETCH(bool, newer);
    const Python &python = newer ? m_newer : m_debian;
    if (python.versions.isEmpty())
        QSKIP(newer ? "TRAINWRIGHT_NEWER_PYTHON is not set" : "python3 with torch and torchvision was not found");
    const QTemporaryDir folder;
    const fs::path model = fs::path(folder.path().toStdString()) / "modèle 层";
    TW_VERIFY(writeOddNames(model));
    const QStringList wanted{"a \"quoted\" \\ one", "caf%E9", "grün", "two\nlines", "层 🐈"}; // sorted
    const auto lines = test::runProcess(python.process.program(), {"-c", R"(
import sys
text = open(sys.argv[1], encoding="utf-8", errors="surrogateescape", newline="\n").read()
print([line.encode("utf-8", "surrogateescape") for line in text.split("\n")]))",
                                                                   displayPath(model / "labels.txt")});
    QVERIFY2(lines.exitCode == 0, lines.err.constData());
    QCOMPARE(lines.out.trimmed(),
             QByteArray(R"([b'gr\xc3\xbcn', b'\xe5\xb1\x82 \xf0\x9f\x90\x88', b'a "quoted" \\\\ one', )"
                        R"(b'two\\nlines', b'caf\xe9', b''])"));
    const auto scored = test::runProcess(QStringLiteral("/usr/bin/env"),
                                         {"LC_ALL=C", python.process.program(), displayPath(model / "score.py"),
                                          QString::fromStdString((m_pictures / "class0/picture.ppm").string())},
                                         300000);
    QVERIFY2(scored.exitCode == 0, scored.err.constData());
    const QJsonObject line = QJsonDocument::fromJson(scored.out).object();
    QCOMPARE(line["probabilities"].toObject().keys(), wanted);
    QVERIFY(wanted.contains(line["label"].toString()));
}

QTEST_GUILESS_MAIN(TestFilesInterop)
#include "tst_filesinterop.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/parity.h"

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/model/weightsfile.h"
#include "core/train/predictor.h"
#include "tests/core/train/trainfixture.h"
#include "tests/support/testsupport.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace tw;
using test::RecordingContext;
using test::SmallTraining;

Q_DECLARE_METATYPE(std::function<void()>)

/// A model directory that was just written, sound or not, against the network in memory.
class TestParity : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void soundFiles();
    void largeSets();
    void choiceOfPictures_data();
    void choiceOfPictures();
    void gaps_data();
    void gaps();
    void otherFiles_data();
    void otherFiles();
    void cancelEndsIt();
    void picturesThatAreGone();

private:
    Result<void> certify();
    /// The weights with `change` made to the bytes of the first tensor.
    StateDict changed(const std::function<void(float *values, std::size_t count)> &change) const;
    fs::path file(const char *name) const { return m_model / name; }

    SmallTraining m_small{64};
    std::optional<TrainingResult> m_trained;
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_model;
    ManifestPtr m_validation;
    std::unique_ptr<RecordingContext> m_context;
};

void TestParity::initTestCase()
{
    RecordingContext context;
    auto result = train(m_small.spec, context);
    TW_VERIFY(result);
    m_trained = std::move(*result);
}

void TestParity::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_model = fs::path(m_folder->path().toStdString()) / "model";
    fs::create_directory(m_model);
    TW_VERIFY(writeModelDirectory(m_model, m_trained->info, m_trained->weights, {}));
    m_validation = m_small.spec.validation;
    m_context = std::make_unique<RecordingContext>();
}

Result<void> TestParity::certify()
{
    return certifyModel(m_model, {m_trained->info, m_trained->weights, m_validation, 1, 10, QStringLiteral("cpu"), 1},
                        *m_context);
}

StateDict TestParity::changed(const std::function<void(float *, std::size_t)> &change) const
{
    StateDict weights = m_trained->weights;
    TensorBlob &first = weights.front();
    auto values = std::make_shared<std::vector<float>>(first.bytes / sizeof(float));
    std::memcpy(values->data(), first.data, first.bytes);
    change(values->data(), values->size());
    first.data = reinterpret_cast<const std::byte *>(values->data());
    first.owner = std::move(values);
    return weights;
}

void TestParity::soundFiles()
{
    TW_VERIFY(certify());
    const auto parity = readJsonObject(file("parity.json"), errors::InvalidModelDirectory);
    TW_VERIFY(parity);
    QCOMPARE((*parity)["format"].toString(), QStringLiteral("trainwright-parity"));
    QCOMPARE((*parity)["version"].toInt(), 1);
    QCOMPARE((*parity)["pictures"].toInt(), int(m_validation->size()));
    QCOMPARE((*parity)["validation_pictures"].toInt(), int(m_validation->size()));
    QCOMPARE((*parity)["validation_fingerprint"].toString(), QString::fromStdString(m_validation->fingerprint));
    QVERIFY(!m_validation->fingerprint.empty());
    const double largest = (*parity)["largest_logit"].toDouble();
    QVERIFY(largest > 0.1);
    QCOMPARE((*parity)["tolerance"].toDouble(), 2e-5 * std::max(1.0, largest));
    QVERIFY((*parity)["largest_gap"].toDouble(1) <= (*parity)["tolerance"].toDouble());
    QCOMPARE((*parity)["top1_agreement"].toDouble(), 1.0);
    for (const char *name : {"weights.pth", "weights.safetensors"}) {
        const QJsonObject one = (*parity)["files"].toObject()[QLatin1String(name)].toObject();
        QCOMPARE(one["sha256"].toString().toLatin1(), *sha256OfFile(file(name), errors::Library));
        QVERIFY(one["largest_gap"].toDouble(1) <= (*parity)["largest_gap"].toDouble());
        QCOMPARE(one["top1_agreement"].toDouble(), 1.0);
    }
    QCOMPARE(m_context->results["parity_top1_agreement"].toDouble(), 1.0);
    QCOMPARE(m_context->results["parity_gap"].toDouble(1), (*parity)["largest_gap"].toDouble());
    QCOMPARE(m_context->lines.filter(QStringLiteral("32 validation pictures")).size(), 1);
    // Copied with the model.
    const fs::path copy = m_model.parent_path() / "copy";
    fs::create_directory(copy);
    TW_VERIFY(copyModelDirectory(m_model, copy));
    QCOMPARE(*readFile(copy / "parity.json", errors::Library), *readFile(file("parity.json"), errors::Library));
}

void TestParity::largeSets()
{
    QStringList texts;
    m_context->onProgress = [&](const QString &text) { texts.append(text); };
    m_validation = test::openIdx(test::writeIdx(m_folder->path().toStdString(), "many", 600, 4, 16, 3));
    TW_VERIFY(certify());
    const auto parity = readJsonObject(file("parity.json"), errors::InvalidModelDirectory);
    TW_VERIFY(parity);
    QCOMPARE((*parity)["pictures"].toInt(), 256);
    QCOMPARE((*parity)["validation_pictures"].toInt(), 600);
    QCOMPARE(texts.last(), QStringLiteral("compared the written files on 256 of 256 validation pictures"));
    QCOMPARE(texts.size(), 1 + 26); // batches of 10
}

void TestParity::choiceOfPictures_data()
{
    QTest::addColumn<quint32>("count");
    for (const quint32 count : {0U, 1U, 255U, 256U, 257U, 1000U, 50000U, 4000000000U})
        QTest::addRow("%u", count) << count;
}

void TestParity::choiceOfPictures()
{
    QFETCH(quint32, count);
    bool differs = false;
    const auto first = parityPictures(count, 1);
    for (const std::uint64_t seed : {1ULL, 2ULL, 77ULL, ~0ULL}) {
        const auto chosen = parityPictures(count, seed);
        QCOMPARE(chosen, parityPictures(count, seed));
        QCOMPARE(chosen.size(), std::size_t(std::min(count, 256U)));
        differs = differs || chosen != first;
        const double step = std::max(1.0, double(count) / 256);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            QVERIFY(chosen[i] < count);
            QVERIFY(double(chosen[i]) > (double(i) * step) - 1 && double(chosen[i]) < double(i + 1) * step);
            QVERIFY(i == 0 || chosen[i] > chosen[i - 1]);
        }
    }
    QCOMPARE(differs, count > 256);
}

void TestParity::gaps_data()
{
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    QTest::addColumn<float>("one");
    QTest::addColumn<float>("other");
    QTest::addColumn<double>("gap");
    QTest::newRow("equal") << 1.5F << 1.5F << 0.0;
    QTest::newRow("numbers") << 1.5F << -0.5F << 2.0;
    QTest::newRow("beyond float") << 3e38F << -3e38F << 2 * double(3e38F);
    QTest::newRow("NaN twice") << nan << nan << 0.0;
    QTest::newRow("NaN once") << nan << 1.0F << double(infinity);
    QTest::newRow("infinity twice") << infinity << infinity << 0.0;
    QTest::newRow("infinities apart") << infinity << -infinity << double(infinity);
    QTest::newRow("infinity once") << 2.0F << infinity << double(infinity);
}

void TestParity::gaps()
{
    QFETCH(float, one);
    QFETCH(float, other);
    QFETCH(double, gap);
    QVERIFY(logitGap(one, other) == gap && logitGap(other, one) == gap);
}

void TestParity::otherFiles_data()
{
    QTest::addColumn<std::function<void()>>("damage");
    QTest::addColumn<QString>("named"); // file
    QTest::addColumn<QString>("said");
    const auto row = [](const char *name, const char *fileName, const char *said, std::function<void()> damage) {
        QTest::newRow(name) << damage << QString::fromLatin1(fileName) << QString::fromLatin1(said);
    };
    const auto rewrite = [this](const char *name, const StateDict &weights) {
        const auto written = fs::path(name).extension() == ".pth" ? writePth(file(name), weights)
                                                                  : writeSafetensors(file(name), weights);
        QVERIFY(written.ok());
    };
    const auto doubled = [](float *values, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            values[i] *= 2;
    };
    const auto nextFloat = [](float *values, std::size_t) { values[0] = std::nextafter(values[0], 2.0F); };
    const auto notANumber = [](float *values, std::size_t) { values[0] = std::nanf(""); };
    for (const char *name : {"weights.pth", "weights.safetensors"}) {
        row(qPrintable(QStringLiteral("other values, %1").arg(QLatin1String(name))), name, "the tolerance is",
            [=, this] { rewrite(name, changed(doubled)); });
        row(qPrintable(QStringLiteral("a NaN, %1").arg(QLatin1String(name))), name, "gap of a logit is inf",
            [=, this] { rewrite(name, changed(notANumber)); });
        row(qPrintable(QStringLiteral("one last bit, %1").arg(QLatin1String(name))), name, "SHA-256",
            [=, this] { rewrite(name, changed(nextFloat)); });
        row(qPrintable(QStringLiteral("cut, %1").arg(QLatin1String(name))), name, "cannot be read back",
            [=, this] { fs::resize_file(file(name), fs::file_size(file(name)) - 100); });
        row(qPrintable(QStringLiteral("gone, %1").arg(QLatin1String(name))), name, "cannot be read back",
            [=, this] { fs::remove(file(name)); });
        row(qPrintable(QStringLiteral("tensor left out, %1").arg(QLatin1String(name))), name, "missing: fc2.bias",
            [=, this] {
                StateDict fewer = m_trained->weights;
                fewer.pop_back();
                rewrite(name, fewer);
            });
    }
    const auto edit = [this](const char *from, const char *to) {
        QByteArray json = *readFile(file("model.json"), errors::Library);
        QVERIFY(json.contains(from));
        TW_VERIFY(writeFileAtomically(file("model.json"), json.replace(from, to)));
    };
    row("another mean", "model.json", "mean or deviation", [=] { edit("\"mean\":[0.5]", "\"mean\":[0.25]"); });
    row("another class", "model.json", "classes", [=] { edit("\"classes\": [\"0\"", "\"classes\": [\"other\""); });
    row("no model.json", "model.json", "cannot be read back", [=, this] { fs::remove(file("model.json")); });
}

void TestParity::otherFiles()
{
    QFETCH(std::function<void()>, damage);
    QFETCH(QString, named);
    QFETCH(QString, said);
    damage();
    if (QTest::currentTestFailed())
        return;
    const auto refused = certify();
    QVERIFY(!refused.ok());
    const Error &error = refused.error();
    QCOMPARE(error.name, QStringLiteral("FailedToWriteOutputsError"));
    QVERIFY2(error.sentence().contains(u'/' + named) && error.sentence().contains(said), qPrintable(error.sentence()));
    QVERIFY(!error.hint.isEmpty());
    if (said == QLatin1String("the tolerance is"))
        QVERIFY2(error.args.value(2).toDouble() > error.args.value(3).toDouble() && error.args.value(3).toDouble() > 0,
                 qPrintable(error.sentence()));
    QVERIFY(!fs::exists(file("parity.json")));
    QVERIFY(m_context->results.isEmpty());
}

void TestParity::cancelEndsIt()
{
    int batches = 0;
    m_context->onProgress = [&](const QString &text) {
        batches += text.startsWith(QStringLiteral("compared the written files")) ? 1 : 0;
        m_context->token.cancel = batches == 2;
    };
    const auto canceled = certify();
    QVERIFY(!canceled.ok());
    QCOMPARE(canceled.error().name, QStringLiteral("CanceledError"));
    QCOMPARE(batches, 2);
    QVERIFY(!fs::exists(file("parity.json")));
}

void TestParity::picturesThatAreGone()
{
    auto files = std::make_shared<ImageManifest>();
    files->root = m_folder->path().toStdString();
    files->categories = m_validation->categories;
    for (int i = 0; i < 4; ++i)
        files->add(std::to_string(i) + ".png", i, 100, 0);
    m_validation = files;
    TW_VERIFY(certify());
    QVERIFY(!fs::exists(file("parity.json")));
    QCOMPARE(m_context->warnings.filter(QStringLiteral("no parity.json")).size(), 1);
}

QTEST_GUILESS_MAIN(TestParity)
#include "tst_parity.moc"

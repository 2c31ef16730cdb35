// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/componentregistry.h"
#include "core/jobs/nodekey.h"
#include "core/model/pretrainedfiles.h"
#include "core/train/architectures.h"
#include "tests/core/data/httpserver.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>

using namespace tw;
using namespace tw::test;

/// `weights` pretrained of the model blocks. The published files themselves are not needed, but for those
/// tests that use EfficientNet-Lite0's, which set-up installs.
class TestPretrainedModels : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void everyNetworkHasWeights();
    void willBeDownloaded();
    void refusals_data();
    void refusals();
    void keyNamesTheFile();
    void fromTheSetUp();
    void downloaded_data();
    void downloaded();
    void itIsTheNetworkOfTheFile();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    fs::path hub() const { return root() / "hub" / "checkpoints"; }
    fs::path own() const { return root() / "cache" / "trainwright" / "weights"; }
    PlanNode node(const char *component, const QVariantMap &stored) const;
    PreflightReply preflight(const PlanNode &node) const;
    Result<RunReply> run(const PlanNode &node);
    UntrainedModel written() const { return *UntrainedModel::read(m_outputs["untrained_model"]); }
    static QByteArray content(const fs::path &file);
    /// EfficientNet-Lite0's file where set-up laid it; nothing: not installed.
    std::optional<fs::path> liteFile() const { return m_lite; }
    bool knowsLite() const { return architectureNames().contains("efficientnet_lite0"); }

    ComponentRegistry m_registry;
    HttpServer m_server;
    std::optional<fs::path> m_lite;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<RecordingContext> m_context;
    QMap<QString, fs::path> m_outputs;
    int m_runs = 0;
};

static const QVariantMap resnet18{{"weights", "pretrained"}};
static const QVariantMap lite0{{"model_name", "efficientnet_lite0"}, {"weights", "pretrained"}};
constexpr char resnetFile[] = "resnet18-f37072fd.pth";

void TestPretrainedModels::initTestCase()
{
    registerAllComponents(m_registry);
    const auto found = findPretrainedFile(*pretrainedWeightsOf("efficientnet_lite0"));
    TW_VERIFY(found);
    if (*found)
        m_lite = (*found)->path;
}

void TestPretrainedModels::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_context = std::make_unique<RecordingContext>(root() / "job");
    qputenv("TORCH_HOME", QByteArray::fromStdString(root().native()));
    qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((root() / "cache").native()));
    qputenv("TRAINWRIGHT_DEPS", QByteArray::fromStdString((root() / "deps").native()));
    qputenv("TRAINWRIGHT_WEIGHTS_URL", m_server.address("/models"));
    m_server.forget();
}

void TestPretrainedModels::cleanup()
{
    for (const char *name : {"TORCH_HOME", "XDG_CACHE_HOME", "TRAINWRIGHT_DEPS", "TRAINWRIGHT_WEIGHTS_URL"})
        qunsetenv(name);
}

QByteArray TestPretrainedModels::content(const fs::path &file)
{
    QFile in(QString::fromStdString(file.native()));
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

PlanNode TestPretrainedModels::node(const char *component, const QVariantMap &stored) const
{
    ParameterValues given;
    for (auto it = stored.begin(); it != stored.end(); ++it)
        given.set(it.key(), it.value());
    PlanNode made;
    made.id = QStringLiteral("model");
    made.component = m_registry.find(QLatin1String(component));
    made.values = made.component->schema.effective(given);
    return made;
}

PreflightReply TestPretrainedModels::preflight(const PlanNode &node) const
{
    return node.component->preflight({node.values, {}, nullptr, false});
}

Result<RunReply> TestPretrainedModels::run(const PlanNode &node)
{
    m_outputs = {{"untrained_model", root() / ("out" + std::to_string(++m_runs))}};
    fs::create_directories(m_outputs["untrained_model"]);
    return node.component->run({node.values, {}, m_outputs, *m_context});
}

/// Whatever a block that has `weights` offers can be had pretrained; the table names no other network.
void TestPretrainedModels::everyNetworkHasWeights()
{
    QStringList offered;
    for (const ComponentType *type : m_registry.all()) {
        const ParameterSpec *name = type->schema.find("model_name");
        if (!name || !type->schema.find("weights"))
            continue;
        for (const ParameterChoice &choice : name->choices) {
            QVERIFY2(pretrainedWeightsOf(choice.id), qPrintable(choice.id));
            offered.append(choice.id);
        }
    }
    QVERIFY(offered.size() >= 14);
    const QStringList known = architectureNames();
    for (const PretrainedWeights &row : pretrainedWeightsTable())
        QVERIFY2(offered.contains(row.architecture) || !known.contains(row.architecture), qPrintable(row.architecture));
}

/// Looking fetches nothing.
void TestPretrainedModels::willBeDownloaded()
{
    const PreflightReply reply = preflight(node("resnet", resnet18));
    QVERIFY(reply.errors.isEmpty());
    QCOMPARE(reply.summary, QStringLiteral("11.7 M parameters · 1.8 GMAC · 224 × 224 · weights will be downloaded "
                                           "(46.8 MB)"));
    QVERIFY(m_server.requests().isEmpty());
    QVERIFY(!fs::exists(root() / "cache"));
}

void TestPretrainedModels::refusals_data()
{
    QTest::addColumn<QString>("case_");
    QTest::addColumn<bool>("isSeenBefore"); // by preflight
    QTest::addColumn<QStringList>("named");
    QTest::newRow("not on the server") << "404" << false << QStringList{resnetFile, "404"};
    QTest::newRow("other bytes from the server")
        << "hash" << false << QStringList{resnetFile, "f37072fd", "should begin with"};
    QTest::newRow("other bytes in the hub") << "hub" << true << QStringList{resnetFile, "f37072fd", "checkpoints"};
    QTest::newRow("no address in the variable")
        << "variable" << true << QStringList{"TRAINWRIGHT_WEIGHTS_URL", "nowhere"};
}

void TestPretrainedModels::refusals()
{
    QFETCH(QString, case_);
    QFETCH(bool, isSeenBefore);
    QFETCH(QStringList, named);
    if (case_ == "hash")
        m_server.set(QByteArray("/models/") + resnetFile, {"not these"});
    if (case_ == "404")
        m_server.set(QByteArray("/models/") + resnetFile, {"nothing", 404, "Not Found"});
    if (case_ == "hub") {
        fs::create_directories(hub());
        std::ofstream(hub() / resnetFile) << "half a file";
    }
    if (case_ == "variable")
        qputenv("TRAINWRIGHT_WEIGHTS_URL", "nowhere");
    const PlanNode model = node("resnet", resnet18);
    const PreflightReply reply = preflight(model);
    QCOMPARE(reply.errors.size(), isSeenBefore ? 1 : 0);
    const auto ran = run(model);
    QVERIFY(!ran.ok());
    for (const Error &error : reply.errors + QList<Error>{ran.error()}) {
        QCOMPARE(error.name, QLatin1String(errors::InvalidModelDirectory));
        QCOMPARE(error.parameter, QStringLiteral("weights"));
        for (const QString &name : named)
            QVERIFY2(error.sentence().contains(name), qPrintable(error.sentence()));
        QVERIFY(!error.hintSentence().isEmpty());
    }
    QVERIFY(fs::is_empty(m_outputs["untrained_model"]));
    QVERIFY(!fs::exists(own() / resnetFile));
}

/// The key changes with the weights, not with where they lie or whether they are here yet.
void TestPretrainedModels::keyNamesTheFile()
{
    const auto keyOf = [this](const char *component, const QVariantMap &stored) {
        const PlanNode model = node(component, stored);
        return nodeKey(model, preflight(model), {});
    };
    const PreflightReply reply = preflight(node("resnet", resnet18));
    QCOMPARE(reply.outputs["untrained_model"].extra.value("fingerprint").toString(), QString(resnetFile));
    QVERIFY(keyOf("resnet", resnet18) != keyOf("resnet", {}));
    QVERIFY(keyOf("resnet", resnet18) != keyOf("resnet", {{"weights", "pretrained"}, {"model_name", "resnet34"}}));
    if (!liteFile() || !knowsLite())
        QSKIP("EfficientNet-Lite0 is not there");
    const QByteArray before = keyOf("efficientnet", lite0);
    fs::create_directories(hub());
    fs::copy_file(*liteFile(), hub() / liteFile()->filename());
    QCOMPARE(keyOf("efficientnet", lite0), before);
}

void TestPretrainedModels::fromTheSetUp()
{
    if (!liteFile() || !knowsLite())
        QSKIP("EfficientNet-Lite0 is not there");
    fs::create_directories(root() / "deps" / "weights");
    fs::copy_file(*liteFile(), root() / "deps" / "weights" / liteFile()->filename());
    const PlanNode model = node("efficientnet", lite0);
    const PreflightReply reply = preflight(model);
    QVERIFY2(reply.errors.isEmpty(), reply.errors.isEmpty() ? "" : qPrintable(reply.errors.first().toString()));
    QVERIFY2(reply.summary.endsWith(" · ImageNet weights"), qPrintable(reply.summary));
    TW_VERIFY(run(model));
    QVERIFY(m_server.requests().isEmpty());
    QCOMPARE(content(written().weightsFile), content(*liteFile()));
    QVERIFY(written().weightsSha256.startsWith("57934424"));
    // (value − 127) / 128
    QVERIFY(written().normalization);
    QVERIFY(std::abs(double(written().normalization->mean[1]) * 255 - 127) < 1e-4);
    QVERIFY(std::abs(double(written().normalization->std[1]) * 255 - 128) < 1e-4);
    QCOMPARE(m_context->results.value("weights").toString(), QString::fromStdString(liteFile()->filename().native()));
    QVERIFY(m_context->lines.join(u'\n').contains("Apache"));
}

void TestPretrainedModels::downloaded_data()
{
    QTest::addColumn<qint64>("cutAfter");
    QTest::newRow("at once") << qint64(-1);
    QTest::newRow("cut once") << qint64(5'000'000);
}

void TestPretrainedModels::downloaded()
{
    QFETCH(qint64, cutAfter);
    if (!liteFile() || !knowsLite())
        QSKIP("EfficientNet-Lite0 is not there");
    const std::string name = liteFile()->filename().native();
    Page page{content(*liteFile())};
    page.tag = "\"lite\"";
    page.cutAfter = cutAfter;
    page.cuts = 1;
    m_server.set("/models/" + QByteArray::fromStdString(name), page);
    const PlanNode model = node("efficientnet", lite0);
    QVERIFY(preflight(model).summary.endsWith("weights will be downloaded (18.8 MB)"));
    TW_VERIFY(run(model));
    QVERIFY(content(own() / name) == page.body);
    QVERIFY(content(written().weightsFile) == page.body);
    QVERIFY(m_context->lines.join(u'\n').contains("Downloading " + QString::fromStdString(name) + " (18.8 MB)"));
    QVERIFY(preflight(model).summary.endsWith("ImageNet weights"));
}

/// Everything but the head of another number of classes is the file's, bit for bit.
void TestPretrainedModels::itIsTheNetworkOfTheFile()
{
    if (!liteFile() || !knowsLite())
        QSKIP("EfficientNet-Lite0 is not there");
    const ModelConfig config{"efficientnet_lite0", {}};
    TW_VERIFY(checkInitialWeights(config, *liteFile()));
    const auto initial = readInitialWeights(config, *liteFile());
    TW_VERIFY(initial);
    const auto layout = weightsLayout({"efficientnet_lite0", {{"num_classes", 1000}}});
    TW_VERIFY(layout);
    QCOMPARE(initial->weights.size(), layout->size());
    for (std::size_t i = 0; i < layout->size(); ++i) {
        QCOMPARE(initial->weights[i].name, (*layout)[i].name);
        QCOMPARE(initial->weights[i].shape, (*layout)[i].shape);
    }
    const auto model = recogniseModel(initial->weights, {}, "lite");
    TW_VERIFY(model);
    QCOMPARE(model->config.architecture, QStringLiteral("efficientnet_lite0"));
    QCOMPARE(model->config.arguments.value("num_classes").toInt(), 1000);
}

QTEST_GUILESS_MAIN(TestPretrainedModels)
#include "tst_pretrainedmodels.moc"

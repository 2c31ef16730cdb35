// SPDX-License-Identifier: GPL-3.0-or-later
// What the parameters of the data components and of Basic Network move, seen in what the nodes give.
#include "core/component/portobjects.h"
#include "core/pipeline/planner.h"
#include "core/train/architectures.h"
#include "tests/core/components/faultypipelines.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace tw;

class TestComponentParameters : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void allowEmptyClasses();
    void verify_data();
    void verify();
    void splitSeed();
    void splitStratified();
    void basicNetwork_data();
    void basicNetwork();
    void everyParameterIsTested_data();
    void everyParameterIsTested();

private:
    fs::path folder() const { return pathFromText(m_folder.path()); }
    /// Runs `node` and what it needs; the object at one of its outputs.
    Result<std::any> run(const QVariantMap &changes, const char *node, const char *port);
    Result<ManifestPtr> images(const QVariantMap &changes, const char *node, const char *port = "image_directory");

    ComponentRegistry m_registry;
    QTemporaryDir m_folder;
    std::unique_ptr<test::RecordingContext> m_context;
    int m_outputs = 0;
};

void TestComponentParameters::initTestCase()
{
    registerAllComponents(m_registry);
    test::writeFaultyData(folder());
}

Result<std::any> TestComponentParameters::run(const QVariantMap &changes, const char *node, const char *port)
{
    TW_ASSIGN(planned, plan(test::faultyPipeline(folder(), changes), m_registry, {QString::fromLatin1(node)}));
    m_context = std::make_unique<test::RecordingContext>(folder() / ("job" + std::to_string(++m_outputs)));
    std::map<PortAddress, PortValue> made;
    for (const PlanNode &one : planned->nodes) {
        QMap<QString, PortValue> inputs;
        for (auto input = one.inputs.begin(); input != one.inputs.end(); ++input)
            inputs.insert(input.key(), made[*input]);
        QMap<QString, fs::path> outputs;
        for (const PortSpec &output : one.component->outputs) {
            outputs[output.id] = folder() / ("out" + std::to_string(++m_outputs));
            fs::create_directories(outputs[output.id]);
        }
        TW_ASSIGN(reply, one.component->run({one.values, inputs, outputs, *m_context}));
        for (auto output = outputs.begin(); output != outputs.end(); ++output)
            made[{one.id, output.key()}] = {*output, reply.objects.value(output.key())};
    }
    return made[{QString::fromLatin1(node), QString::fromLatin1(port)}].object;
}

Result<ManifestPtr> TestComponentParameters::images(const QVariantMap &changes, const char *node, const char *port)
{
    TW_ASSIGN(object, run(changes, node, port));
    return std::any_cast<ManifestPtr>(object);
}

/// Off it refuses such a data set: tst_errorplaces, "an empty class".
void TestComponentParameters::allowEmptyClasses()
{
    const auto kept = images({{"data.path", "hollow"}, {"convert.allow_empty_classes", true}}, "convert");
    TW_VERIFY(kept);
    QCOMPARE((*kept)->categories, (std::vector<std::string>{"ant", "bee"}));
    QCOMPARE((*kept)->counts(), (std::vector<std::int64_t>{16, 0}));
    QVERIFY2(m_context->warnings.join(u'\n').contains("'bee'"), qPrintable(m_context->warnings.join(u'\n')));
    const auto refused = images({{"data.path", "hollow"}}, "convert");
    QVERIFY(!refused.ok());
}

void TestComponentParameters::verify_data()
{
    QTest::addColumn<QVariantMap>("changes");
    QTest::addColumn<int>("images");
    QTest::addColumn<int>("unreadable");
    const QVariantMap full{{"data.path", "torn"}};
    QVariantMap header = full;
    header.insert("convert.verify", "header");
    QTest::newRow("full") << full << 13 << 3;
    QTest::newRow("header") << header << 16 << 0; // their headers are whole
}

void TestComponentParameters::verify()
{
    QFETCH(QVariantMap, changes);
    QFETCH(int, unreadable);
    const auto found = images(changes, "convert");
    TW_VERIFY(found);
    QTEST(int((*found)->size()), "images");
    QCOMPARE(m_context->results.value("unreadable").toInt(), unreadable);
    const QString warnings = m_context->warnings.join(u'\n');
    for (const char *name : {"ant/1.ppm", "ant/2.ppm", "bee/2.ppm"})
        QCOMPARE(warnings.contains(QLatin1String(name)), unreadable > 0);
}

void TestComponentParameters::splitSeed()
{
    const auto names = [&](const QVariantMap &changes) {
        std::set<std::string> first;
        const auto side = images(changes, "split", "image_directory1");
        for (std::size_t i = 0; side.ok() && i < (*side)->size(); ++i)
            first.insert((*side)->displayName(i));
        return first;
    };
    const auto usual = names({});
    QCOMPARE(usual.size(), std::size_t(12));
    QVERIFY(names({{"split.seed", 42LL}}) == usual);
    QVERIFY(names({{"split.seed", 1LL}}) != usual);
}

void TestComponentParameters::splitStratified()
{
    const auto counts = [&](bool stratified, qlonglong seed) {
        const auto side = images({{"split.stratified", stratified}, {"split.seed", seed}}, "split", "image_directory1");
        return side.ok() ? (*side)->counts() : std::vector<std::int64_t>();
    };
    int unequal = 0;
    for (const qlonglong seed : {1, 2, 3, 4, 5}) {
        QCOMPARE(counts(true, seed), (std::vector<std::int64_t>{6, 6}));
        const auto plain = counts(false, seed);
        QCOMPARE(plain.at(0) + plain.at(1), 12);
        unequal += plain.at(0) != 6;
    }
    QVERIFY(unequal > 0);
}

void TestComponentParameters::basicNetwork_data()
{
    QTest::addColumn<QVariantMap>("changes");
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QJsonObject>("arguments");
    QTest::addColumn<qint64>("parameters"); // for two classes of 8 × 8 pixels
    const QJsonObject usual{
        {"in_channels", 3}, {"hidden_sizes", QJsonArray{10}}, {"activation", "relu"}, {"dropout", 0}};
    const auto row = [&](const char *title, const QVariantMap &stored, const QJsonObject &other, qint64 parameters) {
        QVariantMap changes{{"model", "basic-network"}, {"model.network", "mlp"}};
        changes.insert(stored);
        QJsonObject arguments = usual;
        for (auto one = other.begin(); one != other.end(); ++one)
            arguments.insert(one.key(), *one);
        QTest::newRow(title) << changes << QStringLiteral("mlp") << arguments << parameters;
    };
    row("mlp", {}, {}, 193 * 10 + 11 * 2);
    row("hidden_sizes", {{"model.hidden_sizes", QVariantList{6LL, 4LL}}}, {{"hidden_sizes", QJsonArray{6, 4}}},
        193 * 6 + 7 * 4 + 5 * 2);
    row("activation", {{"model.activation", "tanh"}}, {{"activation", "tanh"}}, 1952);
    row("dropout", {{"model.dropout", 0.25}}, {{"dropout", 0.25}}, 1952);
    row("input_channels", {{"model.input_channels", "1"}}, {{"in_channels", 1}}, 65 * 10 + 11 * 2);
    // conv 27·32 + 32, conv 288·64 + 64, dense 64·2·2·128 + 128, 128·2 + 2
    QTest::newRow("network, those of mlp hidden")
        << QVariantMap{{"model", "basic-network"}, {"model.activation", "tanh"}, {"model.dropout", 0.25}} << "small_cnn"
        << QJsonObject{{"in_channels", 3}} << qint64(896 + 18496 + 32896 + 258);
}

void TestComponentParameters::basicNetwork()
{
    QFETCH(QVariantMap, changes);
    QFETCH(QJsonObject, arguments);
    const auto object = run(changes, "model", "untrained_model");
    TW_VERIFY(object);
    const ModelConfig config = std::any_cast<UntrainedModel>(*object).config;
    QTEST(config.architecture, "architecture");
    QCOMPARE(config.arguments, arguments);
    ModelConfig sized = config;
    sized.arguments.insert("num_classes", 2);
    const auto summary = summarizeModel(sized, arguments["in_channels"].toInt(), 8, 8);
    TW_VERIFY(summary);
    QTEST(qint64(summary->parameters), "parameters");
}

void TestComponentParameters::everyParameterIsTested_data()
{
    QTest::addColumn<QStringList>("sources");
    const QString here = QStringLiteral("tst_componentparameters"), data = QStringLiteral("tst_datacomponents");
    const QMap<QString, QStringList> sources{
        {"image-dataset", {data, "tst_imagedataset"}},
        {"convert-to-image-directory", {data, here}},
        {"split-image-directory", {data, here}},
        {"init-image-transformation", {"tst_initimagetransformation"}},
        {"apply-image-transformation", {"tst_applyimagetransformation"}},
        {"resnet", {"tst_modelcomponents"}},
        {"densenet", {"tst_modelcomponents"}},
        {"efficientnet", {"tst_modelcomponents"}},
        {"mobilenet", {"tst_modelcomponents"}},
        {"convnext", {"tst_modelcomponents"}},
        {"vision-transformer", {"tst_modelcomponents"}},
        {"load-model", {"tst_loadmodel"}},
        {"basic-network", {here}},
        {"train-pytorch-model", {"tst_trainmodel"}},
        {"score-image-model", {"tst_scoremodel"}},
    };
    for (const ComponentType *type : m_registry.all())
        QTest::newRow(qPrintable(type->id)) << sources.value(type->id);
}

/// A new parameter or component is not forgotten: its id stands in the rows of its test.
void TestComponentParameters::everyParameterIsTested()
{
    QFETCH(QStringList, sources);
    QByteArray text;
    for (const QString &source : sources) {
        QFile file(displayPath(test::sourceFolder() / "tests/core/components" / (source.toStdString() + ".cpp")));
        QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
        text += file.readAll();
    }
    const QString component = QString::fromLatin1(QTest::currentDataTag());
    for (const ParameterSpec &spec : m_registry.find(component)->schema.specs()) {
        const QByteArray id = spec.id.toUtf8();
        QVERIFY2(text.contains('"' + id + '"') || text.contains('.' + id + '"'), id.constData());
    }
}

QTEST_GUILESS_MAIN(TestComponentParameters)
#include "tst_componentparameters.moc"

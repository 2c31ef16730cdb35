// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/component/componentregistry.h"
#include "core/component/portobjects.h"
#include "core/data/datasetscan.h"
#include "core/metrics/scoretable.h"
#include "core/train/architectures.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

using namespace tw;

/// Score Image Model, and Evaluate Model on what it wrote, with a fresh model and picture files.
class TestScoreModel : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerAllComponents(m_registry); }
    void init();
    void cleanup() { fs::remove_all(folder()); } // QTemporaryDir cannot remove names that are not UTF-8
    void latinClassNames();
    void unreadableLater_data();
    void unreadableLater();
    void unknownCategoriesBeforeTheRun_data();
    void unknownCategoriesBeforeTheRun();
    void columnsFollowTheParameters_data();
    void columnsFollowTheParameters();
    void batchSize_data();
    void batchSize();
    void valuesOutOfRange_data();
    void valuesOutOfRange();
    void missingDevice();
    void unlabelled();
    void canceledLeavesNoTable();
    void fullDisk();
    void noModel();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    PortValue model(const std::vector<std::string> &classes) const;
    PortValue pictures(bool skipUnreadable = true) const;
    Result<RunReply> run(const char *component, const QMap<QString, PortValue> &inputs, const char *output,
                         const QVariantMap &parameters = {});
    Result<RunReply> score(const QVariantMap &parameters = {}, const char *output = "scored_dataset");
    QByteArray table(const char *output = "scored_dataset") const;
    PreflightReply preflight(const char *component, const QMap<QString, PortFacts> &inputs) const;

    ComponentRegistry m_registry;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<test::RecordingContext> m_context;
};

void TestScoreModel::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_context = std::make_unique<test::RecordingContext>(folder() / "job");
}

PortValue TestScoreModel::model(const std::vector<std::string> &classes) const
{
    ModelInfo info;
    info.config.architecture = QStringLiteral("small_cnn");
    info.config.arguments = {{"num_classes", int(classes.size())}, {"in_channels", 3}, {"height", 8}, {"width", 8}};
    info.classes = classes;
    info.height = info.width = 8;
    const fs::path place = folder() / "model";
    fs::create_directories(place);
    const auto weights = freshWeights(info.config, 1);
    if (!weights.ok() || !writeModelDirectory(place, info, *weights, {}).ok())
        qFatal("model not written");
    return {place, {}};
}

PortValue TestScoreModel::pictures(bool skipUnreadable) const
{
    auto scan = scanDataset(folder() / "set", {});
    if (!scan.ok())
        qFatal("%s", qPrintable(scan.error().toString()));
    scan->manifest.skipUnreadable = skipUnreadable;
    fs::create_directories(folder() / "images");
    if (!scan->manifest.write(folder() / "images").ok())
        qFatal("manifest not written");
    return {folder() / "images", {}};
}

Result<RunReply> TestScoreModel::run(const char *component, const QMap<QString, PortValue> &inputs, const char *output,
                                     const QVariantMap &parameters)
{
    const ComponentType *type = m_registry.find(QLatin1String(component));
    const fs::path place = folder() / output;
    fs::create_directories(place);
    ParameterValues values = type->schema.defaults();
    if (values.contains(QStringLiteral("device")))
        values.set(QStringLiteral("device"), QStringLiteral("cpu"));
    for (auto it = parameters.begin(); it != parameters.end(); ++it)
        values.set(it.key(), *it);
    return type->run({values, inputs, {{QLatin1String(output), place}}, *m_context});
}

PreflightReply TestScoreModel::preflight(const char *component, const QMap<QString, PortFacts> &inputs) const
{
    const ComponentType *type = m_registry.find(QLatin1String(component));
    const ParameterValues values = type->schema.defaults();
    return type->preflight({values, inputs, nullptr});
}

// A folder named in Latin-1, beside one whose name would look the same with the byte replaced.
void TestScoreModel::latinClassNames()
{
    const std::vector<std::string> classes{"caf\xe8", "caf\xe9", "tea"};
    for (std::size_t i = 0; i < classes.size(); ++i)
        for (int number = 0; number < 3; ++number)
            test::writeBytes(folder() / "set" / classes[i] / (std::to_string(number) + ".ppm"),
                             test::ppmOf(test::patternImage(8, 8, unsigned(3 * i) + unsigned(number))));
    TW_VERIFY(run("score-image-model", {{"trained_model", model(classes)}, {"dataset", pictures()}}, "scored_dataset"));
    const auto table = ScoreTableReader::open(folder() / "scored_dataset");
    TW_VERIFY(table);
    QCOMPARE((*table)->layout().classes, classes);
    TW_VERIFY(
        run("evaluate-model", {{"scored_dataset", PortValue{folder() / "scored_dataset", {}}}}, "evaluation_results"));
    const auto json = readJsonObject(folder() / "evaluation_results" / "evaluation.json", errors::InvalidDataset);
    TW_VERIFY(json);
    const QJsonArray rows =
        json->value(QLatin1String("results")).toArray().first().toObject().value(QLatin1String("classes")).toArray();
    QCOMPARE(rows.size(), 3);
    for (qsizetype i = 0; i < rows.size(); ++i) {
        const QJsonObject row = rows[i].toObject();
        QCOMPARE(pathFromJson(row.value(QLatin1String("name"))).native(), classes[std::size_t(i)]);
        QCOMPARE(row.value(QLatin1String("support")).toInt(), 3);
    }
}

void TestScoreModel::unreadableLater_data()
{
    QTest::addColumn<bool>("skip");
    QTest::newRow("skip") << true;
    QTest::newRow("fail") << false;
}

void TestScoreModel::unreadableLater()
{
    QFETCH(bool, skip);
    test::writeClassFolders(folder() / "set", 30, 8, 8);
    const PortValue images = pictures(skip);
    fs::remove(folder() / "set" / "b" / "4.ppm");
    const auto scored =
        run("score-image-model", {{"trained_model", model({"a", "b", "c"})}, {"dataset", images}}, "scored_dataset");
    QCOMPARE(scored.ok(), skip);
    if (skip) {
        QCOMPARE(m_context->results.value("rows").toInt(), 29);
        return;
    }
    QCOMPARE(scored.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(scored.error().sentence().contains("b/4.ppm"), qPrintable(scored.error().sentence()));
}

void TestScoreModel::unknownCategoriesBeforeTheRun_data()
{
    QTest::addColumn<QStringList>("names");
    QTest::addColumn<QList<qint64>>("counts");
    QTest::addColumn<bool>("labelled");
    QTest::addColumn<bool>("warned");
    QTest::newRow("known") << QStringList{"dog", "cat"} << QList<qint64>{1, 2} << true << false;
    QTest::newRow("unknown") << QStringList{"cat", "emu"} << QList<qint64>{1, 2} << true << true;
    QTest::newRow("unknown, no pictures") << QStringList{"cat", "emu"} << QList<qint64>{1, 0} << true << false;
    QTest::newRow("unknown, counts open") << QStringList{"cat", "emu"} << QList<qint64>{} << true << false;
    QTest::newRow("no labels") << QStringList{"cat", "emu"} << QList<qint64>{1, 2} << false << false;
}

void TestScoreModel::unknownCategoriesBeforeTheRun()
{
    QFETCH(QStringList, names);
    QFETCH(QList<qint64>, counts);
    QFETCH(bool, labelled);
    QFETCH(bool, warned);
    PortFacts trained, data;
    trained.categories = QStringList{"cat", "dog"};
    data.categories = names;
    data.images = 3;
    data.labelled = labelled;
    if (!counts.isEmpty())
        data.counts = counts;
    const PreflightReply score = preflight("score-image-model", {{"trained_model", trained}, {"dataset", data}});
    QVERIFY2(score.errors.isEmpty(), "scoring works without the true class");
    QCOMPARE(score.warnings.size(), qsizetype(warned));
    const PreflightReply evaluate =
        preflight("evaluate-model", {{"scored_dataset", score.outputs.value("scored_dataset")}});
    QCOMPARE(evaluate.errors.size(), labelled ? 0 : 1);
    if (!labelled) {
        QCOMPARE(evaluate.errors.first().name, QLatin1String(errors::NotLabeledDataset));
        QVERIFY(evaluate.errors.first().sentence().contains("'scored_dataset'"));
    }
    QCOMPARE(evaluate.warnings.size(), qsizetype(warned));
    if (warned)
        QVERIFY2(evaluate.warnings.first().contains("'emu'"), qPrintable(evaluate.warnings.first()));
}

Result<RunReply> TestScoreModel::score(const QVariantMap &parameters, const char *output)
{
    return run("score-image-model", {{"trained_model", model({"a", "b", "c"})}, {"dataset", pictures()}}, output,
               parameters);
}

QByteArray TestScoreModel::table(const char *output) const
{
    const auto bytes = readFile(folder() / output / "scored.csv", errors::NotScoredDataset);
    return bytes.ok() ? *bytes : QByteArray();
}

void TestScoreModel::columnsFollowTheParameters_data()
{
    QTest::addColumn<QVariantMap>("parameters");
    QTest::addColumn<QByteArray>("columns");
    const QByteArray all = "Scored Probabilities_a,Scored Probabilities_b,Scored Probabilities_c,";
    const QByteArray two = "Top 1 Label,Top 1 Probability,Top 2 Label,Top 2 Probability,";
    const QByteArray logits = "Scored Logits_a,Scored Logits_b,Scored Logits_c,";
    QTest::newRow("default") << QVariantMap() << all;
    QTest::newRow("probabilities") << QVariantMap{{"probabilities", "top_k"}, {"k", 2LL}} << two;
    QTest::newRow("k") << QVariantMap{{"probabilities", "top_k"}, {"k", 1LL}}
                       << QByteArray("Top 1 Label,Top 1 Probability,");
    QTest::newRow("k beyond the classes")
        << QVariantMap{{"probabilities", "top_k"}} << two + "Top 3 Label,Top 3 Probability,";
    QTest::newRow("k alone") << QVariantMap{{"k", 1LL}} << all;
    QTest::newRow("include_logits") << QVariantMap{{"include_logits", true}} << all + logits;
    QTest::newRow("both") << QVariantMap{{"probabilities", "top_k"}, {"k", 2LL}, {"include_logits", true}}
                          << two + logits;
}

void TestScoreModel::columnsFollowTheParameters()
{
    QFETCH(QVariantMap, parameters);
    QFETCH(QByteArray, columns);
    test::writeClassFolders(folder() / "set", 6, 8, 8);
    TW_VERIFY(score(parameters));
    const QByteArrayList lines = table().split('\n');
    QCOMPARE(lines.value(0), "path,category," + columns + "Scored Labels\r");
    QCOMPARE(lines.size(), 8);
    QVERIFY2(lines[1].contains("set/a/0.ppm,a,"), lines[1].constData());
    auto reader = ScoreTableReader::open(folder() / "scored_dataset");
    TW_VERIFY(reader);
    ScoredRow row;
    TW_VERIFY((*reader)->next(row));
    QVERIFY(row.label);
    QCOMPARE((*reader)->rows(), 6);
}

void TestScoreModel::batchSize_data()
{
    QTest::addColumn<qlonglong>("size");
    QTest::addColumn<int>("batches");
    QTest::newRow("default") << 0LL << 1;
    QTest::newRow("7") << 7LL << 4;
    QTest::newRow("1") << 1LL << 24;
}

/// Counts reports of progress: one a batch.
class CountingContext : public test::RecordingContext
{
public:
    using RecordingContext::RecordingContext;
    void progress(double fraction, const QString &) override
    {
        ++count;
        last = fraction;
    }
    int count = 0;
    double last = 0;
};

void TestScoreModel::batchSize()
{
    QFETCH(qlonglong, size);
    QFETCH(int, batches);
    test::writeClassFolders(folder() / "set", 24, 8, 8);
    auto counting = std::make_unique<CountingContext>(folder() / "job");
    const CountingContext &counted = *counting;
    m_context = std::move(counting);
    TW_VERIFY(score(size ? QVariantMap{{"batch_size", size}} : QVariantMap()));
    QCOMPARE(counted.count, batches);
    QCOMPARE(counted.last, 1.0);
    QCOMPARE(m_context->results.value("rows").toInt(), 24);
}

void TestScoreModel::valuesOutOfRange_data()
{
    QTest::addColumn<QString>("parameter");
    QTest::addColumn<QVariant>("value");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("offender");
    QTest::newRow("batch_size 0") << "batch_size" << QVariant(0LL) << "GreaterThanError"
                                  << "0";
    QTest::newRow("k 0") << "k" << QVariant(0LL) << "GreaterThanOrEqualToError"
                         << "0";
    QTest::newRow("batch_size, huge") << "batch_size" << QVariant(3000000000LL) << "LessThanOrEqualToError"
                                      << "3000000000";
    QTest::newRow("k, huge") << "k" << QVariant(3000000000LL) << "LessThanOrEqualToError"
                             << "3000000000";
    QTest::newRow("probabilities") << "probabilities" << QVariant("some") << "InvalidPipelineError"
                                   << "some";
}

void TestScoreModel::valuesOutOfRange()
{
    QFETCH(QString, parameter);
    QFETCH(QVariant, value);
    QFETCH(QString, name);
    QFETCH(QString, offender);
    const ComponentType *type = m_registry.find(QStringLiteral("score-image-model"));
    ParameterValues values = type->schema.defaults();
    values.set(QStringLiteral("probabilities"), QStringLiteral("top_k")); // k is judged while it shows
    values.set(parameter, value);
    const QList<Error> faults = type->schema.check(values) + type->validate(values);
    QCOMPARE(faults.size(), 1);
    QCOMPARE(faults.first().name, name);
    QCOMPARE(faults.first().parameter, parameter);
    QVERIFY2(faults.first().sentence().contains(offender), qPrintable(faults.first().sentence()));
    QVERIFY(!faults.first().hint.isEmpty());
}

void TestScoreModel::missingDevice()
{
    test::writeClassFolders(folder() / "set", 3, 8, 8);
    const ComponentType *type = m_registry.find(QStringLiteral("score-image-model"));
    ParameterValues values = type->schema.defaults();
    values.set(QStringLiteral("device"), QStringLiteral("cuda:77"));
    const PreflightReply reply = type->preflight({values, {}, nullptr});
    QCOMPARE(reply.errors.size(), 1);
    QCOMPARE(reply.errors.first().name, QLatin1String(errors::DeviceUnavailable));
    QCOMPARE(reply.errors.first().parameter, QStringLiteral("device"));
    QVERIFY(reply.errors.first().sentence().contains("cuda:77"));
    const auto scored = score({{"device", "cuda:77"}});
    QVERIFY(!scored.ok());
    QCOMPARE(scored.error().name, QLatin1String(errors::DeviceUnavailable));
}

void TestScoreModel::unlabelled()
{
    for (int i = 0; i < 3; ++i)
        test::writeBytes(folder() / "set" / (std::to_string(i) + ".ppm"),
                         test::ppmOf(test::patternImage(8, 8, unsigned(i))));
    TW_VERIFY(score());
    QVERIFY2(table().startsWith("path,Scored Probabilities_a,"), table().left(60).constData());
    QCOMPARE(table().count('\n'), 4);
    const auto evaluated =
        run("evaluate-model", {{"scored_dataset", PortValue{folder() / "scored_dataset", {}}}}, "evaluation_results");
    QVERIFY(!evaluated.ok());
    QCOMPARE(evaluated.error().name, QLatin1String(errors::NotLabeledDataset));
}

void TestScoreModel::canceledLeavesNoTable()
{
    test::writeClassFolders(folder() / "set", 6, 8, 8);
    m_context->stop.cancel = true;
    const auto scored = score();
    QVERIFY(!scored.ok());
    QCOMPARE(scored.error().name, QLatin1String(errors::Canceled));
    QVERIFY2(!ScoreTableReader::open(folder() / "scored_dataset").ok(), "what is there is no table");
}

void TestScoreModel::fullDisk()
{
    if (!fs::exists("/dev/full"))
        QSKIP("/dev/full: not found");
    test::writeClassFolders(folder() / "set", 6, 8, 8);
    fs::create_directories(folder() / "scored_dataset");
    fs::create_symlink("/dev/full", folder() / "scored_dataset" / "scored.csv");
    const auto scored = score();
    QVERIFY(!scored.ok());
    QCOMPARE(scored.error().name, QLatin1String(errors::FailedToWriteOutputs));
    QVERIFY2(scored.error().sentence().contains("scored.csv"), qPrintable(scored.error().sentence()));
    QVERIFY(scored.error().hintSentence().contains("disk is full"));
}

void TestScoreModel::noModel()
{
    test::writeClassFolders(folder() / "set", 3, 8, 8);
    fs::create_directories(folder() / "nothing");
    const auto scored =
        run("score-image-model", {{"trained_model", PortValue{folder() / "nothing", {}}}, {"dataset", pictures()}},
            "scored_dataset");
    QVERIFY(!scored.ok());
    QCOMPARE(scored.error().name, QLatin1String(errors::InvalidModelDirectory));
    QVERIFY2(scored.error().sentence().contains("nothing"), qPrintable(scored.error().sentence()));
}

QTEST_GUILESS_MAIN(TestScoreModel)
#include "tst_scoremodel.moc"

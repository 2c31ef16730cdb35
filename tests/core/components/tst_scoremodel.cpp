// SPDX-License-Identifier: GPL-3.0-or-later
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

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    PortValue model(const std::vector<std::string> &classes) const;
    PortValue pictures(bool skipUnreadable = true) const;
    Result<RunReply> run(const char *component, const QMap<QString, PortValue> &inputs, const char *output);
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

Result<RunReply> TestScoreModel::run(const char *component, const QMap<QString, PortValue> &inputs, const char *output)
{
    const ComponentType *type = m_registry.find(QLatin1String(component));
    const fs::path place = folder() / output;
    fs::create_directories(place);
    ParameterValues values = type->schema.defaults();
    if (values.contains(QStringLiteral("device")))
        values.set(QStringLiteral("device"), QStringLiteral("cpu"));
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
    QTest::addColumn<bool>("refused");
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
    QFETCH(bool, refused);
    PortFacts trained, data;
    trained.categories = QStringList{"cat", "dog"};
    data.categories = names;
    data.images = 3;
    data.labelled = labelled;
    if (!counts.isEmpty())
        data.counts = counts;
    const PreflightReply score = preflight("score-image-model", {{"trained_model", trained}, {"dataset", data}});
    QVERIFY2(score.errors.isEmpty(), "scoring works without the true class");
    QCOMPARE(score.warnings.size(), qsizetype(refused));
    const PreflightReply evaluate =
        preflight("evaluate-model", {{"scored_dataset", score.outputs.value("scored_dataset")}});
    const bool unlabelled = !labelled;
    QCOMPARE(evaluate.errors.size(), qsizetype(refused || unlabelled));
    if (!refused)
        return;
    QCOMPARE(evaluate.errors.first().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(evaluate.errors.first().sentence().contains("'emu'"), qPrintable(evaluate.errors.first().sentence()));
}

QTEST_GUILESS_MAIN(TestScoreModel)
#include "tst_scoremodel.moc"

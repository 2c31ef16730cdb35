// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/component/componentregistry.h"
#include "core/metrics/scoretable.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace tw;

class TestEvaluateModel : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerAllComponents(m_registry); }
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_isCanceled = false;
    }
    void oneTable();
    void twoTablesLeftFirst();
    void shortRankingsGiveNoLoss();
    void noTable();
    void noLabels();
    void unknownCategory();
    void noKnownCategory();
    void emptyTable();
    void changedImagesAreListed();
    void canceled();
    void beforeTheRun();

private:
    struct Row
    {
        const char *category;
        std::vector<double> probabilities;
    };
    fs::path folder() const { return m_folder->path().toStdString(); }
    PortValue table(const char *name, const std::vector<Row> &rows, bool labelled = true, int topK = 0) const;
    Result<QJsonObject> evaluate(const QMap<QString, PortValue> &inputs);

    ComponentRegistry m_registry;
    std::unique_ptr<QTemporaryDir> m_folder;
    QJsonObject m_results;
    QStringList m_warnings;
    bool m_isCanceled = false;
};

PortValue TestEvaluateModel::table(const char *name, const std::vector<Row> &rows, bool labelled, int topK) const
{
    const fs::path place = folder() / name;
    fs::create_directories(place);
    auto writer = ScoreTableWriter::create(place, {{"a", "b", "c"}, labelled, topK, false});
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (!(*writer)->add("picture" + std::to_string(i), rows[i].category, rows[i].probabilities, {}).ok())
            qFatal("table not written");
    if (!(*writer)->finish().ok())
        qFatal("table not written");
    return {place, {}};
}

Result<QJsonObject> TestEvaluateModel::evaluate(const QMap<QString, PortValue> &inputs)
{
    const ComponentType *type = m_registry.find(QStringLiteral("evaluate-model"));
    test::RecordingContext context(folder() / "job");
    context.stop.cancel = m_isCanceled;
    const fs::path out = folder() / "out";
    fs::create_directories(out);
    const ParameterValues values = type->schema.defaults();
    const auto reply = type->run({values, inputs, {{QStringLiteral("evaluation_results"), out}}, context});
    if (!reply.ok())
        return reply.error();
    m_results = context.results;
    m_warnings = context.warnings;
    return readJsonObject(out / "evaluation.json", errors::InvalidDataset);
}

static const QString leftPort = QStringLiteral("scored_dataset");
static const QString rightPort = QStringLiteral("scored_dataset_to_compare");

void TestEvaluateModel::oneTable()
{
    const auto json = evaluate(
        {{leftPort,
          table("left",
                {{"a", {0.7, 0.2, 0.1}}, {"a", {0.3, 0.6, 0.1}}, {"b", {0.1, 0.8, 0.1}}, {"c", {0.1, 0.5, 0.4}}})}});
    TW_VERIFY(json);
    QCOMPARE(json->value(QLatin1String("format")).toString(), QStringLiteral("trainwright-evaluation"));
    const QJsonObject row = json->value(QLatin1String("results")).toArray().first().toObject();
    QCOMPARE(row.value(QLatin1String("Correct")).toInt(), 2);
    QCOMPARE(row.value(QLatin1String("Total")).toInt(), 4);
    QCOMPARE(row.value(QLatin1String("Overall_Accuracy")).toDouble(), 0.5);
    QCOMPARE(row.value(QLatin1String("Micro_Precision")).toDouble(), 0.5);
    // Precision: a 1/1, b 1/3, c never predicted; recall: a 1/2, b 1, c 0.
    QCOMPARE(row.value(QLatin1String("Macro_Precision")).toDouble(), (1 + 1.0 / 3) / 2);
    QCOMPARE(row.value(QLatin1String("Macro_Recall")).toDouble(), 0.5);
    QCOMPARE(row.value(QLatin1String("Top_5_Accuracy")).toDouble(), 1.0);
    const double loss = -(std::log(0.7) + std::log(0.3) + std::log(0.8) + std::log(0.4)) / 4;
    QVERIFY(std::abs(row.value(QLatin1String("Log_Loss")).toDouble() - loss) < 1e-9);
    QCOMPARE(jsonCompact(row.value(QLatin1String("confusion_matrix"))), QByteArray("[[1,1,0],[0,1,0],[0,1,0]]"));
    const QJsonObject third = row.value(QLatin1String("classes")).toArray()[2].toObject();
    QVERIFY(third.value(QLatin1String("precision")).isNull());
    QCOMPARE(third.value(QLatin1String("recall")).toDouble(1), 0.0);
    QCOMPARE(m_results.value(QLatin1String("Overall_Accuracy")).toDouble(), 0.5);
}

void TestEvaluateModel::twoTablesLeftFirst()
{
    const auto json = evaluate(
        {{rightPort, table("right", {{"a", {0.1, 0.9, 0.0}}})}, {leftPort, table("left", {{"a", {0.9, 0.1, 0.0}}})}});
    TW_VERIFY(json);
    const QJsonArray rows = json->value(QLatin1String("results")).toArray();
    QCOMPARE(rows.size(), 2);
    QCOMPARE(rows[0].toObject().value(QLatin1String("input")).toString(), leftPort);
    QCOMPARE(rows[0].toObject().value(QLatin1String("Correct")).toInt(), 1);
    QCOMPARE(rows[1].toObject().value(QLatin1String("Correct")).toInt(), 0);
    QCOMPARE(m_results.value(QLatin1String("Correct")).toInt(-1), 1);
    QCOMPARE(m_results.value(QLatin1String("compare_Correct")).toInt(-1), 0);
}

void TestEvaluateModel::shortRankingsGiveNoLoss()
{
    const auto json = evaluate({{leftPort, table("left", {{"a", {0.9, 0.1, 0.0}}, {"c", {0.6, 0.3, 0.1}}}, true, 1)}});
    TW_VERIFY(json);
    const QJsonObject row = json->value(QLatin1String("results")).toArray().first().toObject();
    QCOMPARE(row.value(QLatin1String("Overall_Accuracy")).toDouble(), 0.5);
    QVERIFY(row.value(QLatin1String("Log_Loss")).isNull());
    QVERIFY(row.value(QLatin1String("Top_5_Accuracy")).isNull());
}

void TestEvaluateModel::noTable()
{
    const auto json = evaluate({{leftPort, PortValue{folder(), {}}}});
    QVERIFY(!json.ok());
    QCOMPARE(json.error().name, QLatin1String(errors::NotScoredDataset));
}

void TestEvaluateModel::noLabels()
{
    const auto json = evaluate({{leftPort, table("left", {{"", {0.9, 0.1, 0.0}}}, false)}});
    QVERIFY(!json.ok());
    QCOMPARE(json.error().name, QLatin1String(errors::NotLabeledDataset));
    QVERIFY(json.error().sentence().contains(leftPort));
}

void TestEvaluateModel::unknownCategory()
{
    const std::vector<double> a{0.9, 0.1, 0.0};
    const auto json = evaluate({{leftPort, table("left", {{"zebra", a}, {"a", a}, {"a", a}, {"yak", a}})}});
    TW_VERIFY(json);
    QCOMPARE(m_results.value(QLatin1String("Overall_Accuracy")).toDouble(), 0.5);
    QCOMPARE(m_warnings, QStringList("scored_dataset: the model has no class for the categories: 'zebra', 'yak'. "
                                     "They count as wrong: 2 images."));
}

void TestEvaluateModel::noKnownCategory()
{
    const auto json = evaluate({{leftPort, table("left", {{"zebra", {0.9, 0.1, 0.0}}})}});
    QVERIFY(!json.ok());
    QCOMPARE(json.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY(json.error().sentence().contains(QLatin1String("'zebra'")));
    QVERIFY(json.error().sentence().contains(leftPort));
}

void TestEvaluateModel::emptyTable()
{
    const auto json = evaluate({{leftPort, table("left", {})}});
    QVERIFY(!json.ok());
    QCOMPARE(json.error().name, QLatin1String(errors::NotScoredDataset));
    QVERIFY(json.error().sentence().contains(leftPort));
    QVERIFY(json.error().hintSentence().contains("Score"));
}

void TestEvaluateModel::changedImagesAreListed()
{
    const std::vector<double> a{0.9, 0.1, 0.0}, b{0.1, 0.9, 0.0};
    const auto json = evaluate({{leftPort, table("left", {{"a", a}, {"a", b}, {"b", b}, {"b", a}, {"c", b}})},
                                {rightPort, table("right", {{"a", a}, {"a", a}, {"b", a}, {"b", b}})}});
    TW_VERIFY(json);
    const QJsonObject pairs = json->value(QLatin1String("comparison")).toObject();
    QCOMPARE(pairs.value("images").toInt(), 4);
    QCOMPARE(pairs.value("accuracy_difference").toDouble(), 0.25);
    QCOMPARE(jsonCompact(pairs.value("only_in_first_names")), QByteArray("[\"picture4\"]"));
    QCOMPARE(m_results.value("wrong_to_right").toInt(), 2);
    QCOMPARE(m_results.value("right_to_wrong").toInt(), 1);
    QCOMPARE(m_results.value("accuracy_difference").toDouble(), 0.25);
    QCOMPARE(m_warnings, QStringList("In the first table only, 1 image: 'picture4'."));
    const auto csv = readFile(folder() / "out" / "changed.csv", errors::InvalidDataset);
    TW_VERIFY(csv);
    QCOMPARE(*csv, QByteArray("path,category,first_label,second_label,change\r\n"
                              "picture1,a,b,a,wrong_to_right\r\n"
                              "picture2,b,b,a,right_to_wrong\r\n"
                              "picture3,b,a,b,wrong_to_right\r\n"));
}

void TestEvaluateModel::canceled()
{
    m_isCanceled = true;
    const auto json = evaluate({{leftPort, table("left", {{"a", {0.9, 0.1, 0.0}}})}});
    QVERIFY(!json.ok());
    QCOMPARE(json.error().name, QLatin1String(errors::Canceled));
    QVERIFY(!fs::exists(folder() / "out" / "evaluation.json"));
}

void TestEvaluateModel::beforeTheRun()
{
    const ComponentType *type = m_registry.find(QStringLiteral("evaluate-model"));
    PortFacts first, second;
    first.labelled = true;
    first.categories = QStringList{"a", "b"};
    second.labelled = false;
    second.categories = QStringList{"b", "c"};
    const ParameterValues values = type->schema.defaults();
    const PreflightReply reply = type->preflight({values, {{leftPort, first}, {rightPort, second}}, nullptr});
    QCOMPARE(reply.errors.size(), 1);
    QCOMPARE(reply.errors.first().name, QLatin1String(errors::NotLabeledDataset));
    QVERIFY(reply.errors.first().sentence().contains(rightPort));
    QVERIFY(!reply.errors.first().hint.isEmpty());
    QCOMPARE(reply.warnings.size(), 1);
    QVERIFY2(reply.warnings.first().contains("'a', 'b'; 'b', 'c'"), qPrintable(reply.warnings.first()));
}

QTEST_GUILESS_MAIN(TestEvaluateModel)
#include "tst_evaluatemodel.moc"

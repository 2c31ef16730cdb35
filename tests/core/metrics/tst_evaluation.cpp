// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/metrics/evaluation.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace tw;

/// Figures against NumPy (tests/data/make_evaluation_goldens.py), what is null and why, two tables,
/// and the file.
class TestEvaluation : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void goldens_data();
    void goldens();
    void topK_data();
    void topK();
    void notNumbers();
    void unknownCategories();
    void refused_data();
    void refused();
    void changedImages();
    void unequalTables();
    void nothingInCommon();
    void goldenFile();
    void manyClassesAreListed();
    void changedFileOnAFullDisk();

private:
    struct Row
    {
        const char *path, *category;
        std::vector<double> probabilities;
    };
    fs::path folder() const { return m_folder->path().toStdString(); }
    static ScoredRow scored(const Row &row, int topK);
    Result<EvaluationReport> evaluate(const std::vector<std::vector<Row>> &tables, int topK = 0,
                                      const std::vector<std::vector<std::string>> &classes = {});
    Result<QJsonObject> written(const EvaluationReport &report) const;

    std::unique_ptr<QTemporaryDir> m_folder;
};

static const std::vector<std::string> abc{"a", "b", "c"};

ScoredRow TestEvaluation::scored(const Row &row, int topK)
{
    ScoredRow out;
    out.path = row.path;
    out.category = row.category;
    out.label = bestClass(row.probabilities);
    out.probabilities = row.probabilities;
    if (topK == 0)
        return out;
    out.ranking = rankedClasses(row.probabilities, std::size_t(topK));
    out.probabilities.assign(row.probabilities.size(), std::nan(""));
    for (const int id : out.ranking)
        out.probabilities[std::size_t(id)] = row.probabilities[std::size_t(id)];
    return out;
}

Result<EvaluationReport> TestEvaluation::evaluate(const std::vector<std::vector<Row>> &tables, int topK,
                                                  const std::vector<std::vector<std::string>> &classes)
{
    EvaluationBuilder builder(int(tables.size()), folder() / "changed.csv");
    for (std::size_t i = 0; i < tables.size(); ++i) {
        ScoreLayout layout;
        layout.classes = i < classes.size() ? classes[i] : abc;
        layout.topK = topK;
        TW_TRY(builder.begin(i ? QStringLiteral("right") : QStringLiteral("left"), layout, qint64(tables[i].size())));
        for (const Row &row : tables[i])
            TW_TRY(builder.add(scored(row, topK)));
        TW_TRY(builder.end());
    }
    return builder.finish([&](const std::vector<std::uint32_t> &rows) {
        QStringList names;
        for (const std::uint32_t row : rows)
            names.append(QString::fromLatin1(tables.front()[row].path));
        return Result<QStringList>(names);
    });
}

Result<QJsonObject> TestEvaluation::written(const EvaluationReport &report) const
{
    TW_TRY(writeEvaluation(folder(), report));
    return readJsonObject(folder() / "evaluation.json", errors::InvalidDataset);
}

static QJsonObject firstRow(const QJsonObject &evaluation)
{
    return evaluation.value(QLatin1String("results")).toArray().first().toObject();
}

static bool same(const QJsonValue &value, const QJsonValue &expected)
{
    return expected.isNull() ? value.isNull()
                             : value.isDouble() && std::abs(value.toDouble() - expected.toDouble()) < 1e-11;
}

void TestEvaluation::goldens_data()
{
    QTest::addColumn<QJsonObject>("golden");
    const auto json =
        readJsonObject(test::sourceFolder() / "tests/data/evaluation_goldens.json", errors::InvalidDataset);
    TW_VERIFY(json);
    for (const QJsonValue &table : json->value(QLatin1String("tables")).toArray())
        QTest::newRow(qPrintable(table["name"].toString())) << table.toObject();
}

void TestEvaluation::goldens()
{
    QFETCH(QJsonObject, golden);
    EvaluationBuilder builder(1);
    ScoreLayout layout;
    for (int i = 0; i < golden["classes"].toInt(); ++i)
        layout.classes.push_back("class" + std::to_string(i));
    const QJsonArray truths = golden["truth"].toArray(), rows = golden["probabilities"].toArray();
    TW_VERIFY(builder.begin(QStringLiteral("golden"), layout, rows.size()));
    for (qsizetype i = 0; i < rows.size(); ++i) {
        ScoredRow row;
        row.category = "class" + std::to_string(truths[i].toInt());
        for (const QJsonValue &value : rows[i].toArray())
            row.probabilities.push_back(value.toDouble());
        row.label = bestClass(row.probabilities);
        TW_VERIFY(builder.add(row));
    }
    TW_VERIFY(builder.end());
    const auto report = builder.finish({});
    TW_VERIFY(report);
    const auto json = written(*report);
    TW_VERIFY(json);
    const QJsonObject found = firstRow(*json), expected = golden["expect"].toObject();
    const QJsonObject figures = expected["figures"].toObject();
    QVERIFY(figures.size() >= 18);
    for (auto it = figures.begin(); it != figures.end(); ++it)
        QVERIFY2(same(found.value(it.key()), it.value()),
                 qPrintable(it.key() + ' ' + jsonCompact(found.value(it.key())) + ' ' + jsonCompact(it.value())));
    QCOMPARE(jsonCompact(found["confusion_matrix"]), jsonCompact(expected["confusion_matrix"]));
    for (const char *table : {"classes", "bins"}) {
        const QJsonArray theirs = expected[QLatin1String(table)].toArray();
        const QJsonArray ours =
            (table == QLatin1String("bins") ? found["calibration"].toObject()["bins"] : found["classes"]).toArray();
        QCOMPARE(ours.size(), theirs.size());
        for (qsizetype i = 0; i < theirs.size(); ++i) {
            const QJsonObject row = theirs[i].toObject();
            for (auto it = row.begin(); it != row.end(); ++it)
                QVERIFY2(same(ours[i].toObject().value(it.key()), it.value()),
                         qPrintable(QStringLiteral("%1 %2 of %3").arg(it.key()).arg(i).arg(QLatin1String(table))));
        }
    }
    const QJsonObject reasons = found["unavailable"].toObject();
    for (auto it = found.begin(); it != found.end(); ++it)
        QVERIFY2(!it->isNull() || reasons.contains(it.key()) || it.key() == QLatin1String("confusion_cells"),
                 qPrintable(it.key()));
}

void TestEvaluation::topK_data()
{
    QTest::addColumn<int>("k");
    QTest::addColumn<bool>("hasLoss");
    QTest::addColumn<bool>("hasTopFive");
    QTest::addColumn<bool>("hasCurves");
    QTest::newRow("one") << 1 << false << false << false;
    QTest::newRow("every true class within") << 2 << true << true << false;
    QTest::newRow("as many as classes") << 3 << true << true << true;
    QTest::newRow("more than classes") << 9 << true << true << true;
}

void TestEvaluation::topK()
{
    QFETCH(int, k);
    QFETCH(bool, hasLoss);
    QFETCH(bool, hasTopFive);
    QFETCH(bool, hasCurves);
    const std::vector<Row> rows{{"1", "a", {0.7, 0.2, 0.1}}, {"2", "b", {0.6, 0.3, 0.1}}, {"3", "c", {0.1, 0.4, 0.5}}};
    const auto report = evaluate({rows}, k), whole = evaluate({rows});
    TW_VERIFY(report);
    const TableEvaluation &table = report->results.front(), &all = whole->results.front();
    QCOMPARE(*table.figures.accuracy, 2.0 / 3);
    QCOMPARE(table.figures.logLoss, hasLoss ? all.figures.logLoss : std::optional<double>());
    QCOMPARE(table.figures.top5Accuracy.has_value(), hasTopFive);
    QCOMPARE(*table.calibration.expectedError, *all.calibration.expectedError); // the top probability is there
    QCOMPARE(table.calibration.brierScore.has_value(), hasCurves);
    QCOMPARE(table.curves.has_value(), hasCurves);
    const QString reason = QStringLiteral("the table holds the %1 most probable classes only").arg(k);
    for (const auto &[name, known] :
         {std::pair("Log_Loss", hasLoss), std::pair("Top_5_Accuracy", hasTopFive), std::pair("Brier_Score", hasCurves),
          std::pair("Macro_AUC", hasCurves), std::pair("curves", hasCurves)})
        QCOMPARE(table.unavailable.value(QLatin1String(name)), known ? QString() : reason);
}

// A broken network: nothing is right by accident, and no mean is taken over what is no number.
void TestEvaluation::notNumbers()
{
    const double nan = std::nan("");
    const auto report =
        evaluate({{{"1", "a", {0.7, 0.2, 0.1}}, {"2", "a", {nan, nan, nan}}, {"3", "b", {0.2, nan, 0.1}}}});
    TW_VERIFY(report);
    const TableEvaluation &table = report->results.front();
    QCOMPARE(table.withoutPrediction, 2);
    QCOMPARE(table.figures.correct, 1);
    QCOMPARE(table.figures.total, 3);
    QCOMPARE(*table.figures.classes[0].recall, 0.5);
    QCOMPARE(*table.figures.classes[0].precision, 1.0);
    QCOMPARE(*table.figures.top5Accuracy, 1.0 / 3);
    QCOMPARE(report->warnings.size(), 1);
    QVERIFY2(report->warnings.first().contains("2 images are not numbers"), qPrintable(report->warnings.first()));
    const auto json = written(*report);
    TW_VERIFY(json);
    const QJsonObject row = firstRow(*json);
    for (const char *name :
         {"Log_Loss", "Brier_Score", "Expected_Calibration_Error", "Macro_AUC", "curves", "calibration"}) {
        QVERIFY2(row.value(QLatin1String(name)).isNull(), name);
        QVERIFY2(row["unavailable"][QLatin1String(name)].toString().contains("not numbers"), name);
    }
}

// A category that the model has no class for: named, never right, a row of the matrix of its own.
void TestEvaluation::unknownCategories()
{
    const auto report = evaluate({{{"1", "a", {0.7, 0.2, 0.1}},
                                   {"2", "zebra", {0.6, 0.3, 0.1}},
                                   {"3", "yak", {0.1, 0.3, 0.6}},
                                   {"4", "zebra", {1, 0, 0}}}});
    TW_VERIFY(report);
    const TableEvaluation &table = report->results.front();
    QCOMPARE(table.labels, (std::vector<std::string>{"a", "b", "c", "zebra", "yak"}));
    QCOMPARE(*table.figures.accuracy, 0.25);
    QCOMPARE(table.figures.confused(3, 0), 2);
    QCOMPARE(*table.figures.classes[3].recall, 0.0);
    QVERIFY(!table.figures.classes[3].precision);
    QCOMPARE(*table.figures.classes[0].precision, 1.0 / 3);
    QCOMPARE(*table.figures.top5Accuracy, 0.25);
    QVERIFY(!table.figures.logLoss);
    QVERIFY2(table.unavailable.value("Log_Loss").contains("infinite"), qPrintable(table.unavailable.value("Log_Loss")));
    QVERIFY(table.calibration.brierScore && table.curves);
    QCOMPARE(report->warnings, QStringList("left: the model has no class for the categories: 'zebra', 'yak'. "
                                           "They count as wrong: 3 images."));
}

void TestEvaluation::refused_data()
{
    QTest::addColumn<QByteArray>("category");
    QTest::addColumn<bool>("hasRow");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("offender");
    QTest::addColumn<QString>("hint");
    QTest::newRow("no rows") << QByteArray() << false << "NotScoredDatasetError"
                             << "'left'"
                             << "at least one picture";
    QTest::newRow("no category") << QByteArray() << true << "NotLabeledDatasetError"
                                 << "'pic.png'"
                                 << "one folder per class";
    QTest::newRow("other names") << QByteArray("zebra") << true << "InvalidDatasetError"
                                 << "the pictures have 'zebra', the model has 'a', 'b', 'c'"
                                 << "names of the model's classes";
}

void TestEvaluation::refused()
{
    QFETCH(QByteArray, category);
    QFETCH(bool, hasRow);
    QFETCH(QString, name);
    QFETCH(QString, offender);
    QFETCH(QString, hint);
    std::vector<Row> rows;
    if (hasRow)
        rows.push_back({"pic.png", category.constData(), {0.5, 0.3, 0.2}});
    const auto report = evaluate({rows});
    QVERIFY(!report.ok());
    QCOMPARE(report.error().name, name);
    QVERIFY2(report.error().sentence().contains(offender), qPrintable(report.error().sentence()));
    QVERIFY2(report.error().hintSentence().contains(hint), qPrintable(report.error().hintSentence()));
    QVERIFY2(report.error().sentence().contains("'left'"), "the port");
}

void TestEvaluation::changedImages()
{
    const std::vector<double> a{0.9, 0.1, 0}, b{0.1, 0.9, 0};
    const auto report = evaluate({{{"x,1", "a", a}, {"2", "a", a}, {"3", "b", a}, {"4", "b", b}, {"5", "a", b}},
                                  {{"5", "a", b}, {"4", "b", a}, {"3", "b", b}, {"2", "a", a}, {"x,1", "a", b}}});
    TW_VERIFY(report);
    QVERIFY(report->warnings.isEmpty());
    const EvaluationComparison &pairs = *report->comparison;
    QCOMPARE(pairs.counts.bothRight, 1);
    QCOMPARE(pairs.counts.onlyFirstRight, 2);
    QCOMPARE(pairs.counts.onlySecondRight, 1);
    QCOMPARE(pairs.counts.bothWrong, 1);
    QCOMPARE(pairs.interval->difference, -0.2);
    QCOMPARE(pairs.mcnemarP, 1.0);
    QCOMPARE(pairs.changed.size(), std::size_t(3));
    const auto csv = readFile(folder() / "changed.csv", errors::InvalidDataset);
    TW_VERIFY(csv);
    QCOMPARE(*csv, QByteArray("path,category,first_label,second_label,change\r\n"
                              "4,b,b,a,right_to_wrong\r\n"
                              "3,b,a,b,wrong_to_right\r\n"
                              "\"x,1\",a,a,b,right_to_wrong\r\n"));
    const auto json = written(*report);
    TW_VERIFY(json);
    const QJsonValue comparison = json->value(QLatin1String("comparison"));
    QCOMPARE(comparison["changed"].toArray()[2].toObject()["path"].toString(), QStringLiteral("x,1"));
    QCOMPARE(comparison["changed_file"].toString(), QStringLiteral("changed.csv"));
    QVERIFY(comparison["method"].toString().contains("Newcombe"));
    QCOMPARE(json->value(QLatin1String("results")).toArray()[1].toObject()["input"].toString(),
             QStringLiteral("right"));
}

void TestEvaluation::unequalTables()
{
    const std::vector<double> first{0.9, 0.1, 0}, second{0.1, 0.9, 0};
    const auto report =
        evaluate({{{"1", "a", first}, {"2", "a", first}, {"3", "a", first}, {"4", "b", first}, {"4", "b", first}},
                  {{"1", "a", first}, {"7", "a", second}, {"8", "d", second}, {"3", "d", second}, {"4", "b", first}}},
                 0, {{"a", "b", "c"}, {"b", "a", "d"}});
    TW_VERIFY(report);
    const EvaluationComparison &pairs = *report->comparison;
    QCOMPARE(pairs.onlyInFirst, 1);
    QCOMPARE(pairs.onlyInFirstNames, QStringList("2"));
    QCOMPARE(pairs.onlyInSecondNames, (QStringList{"7", "8"}));
    QCOMPARE(pairs.otherCategory, 1);
    QCOMPARE(pairs.repeated, 1);
    // By name: class 0 is "a" on the left and "b" on the right.
    QCOMPARE(pairs.counts.onlyFirstRight, 1);
    QCOMPARE(pairs.counts.onlySecondRight, 1);
    QCOMPARE(pairs.changed[1].secondLabel, std::string("b"));
    QCOMPARE(report->warnings,
             (QStringList{"Only the first model has the classes: 'c'.", "Only the second model has the classes: 'd'.",
                          "In the first table only, 1 image: '2'.", "In the second table only, 2 images: '7', '8'.",
                          "Another category in the second table, 1 image: left out of the comparison.",
                          "In a table twice, 1 image: the comparison takes the first."}));
}

void TestEvaluation::nothingInCommon()
{
    const auto report = evaluate({{{"1", "a", {1, 0, 0}}}, {{"2", "a", {1, 0, 0}}}});
    TW_VERIFY(report);
    QVERIFY(!report->comparison->interval);
    QVERIFY2(report->warnings.contains("The two tables have no image in common: they are not compared."),
             qPrintable(report->warnings.join('|')));
    const auto json = written(*report);
    TW_VERIFY(json);
    QVERIFY(json->value(QLatin1String("comparison"))["lower"].isNull());
    QVERIFY(json->value(QLatin1String("comparison"))["mcnemar_exact_p"].isNull());
}

/// The text of the file is part of the format; TRAINWRIGHT_WRITE_GOLDENS=1 writes it anew.
void TestEvaluation::goldenFile()
{
    const auto report = evaluate({{{"1.png", "a", {0.75, 0.125, 0.125}},
                                   {"2.png", "b", {0.5, 0.375, 0.125}},
                                   {"3.png", "zebra", {0.25, 0.5, 0.25}}},
                                  {{"1.png", "a", {0.25, 0.5, 0.25}}, {"2.png", "b", {0.125, 0.875, 0}}}},
                                 0, {abc, {"a", "b", "caf\xe9"}});
    TW_VERIFY(report);
    TW_VERIFY(writeEvaluation(folder(), *report));
    const auto text = readFile(folder() / "evaluation.json", errors::InvalidDataset);
    TW_VERIFY(text);
    const fs::path golden = test::sourceFolder() / "tests/data/evaluation.json";
    if (qEnvironmentVariableIsSet("TRAINWRIGHT_WRITE_GOLDENS"))
        TW_VERIFY(writeFileAtomically(golden, *text));
    const auto expected = readFile(golden, errors::InvalidDataset);
    TW_VERIFY(expected);
    QCOMPARE(*text, *expected);
}

void TestEvaluation::manyClassesAreListed()
{
    std::vector<std::string> many;
    for (int i = 0; i < 1001; ++i)
        many.push_back(std::to_string(i));
    std::vector<double> probabilities(many.size(), 0);
    probabilities[7] = 1;
    const auto report =
        evaluate({{{"1", "9", probabilities}, {"2", "9", probabilities}, {"3", "7", probabilities}}}, 0, {many});
    TW_VERIFY(report);
    const auto json = written(*report);
    TW_VERIFY(json);
    const QJsonObject row = firstRow(*json);
    QVERIFY(row["confusion_matrix"].isNull() && row["confusion_matrix_normalized"].isNull());
    QCOMPARE(jsonCompact(row["confusion_cells"]), QByteArray("[[7,7,1],[9,7,2]]"));
    QVERIFY(row["unavailable"].toObject().contains("confusion_matrix"));
}

void TestEvaluation::changedFileOnAFullDisk()
{
    if (!fs::exists("/dev/full"))
        QSKIP("/dev/full: not found");
    fs::create_symlink("/dev/full", folder() / "changed.csv");
    const auto report = evaluate({{{"1", "a", {1, 0, 0}}}, {{"1", "a", {0, 1, 0}}}});
    QVERIFY(!report.ok());
    QCOMPARE(report.error().name, QLatin1String(errors::FailedToWriteOutputs));
    QVERIFY(report.error().sentence().contains("changed.csv"));
}

QTEST_GUILESS_MAIN(TestEvaluation)
#include "tst_evaluation.moc"

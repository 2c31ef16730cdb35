// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/metrics/scoretable.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>
#include <sstream>

using namespace tw;

class TestScoreTable : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void roundTrip_data();
    void roundTrip();
    void namesThatAreNotUtf8();
    void columns();
    void csvRecords();
    void ranking();
    void refused_data();
    void refused();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    void write(const ScoreLayout &layout) const;

    std::unique_ptr<QTemporaryDir> m_folder;
};

static const std::vector<std::string> classes{"cat, big", "dog \"x\"", "line\nbreak"};

void TestScoreTable::write(const ScoreLayout &layout) const
{
    auto table = ScoreTableWriter::create(folder(), layout);
    TW_VERIFY(table);
    TW_VERIFY((*table)->add("a,b/caf\xe9.jpg", classes[2], std::vector<double>{0.2, 0.3, 0.5},
                            std::vector<float>{1.f, 2.f, 3.f}));
    TW_VERIFY((*table)->add("plain.png", classes[0], std::vector<double>{1.0, 0.0, 1e-12},
                            std::vector<float>{-1.f, 0.f, 1.f}));
    TW_VERIFY((*table)->finish());
    QCOMPARE((*table)->rows(), 2);
}

void TestScoreTable::roundTrip_data()
{
    QTest::addColumn<bool>("labelled");
    QTest::addColumn<int>("topK");
    QTest::addColumn<bool>("logits");
    QTest::newRow("all") << true << 0 << false;
    QTest::newRow("logits") << true << 0 << true;
    QTest::newRow("no labels") << false << 0 << false;
    QTest::newRow("top 2") << true << 2 << false;
    QTest::newRow("top 9 of 3, logits") << false << 9 << true;
}

void TestScoreTable::roundTrip()
{
    QFETCH(bool, labelled);
    QFETCH(int, topK);
    QFETCH(bool, logits);
    write({classes, labelled, topK, logits});
    auto table = ScoreTableReader::open(folder());
    TW_VERIFY(table);
    QCOMPARE((*table)->layout().classes, classes);
    QCOMPARE((*table)->layout().labelled, labelled);
    QCOMPARE((*table)->layout().logits, logits);
    QCOMPARE((*table)->rows(), 2);
    ScoredRow row;
    auto more = (*table)->next(row);
    TW_VERIFY(more);
    QVERIFY(*more);
    QCOMPARE(row.path, std::string("a,b/caf\xe9.jpg"));
    QCOMPARE(row.category, labelled ? classes[2] : std::string());
    QCOMPARE(row.label, classes[2]);
    QCOMPARE(row.probabilities[2], 0.5);
    QCOMPARE(row.ranking, topK == 2 ? (std::vector<int>{2, 1}) : (std::vector<int>{2, 1, 0}));
    QCOMPARE(std::isnan(row.probabilities[0]), topK == 2);
    more = (*table)->next(row);
    QVERIFY(more.ok() && *more);
    more = (*table)->next(row);
    QVERIFY(more.ok() && !*more);
}

void TestScoreTable::namesThatAreNotUtf8()
{
    const std::vector<std::string> latin{"caf\xe8", "caf\xe9", "100%"};
    for (const int topK : {0, 2}) {
        write({latin, true, topK, true});
        auto table = ScoreTableReader::open(folder());
        TW_VERIFY(table);
        QCOMPARE((*table)->layout().classes, latin);
    }
}

void TestScoreTable::columns()
{
    write({{"a", "b", "c"}, true, 0, true});
    const auto bytes = readFile(folder() / "scored.csv", errors::NotScoredDataset);
    TW_VERIFY(bytes);
    QCOMPARE(bytes->left(bytes->indexOf('\r')),
             QByteArray("path,category,Scored Probabilities_a,Scored Probabilities_b,Scored Probabilities_c,"
                        "Scored Logits_a,Scored Logits_b,Scored Logits_c,Scored Labels"));
    QVERIFY(bytes->contains("1e-12"));
}

void TestScoreTable::csvRecords()
{
    std::istringstream in("a,\"b,\"\"c\"\"\",\r\n\"x\ny\",z\n");
    std::vector<std::string> fields;
    QVERIFY(readCsvRecord(in, fields));
    QCOMPARE(fields, (std::vector<std::string>{"a", "b,\"c\"", ""}));
    QVERIFY(readCsvRecord(in, fields));
    QCOMPARE(fields, (std::vector<std::string>{"x\ny", "z"}));
    QVERIFY(!readCsvRecord(in, fields));
}

void TestScoreTable::ranking()
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QCOMPARE(rankedClasses(std::vector<double>{0.1, 0.4, 0.4, 0.1}, 9), (std::vector<int>{1, 2, 0, 3}));
    QCOMPARE(rankedClasses(std::vector<double>{nan, 0.2, nan}, 2), (std::vector<int>{1, 0}));
}

void TestScoreTable::refused_data()
{
    QTest::addColumn<QByteArray>("table");
    QTest::addColumn<QByteArray>("csv");
    QTest::addColumn<QString>("offender");
    const QByteArray good =
        R"({"format":"trainwright-scored-table","version":1,"columns":[],"classes":["a","b"],"top_k":0,"rows":1})";
    const QByteArray header = "path,Scored Probabilities_a,Scored Probabilities_b,Scored Labels\r\n";
    QTest::newRow("no table") << QByteArray() << header << "table.json";
    QTest::newRow("other format") << QByteArray(R"({"format":"x","version":1})") << header << "format";
    QTest::newRow("newer version") << QByteArray(R"({"format":"trainwright-scored-table","version":9})") << header
                                   << "version";
    QTest::newRow("class without a name")
        << QByteArray(good).replace("\"b\"", R"({"path":"b"})") << header << "no name";
    QTest::newRow("missing column") << good << QByteArray("path,Scored Probabilities_a,Scored Labels\r\n")
                                    << "Scored Probabilities_b";
    QTest::newRow("short row") << good << header + "x,0.5\r\n"
                               << "row 1";
    QTest::newRow("no number") << good << header + "x,much,0.5,a\r\n"
                               << "much";
    QTest::newRow("too few rows") << good << header << "0 of 1";
}

void TestScoreTable::refused()
{
    QFETCH(QByteArray, table);
    QFETCH(QByteArray, csv);
    QFETCH(QString, offender);
    if (!table.isEmpty())
        TW_VERIFY(writeFileAtomically(folder() / "table.json", table));
    TW_VERIFY(writeFileAtomically(folder() / "scored.csv", csv));
    std::optional<Error> error;
    auto reader = ScoreTableReader::open(folder());
    if (reader.ok()) {
        ScoredRow row;
        const auto next = (*reader)->next(row);
        QVERIFY(!next.ok());
        error = next.error();
    } else {
        error = reader.error();
    }
    QCOMPARE(error->name, QLatin1String(errors::NotScoredDataset));
    QVERIFY2(error->sentence().contains(offender), qPrintable(error->sentence()));
}

QTEST_GUILESS_MAIN(TestScoreTable)
#include "tst_scoretable.moc"

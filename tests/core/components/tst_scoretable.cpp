// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/metrics/scoretable.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>

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
    void topColumns();
    void description();
    void notNumbers_data();
    void notNumbers();
    void memoryDoesNotGrowWithRows();
    void fullDisk();
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
    QCOMPARE(row.label, 2);
    QCOMPARE(row.probabilities[2], 0.5);
    QCOMPARE(row.ranking, topK == 2  ? (std::vector<int>{2, 1})
                          : topK > 2 ? (std::vector<int>{2, 1, 0})
                                     : std::vector<int>());
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

void TestScoreTable::topColumns()
{
    write({{"a", "b", "c"}, false, 2, false});
    const auto bytes = readFile(folder() / "scored.csv", errors::NotScoredDataset);
    TW_VERIFY(bytes);
    QCOMPARE(*bytes, QByteArray("path,Top 1 Label,Top 1 Probability,Top 2 Label,Top 2 Probability,Scored Labels\r\n"
                                "\"a,b/caf\xe9.jpg\",c,0.5,b,0.3,c\r\nplain.png,a,1,c,1e-12,a\r\n"));
}

void TestScoreTable::description()
{
    write({{"=1+1", "comma,name", "caf\xe9"}, true, 0, true});
    const auto json = readJsonObject(folder() / "table.json", errors::NotScoredDataset);
    TW_VERIFY(json);
    QCOMPARE(json->value("rows").toInt(), 2);
    QCOMPARE(jsonCompact(json->value("classes")), QByteArray(R"(["=1+1","comma,name",{"path":"caf%E9","raw":true}])"));
    const QJsonArray columns = json->value("columns").toArray();
    QCOMPARE(columns.size(), 9);
    QCOMPARE(jsonCompact(columns[2]),
             QByteArray(R"({"name":"Scored Probabilities_=1+1","role":"probability","type":"number"})"));
    QCOMPARE(jsonCompact(columns[8]), QByteArray(R"({"name":"Scored Labels","role":"label","type":"text"})"));
}

void TestScoreTable::notNumbers_data()
{
    QTest::addColumn<int>("topK");
    QTest::addColumn<QByteArray>("line");
    QTest::newRow("all") << 0 << QByteArray("x,NaN,0.5,0.5,");
    QTest::newRow("top 2") << 2 << QByteArray("x,,NaN,,NaN,");
}

// No class is a label by accident.
void TestScoreTable::notNumbers()
{
    QFETCH(int, topK);
    QFETCH(QByteArray, line);
    auto writer = ScoreTableWriter::create(folder(), {{"a", "b", "c"}, false, topK, false});
    TW_VERIFY(writer);
    TW_VERIFY((*writer)->add("x", {}, std::vector<double>{std::nan(""), 0.5, 0.5}, {}));
    TW_VERIFY((*writer)->finish());
    const auto bytes = readFile(folder() / "scored.csv", errors::NotScoredDataset);
    TW_VERIFY(bytes);
    QCOMPARE(bytes->split('\n').value(1), line + '\r');
    auto reader = ScoreTableReader::open(folder());
    TW_VERIFY(reader);
    ScoredRow row;
    TW_VERIFY((*reader)->next(row));
    QVERIFY(!row.label && row.ranking.empty() && std::isnan(row.probabilities[0]));
}

/// Resident memory of this process in kB.
static qint64 residentKb()
{
    QFile status(QStringLiteral("/proc/self/status"));
    if (!status.open(QIODevice::ReadOnly))
        return -1;
    for (const QByteArray &line : status.readAll().split('\n'))
        if (line.startsWith("VmRSS:"))
            return line.simplified().split(' ').value(1).toLongLong();
    return -1;
}

// A hundred thousand rows are 9 MB of text: neither side may hold them.
void TestScoreTable::memoryDoesNotGrowWithRows()
{
    if (residentKb() < 0)
        QSKIP("/proc: not found");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("sanitizers keep freed memory");
#endif
    constexpr int rows = 100000;
    const auto pass = [&](int count) {
        auto writer = ScoreTableWriter::create(folder(), {{"a", "b", "c"}, true, 0, false});
        const std::vector<double> probabilities{1.0 / 3, 1.0 / 7, 1 - 1.0 / 3 - 1.0 / 7};
        const std::string path = "some/longer/path/of/a/picture/that/stands/somewhere/" + std::string(20, 'x');
        for (int i = 0; i < count; ++i)
            if (!(*writer)->add(path, "a", probabilities, {}).ok())
                return -1;
        if (!(*writer)->finish().ok())
            return -1;
        auto reader = ScoreTableReader::open(folder());
        ScoredRow row;
        int read = 0;
        for (auto more = (*reader)->next(row); more.ok() && *more; more = (*reader)->next(row))
            ++read;
        return read;
    };
    QCOMPARE(pass(100), 100);
    const qint64 before = residentKb();
    QCOMPARE(pass(rows), rows);
    const qint64 grown = residentKb() - before;
    QVERIFY(fs::file_size(folder() / "scored.csv") > 9000000);
    QVERIFY2(grown < 4096, qPrintable(QStringLiteral("%1 kB").arg(grown)));
}

void TestScoreTable::fullDisk()
{
    if (!fs::exists("/dev/full"))
        QSKIP("/dev/full: not found");
    fs::create_symlink("/dev/full", folder() / "scored.csv");
    auto writer = ScoreTableWriter::create(folder(), {{"a", "b", "c"}, false, 0, false});
    TW_VERIFY(writer);
    TW_VERIFY((*writer)->add("x", {}, std::vector<double>{0.2, 0.3, 0.5}, {}));
    const auto finished = (*writer)->finish();
    QVERIFY(!finished.ok());
    QCOMPARE(finished.error().name, QLatin1String(errors::FailedToWriteOutputs));
    QVERIFY2(finished.error().sentence().contains("scored.csv"), qPrintable(finished.error().sentence()));
    QVERIFY(finished.error().hintSentence().contains("disk is full"));
    QVERIFY2(!fs::exists(folder() / "table.json"), "a table that is not whole is none");
}

void TestScoreTable::ranking()
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QCOMPARE(rankedClasses(std::vector<double>{0.1, 0.4, 0.4, 0.1}, 9), (std::vector<int>{1, 2, 0, 3}));
    QCOMPARE(rankedClasses(std::vector<double>{nan, 0.2, nan}, 2), (std::vector<int>{1, 0}));
    QCOMPARE(bestClass(std::vector<double>{0.1, 0.45, 0.45}), 1);
    QVERIFY(!bestClass(std::vector<double>{0.1, nan, 0.45}));
    QVERIFY(!bestClass(std::vector<double>()));
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
    QTest::newRow("more than all") << good << header + "x,1.5,0.5,a\r\n"
                                   << "1.5";
    QTest::newRow("unknown label") << good << header + "x,0.5,0.5,zebra\r\n"
                                   << "zebra";
    QTest::newRow("class twice") << QByteArray(good).replace("\"b\"", "\"a\"") << header << "two classes are named 'a'";
    QTest::newRow("no classes") << QByteArray(good).replace(R"("a","b")", "") << header << "names no classes";
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
    if (offender != QLatin1String("table.json"))
        QVERIFY2(error->hintSentence().contains("Score Image Model"), qPrintable(error->hintSentence()));
}

QTEST_GUILESS_MAIN(TestScoreTable)
#include "tst_scoretable.moc"

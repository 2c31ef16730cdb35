// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/metrics/csv.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <limits>
#include <sstream>

using namespace tw;

class TestCsv : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void records();
    void fields_data();
    void fields();
    void numbers_data();
    void numbers();
    void sharedCase();
    void fullDisk();
    void missingFolder();
};

void TestCsv::records()
{
    std::istringstream in("a,\"b,\"\"c\"\"\",\r\n\"x\ny\",z\n");
    std::vector<std::string> fields;
    QVERIFY(readCsvRecord(in, fields));
    QCOMPARE(fields, (std::vector<std::string>{"a", "b,\"c\"", ""}));
    QVERIFY(readCsvRecord(in, fields));
    QCOMPARE(fields, (std::vector<std::string>{"x\ny", "z"}));
    QVERIFY(!readCsvRecord(in, fields));
}

void TestCsv::fields_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("field");
    QTest::newRow("plain") << QByteArray("a b") << QByteArray("a b");
    QTest::newRow("comma") << QByteArray("comma,name") << QByteArray("\"comma,name\"");
    QTest::newRow("quote") << QByteArray("quote\"q") << QByteArray("\"quote\"\"q\"");
    QTest::newRow("line ends") << QByteArray("a\r\nb") << QByteArray("\"a\r\nb\"");
    QTest::newRow("carriage return") << QByteArray("a\rb") << QByteArray("\"a\rb\"");
    QTest::newRow("formula") << QByteArray("=1+1") << QByteArray("=1+1");
    QTest::newRow("not UTF-8") << QByteArray("caf\xe9") << QByteArray("caf\xe9");
    QTest::newRow("empty") << QByteArray() << QByteArray();
}

void TestCsv::fields()
{
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, field);
    QCOMPARE(QByteArray::fromStdString(csvField(name.toStdString())), field);
    std::istringstream in("x," + field.toStdString() + ",y\r\n");
    std::vector<std::string> fields;
    QVERIFY(readCsvRecord(in, fields));
    QCOMPARE(fields, (std::vector<std::string>{"x", name.toStdString(), "y"}));
    QVERIFY(!readCsvRecord(in, fields));
}

void TestCsv::numbers_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("half") << 0.5 << QByteArray("0.5");
    QTest::newRow("one") << 1.0 << QByteArray("1");
    QTest::newRow("third") << 1.0 / 3 << QByteArray("0.333333333");
    QTest::newRow("tiny") << 1e-12 << QByteArray("1e-12");
    QTest::newRow("negative") << -2.5 << QByteArray("-2.5");
    QTest::newRow("NaN") << std::numeric_limits<double>::quiet_NaN() << QByteArray("NaN");
    QTest::newRow("infinite") << std::numeric_limits<double>::infinity() << QByteArray("Infinity");
    QTest::newRow("less") << -std::numeric_limits<double>::infinity() << QByteArray("-Infinity");
}

void TestCsv::numbers()
{
    QFETCH(double, value);
    QFETCH(QByteArray, text);
    std::string line = "x";
    appendCsvNumber(line, value);
    QCOMPARE(QByteArray::fromStdString(line), "x" + text);
}

void TestCsv::sharedCase()
{
    const auto cases = test::casesFolder();
    if (!cases)
        QSKIP("not found");
    const auto json = readJsonObject(*cases / "ui" / "csv.json", errors::InvalidDataset);
    TW_VERIFY(json);
    QByteArray text;
    for (const QJsonValue &row : json->value(QLatin1String("rows")).toArray()) {
        std::string line;
        for (const QJsonValue &cell : row.toArray()) {
            line += line.empty() ? "" : ",";
            if (cell.isDouble())
                appendCsvNumber(line, cell.toDouble());
            else
                line += csvField(cell.toString().toStdString());
        }
        text += QByteArray::fromStdString(line) + "\r\n";
    }
    QCOMPARE(QString::fromUtf8(text),
             json->value(QLatin1String("expect")).toObject().value(QLatin1String("one_right_text")).toString());
}

void TestCsv::fullDisk()
{
    if (!fs::exists("/dev/full"))
        QSKIP("/dev/full: not found");
    const QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "table.csv";
    fs::create_symlink("/dev/full", file);
    CsvFile csv;
    TW_VERIFY(csv.open(file));
    Result<void> written;
    for (int i = 0; i < 100000 && written.ok(); ++i)
        written = csv.write("a line of some length");
    QVERIFY2(!written.ok(), "noticed while writing, not only at the end");
    QCOMPARE(written.error().name, QLatin1String(errors::FailedToWriteOutputs));
    QVERIFY2(written.error().sentence().contains("table.csv"), qPrintable(written.error().sentence()));
    QVERIFY2(written.error().hintSentence().contains("disk is full"), qPrintable(written.error().hintSentence()));

    CsvFile small;
    TW_VERIFY(small.open(file));
    TW_VERIFY(small.write("x"));
    const auto closed = small.close();
    QVERIFY(!closed.ok());
    QCOMPARE(closed.error().name, QLatin1String(errors::FailedToWriteOutputs));
}

void TestCsv::missingFolder()
{
    const QTemporaryDir folder;
    CsvFile csv;
    const auto opened = csv.open(fs::path(folder.path().toStdString()) / "none" / "table.csv");
    QVERIFY(!opened.ok());
    QCOMPARE(opened.error().name, QLatin1String(errors::FailedToWriteOutputs));
    QVERIFY(opened.error().sentence().contains("none/table.csv"));
}

QTEST_GUILESS_MAIN(TestCsv)
#include "tst_csv.moc"

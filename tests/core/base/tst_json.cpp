// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"

#include "core/base/files.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace tw;

class TestJson : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void numbers_data()
    {
        QTest::addColumn<double>("value");
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("tenth") << 0.1 << QByteArray("0.1");
        QTest::newRow("whole") << 3.0 << QByteArray("3");
        QTest::newRow("small") << 1e-4 << QByteArray("1e-04");
        QTest::newRow("nan") << std::numeric_limits<double>::quiet_NaN() << QByteArray("\"NaN\"");
        QTest::newRow("infinity") << std::numeric_limits<double>::infinity() << QByteArray("\"Infinity\"");
        QTest::newRow("minus infinity") << -std::numeric_limits<double>::infinity() << QByteArray("\"-Infinity\"");
    }
    void numbers()
    {
        QFETCH(double, value);
        QTEST(jsonNumber(value), "text");
        const QJsonValue read = QJsonDocument::fromJson('[' + jsonNumber(value) + ']').array().at(0);
        const double back = doubleFromJson(read, 77);
        QVERIFY(back == value || (std::isnan(back) && std::isnan(value)));
    }

    void anyDoubleReadsBackTheSame()
    {
        std::mt19937_64 generator(7);
        for (int i = 0; i < 5000; ++i) {
            const quint64 bits = generator();
            double value = 0;
            memcpy(&value, &bits, sizeof value);
            if (!std::isfinite(value))
                continue;
            QCOMPARE(jsonNumber(value).toDouble(), value);
        }
    }

    void significantDigits()
    {
        QCOMPARE(jsonNumber(1.0 / 3, 9), QByteArray("0.333333333"));
        QCOMPARE(jsonNumber(std::nan(""), 9), QByteArray("\"NaN\""));
    }

    void stringsAreEscapedAndReadBack_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("plain") << "abc";
        QTest::newRow("quotes") << "a\"b\\c/";
        QTest::newRow("controls") << QString::fromLatin1("\n\r\t\x01\x1f\x7f", 6);
        QTest::newRow("nul") << QString(QChar(u'\0')) + "x";
        QTest::newRow("beyond the basic plane") << QString::fromUtf8("🐈 猫");
        QTest::newRow("empty") << "";
    }
    void stringsAreEscapedAndReadBack()
    {
        QFETCH(QString, text);
        const QByteArray json = jsonString(text);
        for (const char c : json)
            QVERIFY(static_cast<unsigned char>(c) >= 0x20);
        QCOMPARE(QJsonDocument::fromJson('[' + json + ']').array().at(0).toString(), text);
    }

    void loneSurrogatesBecomeReplacementCharacters()
    {
        QCOMPARE(jsonString(QString(QChar(0xd800)) + 'a'), QByteArray("\"\xef\xbf\xbd"
                                                                      "a\""));
        QCOMPARE(jsonString(QString(QChar(0xdc00))), QByteArray("\"\xef\xbf\xbd\""));
    }

    void linesKeepTheOrderGiven()
    {
        QCOMPARE(jsonObjectLine({{"z", "1"}, {"a", jsonString("x")}}), QByteArray("{\"z\":1,\"a\":\"x\"}"));
        QCOMPARE(jsonObjectLine({}), QByteArray("{}"));
    }

    void compactKeepsLargeIntegersAndNesting()
    {
        const QByteArray text = R"({"a":[1,-9007199254740993,0.5,true,null,"x"],"b":{"c":{}}})";
        QCOMPARE(jsonCompact(QJsonDocument::fromJson(text).object()), text);
        QCOMPARE(jsonCompact(QJsonValue(std::nan(""))), QByteArray("\"NaN\""));
        QCOMPARE(jsonCompact(QJsonValue(QJsonValue::Undefined)), QByteArray("null"));
    }

    void fallbackForWhatIsNoNumber()
    {
        QCOMPARE(doubleFromJson(QJsonValue("abc"), 5.0), 5.0);
        QCOMPARE(doubleFromJson(QJsonValue(true), 5.0), 5.0);
        QCOMPARE(doubleFromJson(QJsonValue("-Infinity"), 5.0), -std::numeric_limits<double>::infinity());
    }

    void fileErrorsNameFileAndLine_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("part");
        QTest::newRow("third line") << QByteArray("{\n\"a\": 1,\n oops}") << "line 3";
        QTest::newRow("empty") << QByteArray() << "line 1";
        QTest::newRow("list") << QByteArray("[1]") << "no JSON object";
        QTest::newRow("deep") << QByteArray(100000, '[') << "nested";
        QTest::newRow("too large") << QByteArray(2000000, ' ') << "larger than";
    }
    void fileErrorsNameFileAndLine()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, part);
        QTemporaryDir folder;
        const fs::path file = pathFromText(folder.filePath("model.json"));
        TW_VERIFY(writeFileAtomically(file, bytes));
        const auto read = readJsonObject(file, errors::InvalidModelDirectory, 1000000);
        QVERIFY(!read.ok());
        QCOMPARE(read.error().name, QString(errors::InvalidModelDirectory));
        QVERIFY2(read.error().sentence().contains(part), qPrintable(read.error().sentence()));
        QVERIFY(read.error().sentence().contains("model.json"));
    }
};

QTEST_GUILESS_MAIN(TestJson)
#include "tst_json.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"

#include <QJsonObject>
#include <QTest>

using namespace tw;

class TestPaths : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void bytesSurviveJson_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<bool>("isText");
        QTest::newRow("ascii") << QByteArray("/data/a b") << true;
        QTest::newRow("utf8") << QByteArray("/data/größe/猫.png") << true;
        QTest::newRow("latin1") << QByteArray("/data/gr\xf6\xdf"
                                              "e%20.png")
                                << false;
        QTest::newRow("truncated utf8") << QByteArray("/a\xe7\x8c") << false;
        QTest::newRow("surrogate") << QByteArray("/a\xed\xa0\x80") << false;
        QTest::newRow("percent in text") << QByteArray("/100%41") << true;
    }
    void bytesSurviveJson()
    {
        QFETCH(QByteArray, bytes);
        const QJsonValue json = pathToJson(pathFromBytes(bytes));
        QTEST(json.isString(), "isText");
        QCOMPARE(bytesFromPath(pathFromJson(json)), bytes);
        if (!json.isString()) {
            QCOMPARE(json.toObject().value("raw"), QJsonValue(true));
            QVERIFY(json.toObject().value("path").toString().startsWith('/'));
        }
    }

    void otherJsonIsNoPath_data()
    {
        QTest::addColumn<QJsonValue>("json");
        QTest::newRow("number") << QJsonValue(3);
        QTest::newRow("null") << QJsonValue();
        QTest::newRow("not raw") << QJsonValue(QJsonObject{{"path", "a"}});
        QTest::newRow("raw of a number") << QJsonValue(QJsonObject{{"path", 1}, {"raw", true}});
    }
    void otherJsonIsNoPath()
    {
        QFETCH(QJsonValue, json);
        QVERIFY(pathFromJson(json).empty());
    }

    void homeIsExpandedInTypedTextOnly()
    {
        qputenv("HOME", "/home/someone");
        QCOMPARE(pathFromText("~/x"), fs::path("/home/someone/x"));
        QCOMPARE(pathFromText("~"), fs::path("/home/someone"));
        QCOMPARE(pathFromText("~x/y"), fs::path("~x/y"));
        QCOMPARE(pathFromBytes("~/x"), fs::path("~/x"));
    }

    void invalidBytesAreShownAsReplacement()
    {
        QCOMPARE(displayPath(pathFromBytes("a\xff")), QStringLiteral("a\uFFFD"));
    }
};

QTEST_GUILESS_MAIN(TestPaths)
#include "tst_paths.moc"

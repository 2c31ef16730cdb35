// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/address.h"

#include <QtTest>

using namespace tw;

/// Which texts are addresses, and what their files are called.
class AddressTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void addresses_data();
    void addresses();
};

void AddressTest::addresses_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("address");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char *text, bool address, const char *name, const char *fault = "") {
        QTest::newRow(text) << QByteArray(text) << address << name << fault;
    };
    row("https://host/a/set.zip", true, "set.zip");
    row("HTTP://host:81/set.zip?download=1#x", true, "set.zip");
    row(" https://host/my%20set.tar.gz ", true, "my set.tar.gz");
    row("https://host/a%2F..%2Fb.zip", true, "a_.._b.zip");
    row("https://host/..%2F..%2Fb.zip", true, "___.._b.zip");
    row("https://host/.zip", true, "_zip");
    row("https://user:secret@host/set.zip", true, "set.zip");
    row("https://host/", true, "", "names no file");
    row("https://host", true, "", "names no file");
    row("https:///set.zip", true, "set.zip", "names no server");
    row("ftp://host/set.zip", true, "set.zip", "neither of http:// nor of https://");
    row("s3://bucket/set.zip", true, "set.zip", "neither of http:// nor of https://");
    row("/data/set.zip", false, "set.zip");
    row("c:/data/set.zip", false, "set.zip");
    row("folder/http://x", false, "x");
}

void AddressTest::addresses()
{
    QFETCH(const QByteArray, text);
    QFETCH(const bool, address);
    QFETCH(const QString, name);
    QFETCH(const QString, fault);
    QCOMPARE(isAddress(text), address);
    if (!address)
        return;
    const std::string found = addressFileName(text);
    QVERIFY(found.find('/') == std::string::npos && !found.starts_with('.'));
    QCOMPARE(QString::fromStdString(found), name);
    const auto url = parseAddress(text);
    QCOMPARE(url.ok(), fault.isEmpty());
    if (!url.ok()) {
        QVERIFY2(url.error().sentence().contains(fault), qPrintable(url.error().sentence()));
        QVERIFY(!url.error().hint.isEmpty());
    } else {
        QVERIFY(!displayAddress(*url).contains(QLatin1String("secret")));
    }
}

QTEST_GUILESS_MAIN(AddressTest)
#include "tst_address.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"

#include "core/base/files.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

using namespace tw;

class TestHash : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void blake2bKnownAnswers()
    {
        QCOMPARE(blake2b(""), QByteArray("0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"));
        QCOMPARE(blake2b("abc"), QByteArray("bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"));
    }

    void sha256OfAFile_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArray>("hash");
        QTest::newRow("empty") << QByteArray()
                               << QByteArray("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        QTest::newRow("abc") << QByteArray("abc")
                             << QByteArray("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        QTest::newRow("a million a") << QByteArray(1000000, 'a')
                                     << QByteArray("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
    void sha256OfAFile()
    {
        QFETCH(QByteArray, bytes);
        QTemporaryDir folder;
        const fs::path file = pathFromText(folder.filePath("f"));
        TW_VERIFY(writeFileAtomically(file, bytes));
        const auto hash = sha256OfFile(file, errors::Library);
        TW_VERIFY(hash);
        QTEST(*hash, "hash");
    }

    void absentFileIsAnError()
    {
        const auto hash = sha256OfFile("/nonexistent/file", errors::InvalidModelDirectory);
        QVERIFY(!hash.ok());
        QCOMPARE(hash.error().name, QString(errors::InvalidModelDirectory));
        QVERIFY(hash.error().sentence().contains("/nonexistent/file"));
        QVERIFY(!sha256OfFile("/", errors::Library).ok());
    }
};

QTEST_GUILESS_MAIN(TestHash)
#include "tst_hash.moc"

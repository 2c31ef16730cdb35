// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"

#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tw;

class TestFiles : public QObject
{
    Q_OBJECT
    QTemporaryDir m_folder;
    fs::path at(const char *name) const { return pathFromText(m_folder.path()) / name; }
    static QStringList names(const fs::path &folder)
    {
        QStringList found;
        for (const auto &entry : fs::directory_iterator(folder))
            found.append(displayPath(entry.path().filename()));
        found.sort();
        return found;
    }

private Q_SLOTS:
    void init()
    {
        for (const auto &entry : fs::directory_iterator(pathFromText(m_folder.path())))
            fs::remove_all(entry.path());
    }

    void writesAndReplacesWithoutRemains()
    {
        TW_VERIFY(writeFileAtomically(at("a"), "one"));
        TW_VERIFY(writeFileAtomically(at("a"), QByteArray(3000000, 'x')));
        QCOMPARE(*readFile(at("a"), errors::Library), QByteArray(3000000, 'x'));
        QCOMPARE(names(at("")), QStringList{"a"});
    }

    void keepsPermissionsAndSymbolicLinks()
    {
        TW_VERIFY(writeFileAtomically(at("real"), "one"));
        ::chmod(at("real").c_str(), 0600);
        fs::create_symlink("real", at("link"));
        TW_VERIFY(writeFileAtomically(at("link"), "two"));
        QVERIFY(fs::is_symlink(at("link")));
        QCOMPARE(*readFile(at("real"), errors::Library), QByteArray("two"));
        QCOMPARE(int(fs::status(at("real")).permissions()), 0600);
    }

    void danglingLinksLeadToANewFile()
    {
        fs::create_symlink("new", at("middle"));
        fs::create_symlink(at("middle"), at("link"));
        TW_VERIFY(writeFileAtomically(at("link"), "1"));
        QVERIFY(fs::is_symlink(at("link")) && fs::is_symlink(at("middle")));
        QCOMPARE(*readFile(at("new"), errors::Library), QByteArray("1"));
    }

    void devicesAndPipesAreNotReplaced()
    {
        QCOMPARE(::mkfifo(at("pipe").c_str(), 0600), 0);
        const auto unread = writeFileAtomically(at("pipe"), "1");
        QVERIFY(!unread.ok() && unread.error().name == QLatin1String(errors::FailedToWriteOutputs));
        const int reader = ::open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK);
        TW_VERIFY(writeFileAtomically(at("pipe"), "through"));
        char bytes[16] = {};
        QCOMPARE(::read(reader, bytes, sizeof bytes), ssize_t(7));
        ::close(reader);
        QCOMPARE(QByteArray(bytes), QByteArray("through"));
        QVERIFY(fs::is_fifo(at("pipe")));
        TW_VERIFY(writeFileAtomically("/dev/null", "1"));
        QVERIFY(fs::is_character_file("/dev/null"));
        const auto full = writeFileAtomically("/dev/full", "1");
        QVERIFY(!full.ok() && full.error().hint.contains("disk is full"));
        QVERIFY(fs::is_character_file("/dev/full"));
    }

    void namesThatAreNotUtf8AndLongNamesWork()
    {
        const fs::path odd = at("x").parent_path()
                             / pathFromBytes("gr\xf6\xdf"
                                             "e");
        TW_VERIFY(writeFileAtomically(odd, "1"));
        QCOMPARE(*readFile(odd, errors::Library), QByteArray("1"));
        TW_VERIFY(writeFileAtomically(at(std::string(255, 'n').c_str()), "1"));
    }

    void readErrorsNameFileAndReason_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QString>("part");
        QTest::newRow("absent") << QByteArray("nothing") << "No such file";
        QTest::newRow("folder") << QByteArray("folder") << "directory";
        QTest::newRow("too large") << QByteArray("large") << "larger than the 10 bytes";
    }
    void readErrorsNameFileAndReason()
    {
        QFETCH(QByteArray, name);
        QFETCH(QString, part);
        TW_VERIFY(makeFolder(at("folder")));
        TW_VERIFY(writeFileAtomically(at("large"), "12345678901"));
        const auto read = readFile(at(name.constData()), errors::InvalidDataset, 10);
        QVERIFY(!read.ok());
        QCOMPARE(read.error().name, QString(errors::InvalidDataset));
        QVERIFY2(read.error().sentence().contains(part), qPrintable(read.error().sentence()));
        QVERIFY(read.error().sentence().contains(QString(name)));
    }

    void exactlyTheLargestSizeIsRead()
    {
        TW_VERIFY(writeFileAtomically(at("ten"), "1234567890"));
        QCOMPARE(readFile(at("ten"), errors::Library, 10)->size(), 10);
    }

    void writeErrorsLeaveTheOldFile()
    {
        TW_VERIFY(writeFileAtomically(at("file"), "old"));
        const auto below = writeFileAtomically(at("file") / "x", "new");
        QVERIFY(!below.ok());
        QCOMPARE(below.error().name, QString(errors::FailedToWriteOutputs));
        TW_VERIFY(makeFolder(at("folder")));
        QVERIFY(!writeFileAtomically(at("folder"), "new").ok());
        QVERIFY(!makeFolder(at("file")).ok());
        QCOMPARE(*readFile(at("file"), errors::Library), QByteArray("old"));
        QCOMPARE(names(at("")), QStringList({"file", "folder"}));
    }

    void fullDiskIsReported()
    {
        const auto full = writeFileAtomically("/dev/full/x", "1");
        QVERIFY(!full.ok());
        const auto hint = [](int number) { return writeError("x", number).hintSentence(); };
        QVERIFY(hint(ENOSPC).contains("full"));
        QVERIFY(hint(EROFS).contains("read-only"));
        QVERIFY(hint(EACCES).contains("permissions"));
        QVERIFY(!hint(EIO).isEmpty());
    }

    void folderAppearsWholeOrNotAtAll()
    {
        {
            AtomicFolder folder(at("model"));
            TW_VERIFY(folder.open());
            QVERIFY(folder.temporary().parent_path() == at("model").parent_path());
            TW_VERIFY(writeFileAtomically(folder.temporary() / "weights", "1"));
            QVERIFY(!fs::exists(at("model")));
        }
        QCOMPARE(names(at("")), QStringList());
        AtomicFolder folder(at("deep/er/model/"));
        TW_VERIFY(folder.open());
        TW_VERIFY(makeFolder(folder.temporary() / "sub"));
        TW_VERIFY(writeFileAtomically(folder.temporary() / "sub/weights", "1"));
        TW_VERIFY(folder.commit());
        QCOMPARE(*readFile(at("deep/er/model/sub/weights"), errors::Library), QByteArray("1"));
        QCOMPARE(names(at("deep/er")), QStringList{"model"});
    }

    void existingFoldersAreReplacedOnlyOnRequest_data()
    {
        QTest::addColumn<bool>("replace");
        QTest::addColumn<bool>("occupied");
        QTest::addColumn<bool>("works");
        QTest::newRow("occupied") << false << true << false;
        QTest::newRow("occupied, replace") << true << true << true;
        QTest::newRow("empty") << false << false << true;
    }
    void existingFoldersAreReplacedOnlyOnRequest()
    {
        QFETCH(bool, replace);
        QFETCH(bool, occupied);
        QFETCH(bool, works);
        TW_VERIFY(makeFolder(at("model")));
        if (occupied)
            TW_VERIFY(writeFileAtomically(at("model/old"), "old"));
        {
            AtomicFolder folder(at("model"), replace);
            TW_VERIFY(folder.open());
            TW_VERIFY(writeFileAtomically(folder.temporary() / "new", "new"));
            QCOMPARE(folder.commit().ok(), works);
        }
        QCOMPARE(names(at("model")), works ? QStringList{"new"} : QStringList{"old"});
        QCOMPARE(names(at("")), QStringList{"model"});
    }

    void fileInThePlaceOfAFolder()
    {
        TW_VERIFY(writeFileAtomically(at("model"), "file"));
        AtomicFolder refused(at("model"));
        TW_VERIFY(refused.open());
        const auto failed = refused.commit();
        QVERIFY(!failed.ok());
        QVERIFY(failed.error().hintSentence().contains("exists already"));
        AtomicFolder folder(at("model"), true);
        TW_VERIFY(folder.open());
        TW_VERIFY(folder.commit());
        QVERIFY(fs::is_directory(at("model")));
    }
};

QTEST_GUILESS_MAIN(TestFiles)
#include "tst_files.moc"

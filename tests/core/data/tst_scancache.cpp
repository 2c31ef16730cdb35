// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/scancache.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace tw;
using namespace tw::test;
using namespace std::chrono_literals;

/// A listing is handed out again only while nothing it was read from has changed.
class ScanCacheTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void listsOnce();
    void tooOldIsListedAgain();
    void changesAreNoticed_data();
    void changesAreNoticed();
    void changedDuringTheListing();
    void idxFiles();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()) / "set"; }
    /// As if nothing had been touched for an hour.
    void age(const fs::path &path) const;
    Result<ScanPtr> recent(std::chrono::milliseconds age = 1h) const
    {
        return scanRecent(root(), ScanOptions{true, {}}, age);
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void ScanCacheTest::init()
{
    forgetScans();
    m_folder = std::make_unique<QTemporaryDir>();
    writeClassFolders(root(), 6, 4, 4);
    writeBytes(root() / "a" / "deep" / "er" / "9.ppm", ppmOf(patternImage(4, 4, 9)));
    age(root());
}

void ScanCacheTest::age(const fs::path &path) const
{
    const auto before = fs::file_time_type::clock::now() - 1h;
    fs::last_write_time(path, before);
    if (fs::is_directory(path))
        for (const auto &entry : fs::recursive_directory_iterator(path))
            fs::last_write_time(entry.path(), before);
}

void ScanCacheTest::listsOnce()
{
    const auto first = recent();
    TW_VERIFY(first);
    QCOMPARE((*first)->manifest.size(), std::size_t(7));
    QCOMPARE(recent()->get(), first->get());
    QCOMPARE(scanRemembered(root(), ScanOptions{true, {}})->get(), first->get());
    QVERIFY(scanRemembered(root(), ScanOptions{false, {}})->get() != first->get());
}

void ScanCacheTest::tooOldIsListedAgain()
{
    const auto first = recent();
    TW_VERIFY(first);
    // Overwritten in place: no folder changes, only the age of the listing helps.
    writeBytes(root() / "a" / "0.ppm", ppmOf(patternImage(5, 5, 1)));
    const auto second = recent(0ms);
    TW_VERIFY(second);
    QVERIFY((*second)->manifest.fingerprint != (*first)->manifest.fingerprint);
    QCOMPARE(recent()->get(), second->get());
}

void ScanCacheTest::changesAreNoticed_data()
{
    QTest::addColumn<QString>("added");
    QTest::newRow("in a class") << "a/new.ppm";
    QTest::newRow("deeper") << "a/deep/er/new.ppm";
    QTest::newRow("a new folder") << "a/deep/new/new.ppm";
    QTest::newRow("a new class") << "d/new.ppm";
}

void ScanCacheTest::changesAreNoticed()
{
    QFETCH(QString, added);
    const auto first = recent();
    TW_VERIFY(first);
    const fs::path file = root() / added.toStdString();
    writeBytes(file, ppmOf(patternImage(4, 4, 3)));
    const auto second = recent();
    TW_VERIFY(second);
    QCOMPARE((*second)->manifest.size(), (*first)->manifest.size() + 1);
    age(root());
    QCOMPARE((*recent())->manifest.size(), std::size_t(8));
    fs::remove(file);
    QCOMPARE((*recent())->manifest.size(), std::size_t(7));
}

// A folder as young as the listing may have changed behind the reader's back.
void ScanCacheTest::changedDuringTheListing()
{
    const auto soon = fs::file_time_type::clock::now() + 1min;
    fs::last_write_time(root() / "a" / "deep" / "er", soon);
    const auto first = recent();
    TW_VERIFY(first);
    QVERIFY(recent()->get() != first->get());
}

void ScanCacheTest::idxFiles()
{
    const fs::path folder = root().parent_path() / "idx";
    const fs::path images = writeIdxPair(folder, 6, 4, 4);
    age(folder);
    const auto first = scanRecent(folder, {}, 1h);
    TW_VERIFY(first);
    QCOMPARE(scanRecent(folder, {}, 1h)->get(), first->get());
    const auto before = fs::last_write_time(folder);
    writeIdxPair(folder, 9, 4, 4);
    fs::last_write_time(folder, before);
    const auto second = scanRecent(folder, {}, 1h);
    TW_VERIFY(second);
    QCOMPARE((*second)->manifest.size(), std::size_t(9));
}

QTEST_GUILESS_MAIN(ScanCacheTest)
#include "tst_scancache.moc"

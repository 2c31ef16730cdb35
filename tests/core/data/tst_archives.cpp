// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/archivefile.h"
#include "core/data/cachefolder.h"
#include "core/data/datasetscan.h"
#include "core/data/imagereader.h"
#include "tests/core/data/archivesamples.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

#include <sys/mount.h>

using namespace tw;
using namespace tw::test;

/// Zip, tar and compressed tar as data sets.
class ArchivesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void everyKindIsTheFolder_data();
    void everyKindIsTheFolder();
    void descends_data();
    void descends();
    void subfolder();
    void refused_data();
    void refused();
    void damagedPictures();
    void moreThanItClaims();
    void linksInATar();
    void cutShort_data();
    void cutShort();
    void unpacksOnce();
    void unpackedOnesGoByTheLimit();
    void fullDisk();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    static QByteArray picture(unsigned seed) { return ppmOf(patternImage(6, 5, seed)); }
    fs::path write(const std::string &name, const std::vector<Packed> &members) const;
    static QStringList samplesOf(const ImageManifest &manifest);
    std::unique_ptr<QTemporaryDir> m_folder;
};

fs::path ArchivesTest::write(const std::string &name, const std::vector<Packed> &members) const
{
    const fs::path file = root() / name;
    if (name.ends_with(".zip"))
        writeZip(file, members);
    else if (name.ends_with(".tar"))
        writeBytes(file, tarOf(members));
    else
        writeBytes(file, name.ends_with("bz2") ? bzip2Of(tarOf(members)) : gzipOf(tarOf(members)));
    return file;
}

QStringList ArchivesTest::samplesOf(const ImageManifest &manifest)
{
    QStringList out;
    for (std::size_t i = 0; i < manifest.size(); ++i)
        out.append(QString::fromLatin1(std::string(manifest.path(i)).c_str()) + QLatin1Char(' ')
                   + QString::number(manifest.category(i)));
    return out;
}

void ArchivesTest::everyKindIsTheFolder_data()
{
    QTest::addColumn<QString>("name");
    for (const char *name : {"a.zip", "a.ZIP.zip", "a.tar", "a.tar.gz", "a.tgz", "a.tar.bz2"})
        QTest::newRow(name) << name;
}

void ArchivesTest::everyKindIsTheFolder()
{
    QFETCH(const QString, name);
    const std::string longName = QByteArray("dog/").append(QByteArray(120, 'x')).append(".ppm").toStdString();
    const fs::path file = write(name.toStdString(), {{"./dog/2.ppm", picture(2)},
                                                     {"cat/1.ppm", picture(1)},
                                                     {longName, picture(3)},
                                                     {"not\xff/4.PPM", picture(4), '0', 0, -1, false, false},
                                                     {"__MACOSX/cat/._1.ppm", "x"},
                                                     {"cat/.hidden.ppm", "x"},
                                                     {"readme.txt", "x"}});
    auto scan = scanDataset(file, {});
    TW_VERIFY(scan);
    QCOMPARE(scan->manifest.categories, (std::vector<std::string>{"cat", "dog", "not\xff"}));
    QCOMPARE(scan->report.ignoredFiles, (std::vector<std::string>{"cat/.hidden.ppm", "readme.txt"}));
    QCOMPARE(scan->report.skippedFolders, (std::vector<std::string>{"__MACOSX"}));
    TW_VERIFY(verifyImages(*scan, VerifyMode::Header, false, 2, nullptr, {}));
    TW_VERIFY(verifyImages(*scan, VerifyMode::Full, false, 2, nullptr, {}));
    QCOMPARE(scan->manifest.key(0).size(), std::size_t(32));
    TW_VERIFY(scan->manifest.write(root() / "port"));
    const auto written = ImageManifest::read(root() / "port");
    TW_VERIFY(written);
    QCOMPARE(written->displayName(0), file.native() + "/cat/1.ppm");
    QCOMPARE(written->key(0), scan->manifest.key(0));
    QCOMPARE(samplesOf(*written), samplesOf(scan->manifest));
    const auto reader = ImageReader::open(std::make_shared<const ImageManifest>(*written));
    TW_VERIFY(reader);
    for (std::size_t i = 0; i < 4; ++i) {
        const auto image = (*reader)->read(i);
        TW_VERIFY(image);
        QVERIFY(image->pixels == patternImage(6, 5, unsigned(i + 1)).pixels);
    }
}

void ArchivesTest::descends_data()
{
    QTest::addColumn<QStringList>("members");
    QTest::addColumn<QStringList>("samples");
    QTest::newRow("one folder above") << QStringList{"set/a/1.ppm", "set/b/1.ppm", "__MACOSX/x.ppm", ".DS_Store"}
                                      << QStringList{"set/a/1.ppm 0", "set/b/1.ppm 1"};
    QTest::newRow("three above") << QStringList{"x/y/z/a/1.ppm", "x/y/z/b/1.ppm"}
                                 << QStringList{"x/y/z/a/1.ppm 0", "x/y/z/b/1.ppm 1"};
    QTest::newRow("single class") << QStringList{"set/cat/1.ppm"} << QStringList{"set/cat/1.ppm 0"};
    QTest::newRow("single class alone") << QStringList{"cat/1.ppm"} << QStringList{"cat/1.ppm 0"};
    QTest::newRow("a file beside") << QStringList{"set/a/1.ppm", "note.txt"} << QStringList{"set/a/1.ppm 0"};
    QTest::newRow("no folders") << QStringList{"1.ppm", "2.ppm"} << QStringList{"1.ppm -1", "2.ppm -1"};
}

void ArchivesTest::descends()
{
    QFETCH(const QStringList, members);
    QFETCH(const QStringList, samples);
    std::vector<Packed> packed;
    for (const QString &name : members)
        packed.push_back({name.toStdString(), picture(1)});
    for (const char *name : {"d.zip", "d.tar"}) {
        const auto scan = scanDataset(write(name, packed), {});
        TW_VERIFY(scan);
        QCOMPARE(samplesOf(scan->manifest), samples);
    }
}

void ArchivesTest::subfolder()
{
    const std::vector<Packed> members{
        {"set/train/a/1.ppm", picture(1)}, {"set/val/a/2.ppm", picture(2)}, {"set/val/b/3.ppm", picture(3)}};
    for (const char *name : {"s.zip", "s.tar", "s.tgz"}) {
        const fs::path file = write(name, members);
        for (const char *inside : {"val", "set/val", "./val/"}) {
            const auto scan = scanDataset(file, {false, {}, inside});
            TW_VERIFY(scan);
            QCOMPARE(samplesOf(scan->manifest), (QStringList{"set/val/a/2.ppm 0", "set/val/b/3.ppm 1"}));
        }
        for (const char *wrong : {"gone", "../val", "/set/val", "va"}) {
            const auto scan = scanDataset(file, {false, {}, wrong});
            QVERIFY(!scan.ok());
            QCOMPARE(scan.error().name, QLatin1String(errors::InvalidDataset));
            QCOMPARE(scan.error().parameter, QStringLiteral("subfolder"));
            QVERIFY(scan.error().sentence().contains(QLatin1String(wrong)));
        }
    }
}

void ArchivesTest::refused_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("member");
    QTest::addColumn<int>("flags");
    QTest::addColumn<int>("claimed");
    QTest::addColumn<QString>("reason");
    for (const char *file : {"r.zip", "r.tar", "r.tgz"}) {
        const auto row = [&](const char *name) -> QTestData & {
            return QTest::newRow(qPrintable(QLatin1String(file) + QLatin1String(": ") + QLatin1String(name)));
        };
        for (const char *member :
             {"../1.ppm", "a/../../1.ppm", "/a/1.ppm", "C:\\a\\1.ppm", "C:/a/1.ppm", "a\\..\\..\\1.ppm"})
            row(member) << file << member << 0 << -1 << "leads out";
        row("twice") << file << "a/ok.ppm" << 0 << -1 << "twice";
    }
    QTest::newRow("encrypted") << "r.zip"
                               << "a/2.ppm" << 1 << -1 << "encrypted";
    QTest::newRow("bomb") << "r.zip"
                          << "a/2.ppm" << 0 << 2'000'000'000 << "claims";
}

void ArchivesTest::refused()
{
    QFETCH(const QString, file);
    QFETCH(const QString, member);
    QFETCH(const int, flags);
    QFETCH(const int, claimed);
    QFETCH(const QString, reason);
    const fs::path path =
        write(file.toStdString(), {{"a/ok.ppm", picture(1)}, {member.toStdString(), picture(2), '0', flags, claimed}});
    const auto scan = scanDataset(path, {});
    QVERIFY(!scan.ok());
    QCOMPARE(scan.error().name, QLatin1String(errors::InvalidDataset));
    for (const QString &part : {file, member, reason})
        QVERIFY2(scan.error().sentence().contains(part), qPrintable(scan.error().sentence()));
    QVERIFY(!scan.error().hint.isEmpty());
}

void ArchivesTest::damagedPictures()
{
    const fs::path file = write("x.zip", {{"a/1.ppm", picture(1)},
                                          {"a/2.ppm", picture(2), '0', 0, -1, true},
                                          {"b/3.ppm", "no picture"},
                                          {"b/4.ppm", picture(4)}});
    auto scan = scanDataset(file, {});
    TW_VERIFY(scan);
    TW_VERIFY(verifyImages(*scan, VerifyMode::Full, true, 2, nullptr, {}));
    QCOMPARE(samplesOf(scan->manifest), (QStringList{"a/1.ppm 0", "b/4.ppm 1"}));
    QCOMPARE(scan->report.unreadable.size(), std::size_t(2));
    QVERIFY(scan->report.unreadable[0].reason.find("checksum") != std::string::npos);
    auto strict = scanDataset(file, {});
    const auto failed = verifyImages(*strict, VerifyMode::Full, false, 2, nullptr, {});
    QCOMPARE(failed.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY(failed.error().sentence().contains(QStringLiteral("x.zip/a/2.ppm")));
}

void ArchivesTest::moreThanItClaims()
{
    for (const int claimed : {50, 300}) {
        const fs::path file = write("lie.zip", {{"a/1.ppm", picture(1)}, {"b/2.ppm", picture(2), '0', 0, claimed}});
        auto scan = scanDataset(file, {});
        TW_VERIFY(scan);
        const auto failed = verifyImages(*scan, VerifyMode::Full, true, 2, nullptr, {});
        QVERIFY(!failed.ok());
        QCOMPARE(failed.error().name, QLatin1String(errors::InvalidDataset));
        QVERIFY(failed.error().sentence().contains(QStringLiteral("lie.zip"))
                && failed.error().sentence().contains(QStringLiteral("b/2.ppm")));
        fs::remove(file);
    }
}

void ArchivesTest::linksInATar()
{
    const fs::path file = write("l.tar", {{"a/1.ppm", picture(1)},
                                          {"b/hard.ppm", "a/1.ppm", '1'},
                                          {"b/soft.ppm", "../a/1.ppm", '2'},
                                          {"b/out.ppm", "../../etc/x.ppm", '2'},
                                          {"b/far.ppm", "/etc/x.ppm", '2'}});
    auto scan = scanDataset(file, {});
    TW_VERIFY(scan);
    QCOMPARE(samplesOf(scan->manifest), (QStringList{"a/1.ppm 0", "b/hard.ppm 1", "b/soft.ppm 1"}));
    QCOMPARE(scan->report.ignoredFiles, (std::vector<std::string>{"b/far.ppm", "b/out.ppm"}));
    QCOMPARE(scan->report.warnings.size(), std::size_t(2));
    TW_VERIFY(verifyImages(*scan, VerifyMode::Full, false, 1, nullptr, {}));
    QCOMPARE(scan->manifest.key(0), scan->manifest.key(2));
}

void ArchivesTest::cutShort_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("kept"); // percent; 0: no archive at all
    for (const char *name : {"c.zip", "c.tar", "c.tgz", "c.tar.bz2"})
        for (const int kept : {0, 40, 70})
            QTest::newRow(qPrintable(QStringLiteral("%1 %2").arg(QLatin1String(name)).arg(kept))) << name << kept;
}

void ArchivesTest::cutShort()
{
    QFETCH(const QString, name);
    QFETCH(const int, kept);
    std::vector<Packed> members;
    for (unsigned i = 0; i < 20; ++i)
        members.push_back(
            {"a/" + std::to_string(i) + ".ppm", ppmOf(patternImage(40, 40, i)), '0', 0, -1, false, false});
    const fs::path file = write(name.toStdString(), members);
    if (kept == 0)
        writeBytes(file, "this is no archive");
    else
        fs::resize_file(file, fs::file_size(file) * unsigned(kept) / 100);
    const auto scan = scanDataset(file, {});
    QVERIFY(!scan.ok());
    QCOMPARE(scan.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(scan.error().sentence().contains(name), qPrintable(scan.error().sentence()));
    QVERIFY(!scan.error().hint.isEmpty());
}

void ArchivesTest::unpacksOnce()
{
    const fs::path file = write("u.tar.gz", {{"a/1.ppm", picture(1)}, {"b/2.ppm", picture(2)}});
    auto scan = scanDataset(file, {});
    TW_VERIFY(scan);
    QVERIFY(!fs::exists(root() / "cache"));
    scan->manifest.unpacked = unpackedArchive(root() / "cache", file);
    TW_VERIFY(unpackArchive(file, scan->manifest.unpacked, nullptr));
    const auto time = fs::last_write_time(scan->manifest.unpacked);
    TW_VERIFY(unpackArchive(file, scan->manifest.unpacked, nullptr));
    QVERIFY(fs::last_write_time(scan->manifest.unpacked) == time);
    fs::remove_all(root() / "cache"); // safe to delete
    const auto reader = ImageReader::open(std::make_shared<const ImageManifest>(scan->manifest));
    TW_VERIFY(reader);
    TW_VERIFY((*reader)->read(1));
    QVERIFY(fs::exists(scan->manifest.unpacked));
    StopToken stop;
    stop.cancel = true;
    fs::remove_all(root() / "cache");
    QCOMPARE(unpackArchive(file, scan->manifest.unpacked, &stop).error().name, QLatin1String(errors::Canceled));
    QVERIFY(fs::is_empty(root() / "cache" / "archives")); // nothing half-written stays
}

void ArchivesTest::unpackedOnesGoByTheLimit()
{
    const fs::path file = write("limit.tgz", {{"a/1.ppm", ppmOf(patternImage(30, 30, 1))}});
    const fs::path cache = root() / "limited", unpacked = unpackedArchive(cache, file);
    qputenv("TRAINWRIGHT_CACHE_LIMIT_GB", "0");
    auto archive = ArchiveFile::open(file, unpacked);
    qunsetenv("TRAINWRIGHT_CACHE_LIMIT_GB");
    TW_VERIFY(archive);
    QVERIFY(fs::exists(unpacked)); // the one that was just asked for stays
    QVERIFY(makeRoomInCache(cache, 0, 0) < 0);
    QVERIFY(fs::exists(unpacked)); // in use
    archive->reset();
    QCOMPARE(makeRoomInCache(cache, 0, 0), std::int64_t(0));
    QVERIFY(!fs::exists(unpacked.parent_path()));
}

void ArchivesTest::fullDisk()
{
    const fs::path file = write(
        "full.tgz", {{"a/1.ppm", ppmOf(patternImage(300, 300, 1))}, {"b/2.ppm", ppmOf(patternImage(300, 300, 2))}});
    const fs::path disk = root() / "disk";
    fs::create_directories(disk);
    if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=128k") != 0)
        QSKIP("not allowed to mount a small disk");
    const fs::path unpacked = unpackedArchive(disk, file);
    const auto failed = unpackArchive(file, unpacked, nullptr);
    const bool clean = fs::exists(disk / "archives") && fs::is_empty(disk / "archives");
    ::umount2(disk.c_str(), MNT_DETACH);
    QVERIFY(!failed.ok());
    QCOMPARE(failed.error().name, QLatin1String(errors::FailedToWriteOutputs));
    QVERIFY(failed.error().sentence().contains(displayPath(unpacked)));
    QVERIFY(failed.error().hint.contains(QStringLiteral("disk is full")));
    QVERIFY(clean);
}

QTEST_GUILESS_MAIN(ArchivesTest)
#include "tst_archives.moc"

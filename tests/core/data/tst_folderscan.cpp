// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetscan.h"
#include "core/data/imagereader.h"
#include "core/data/verifiedfiles.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <fstream>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tw;
using namespace tw::test;

namespace {

bool mentions(const std::vector<std::string> &texts, const std::string &part)
{
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string &text) { return text.find(part) != std::string::npos; });
}

std::vector<std::string> pathsOf(const ImageManifest &manifest)
{
    std::vector<std::string> out;
    for (std::size_t i = 0; i < manifest.size(); ++i)
        out.emplace_back(manifest.path(i));
    return out;
}

void verified(ScanResult &scan, VerifyMode mode, const fs::path &memory)
{
    TW_VERIFY(verifyImages(scan, mode, true, 2, nullptr, {}, memory));
}

} // namespace

class FolderScanTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void cleanup() { fs::remove_all(root()); }
    void longNames();
    void pathsBeyondTheSystem();
    void order();
    void loops();
    void linksOfALinkOnce();
    void noRegularFiles();
    void unreadableFolder();
    void vanishes_data();
    void vanishes();
    void manyClasses();
    void largeFolder();
    void memoryOfAManifest();
    void headersAreRemembered();
    void memoryByFolder();
    void headerFineDataCut();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    void picture(const fs::path &path) { writeBytes(root() / path, ppmOf(patternImage(2, 2, 1))); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void FolderScanTest::longNames()
{
    const std::string name(251, 'n'), classes(255, 'c');
    picture(fs::path(classes) / (name + ".ppm"));
    picture(fs::path("b\nline\x1b[31m") / "x\x01.ppm");
    auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QCOMPARE(pathsOf(scan->manifest),
             (std::vector<std::string>{"b\nline\x1b[31m/x\x01.ppm", classes + '/' + name + ".ppm"}));
    verified(*scan, VerifyMode::Full, {});
    TW_VERIFY(scan->manifest.write(root() / "out"));
    const auto again = ImageManifest::read(root() / "out");
    TW_VERIFY(again);
    QCOMPARE(pathsOf(*again), pathsOf(scan->manifest));
    QCOMPARE(again->categories, scan->manifest.categories);
}

void FolderScanTest::pathsBeyondTheSystem()
{
    picture("a/1.ppm");
    const std::string part(200, 'd');
    int at = ::open((root() / "a").c_str(), O_RDONLY | O_DIRECTORY);
    for (int depth = 0; depth < 24; ++depth) { // 4824 bytes
        QCOMPARE(::mkdirat(at, part.c_str(), 0700), 0);
        const int below = ::openat(at, part.c_str(), O_RDONLY | O_DIRECTORY);
        ::close(at);
        at = below;
    }
    ::close(::openat(at, "lost.ppm", O_CREAT | O_WRONLY, 0600));
    ::close(at);
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QCOMPARE(pathsOf(scan->manifest), std::vector<std::string>{"a/1.ppm"});
    QVERIFY(mentions(scan->report.warnings, "longer than the system opens"));
}

void FolderScanTest::order()
{
    for (const char *path : {"a/x/1.ppm", "a/x.ppm", "a/x0.ppm", "a.b/1.ppm", "a/x-/1.ppm"})
        picture(path);
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QCOMPARE(pathsOf(scan->manifest),
             (std::vector<std::string>{"a/x-/1.ppm", "a/x.ppm", "a/x/1.ppm", "a/x0.ppm", "a.b/1.ppm"}));
}

void FolderScanTest::loops()
{
    picture("a/1.ppm");
    picture("b/1.ppm");
    fs::create_symlink("../b", root() / "a" / "b");
    fs::create_symlink("../a", root() / "b" / "a");
    fs::create_symlink("itself.ppm", root() / "a" / "itself.ppm");
    fs::create_symlink("itself", root() / "itself");
    fs::create_symlink(".", root() / "a" / "here");
    fs::create_symlink("..", root() / "up"); // what lies beside the root is no part of it
    fs::create_symlink("/", root() / "a" / "top");
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    const auto paths = pathsOf(scan->manifest);
    for (const char *path : {"a/1.ppm", "a/b/1.ppm", "b/1.ppm", "b/a/1.ppm"})
        QVERIFY2(std::find(paths.begin(), paths.end(), path) != paths.end(), path);
    QCOMPARE(scan->manifest.size(), std::size_t(4));
    for (const char *link : {"up", "a/top", "a/here", "a/b/a"})
        QVERIFY2(mentions(scan->report.skippedFolders, link), link);
    QVERIFY(mentions(scan->report.warnings, "a/itself.ppm"));
    QVERIFY(mentions(scan->report.ignoredFiles, "itself"));
}

// Every folder links to every other: followed without end this would be 12! lists.
void FolderScanTest::linksOfALinkOnce()
{
    for (int from = 0; from < 12; ++from) {
        picture(std::to_string(from) + "/1.ppm");
        for (int to = 0; to < 12; ++to)
            if (to != from)
                fs::create_symlink("../" + std::to_string(to),
                                   root() / std::to_string(from) / std::string("to").append(std::to_string(to)));
    }
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QCOMPARE(scan->manifest.size(), std::size_t(144)); // each class: its own and each other once
    QVERIFY(mentions(scan->report.warnings, "listed once"));
}

void FolderScanTest::noRegularFiles()
{
    picture("a/1.ppm");
    QCOMPARE(::mkfifo((root() / "a" / "pipe.jpg").c_str(), 0600), 0);
    fs::create_symlink("/dev/zero", root() / "a" / "zero.jpg");
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string place = (root() / "a" / "socket.jpg").native();
    QVERIFY(place.size() < sizeof address.sun_path);
    qstrncpy(address.sun_path, place.c_str(), sizeof address.sun_path);
    QCOMPARE(::bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof address), 0);
    auto scan = scanDataset(root(), {});
    ::close(socket);
    TW_VERIFY(scan);
    QCOMPARE(pathsOf(scan->manifest), std::vector<std::string>{"a/1.ppm"});
    for (const char *name : {"a/pipe.jpg", "a/zero.jpg", "a/socket.jpg"})
        QVERIFY2(mentions(scan->report.ignoredFiles, name), name);
}

// In a process of its own, which is no superuser.
void FolderScanTest::unreadableFolder()
{
    picture("a/1.ppm");
    picture("a/closed/2.ppm");
    picture("b/1.ppm");
    fs::permissions(root(), fs::perms(0755));
    fs::permissions(root() / "a" / "closed", fs::perms(0));
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
            ::_exit(50);
        auto scan = scanDataset(root(), {});
        if (!scan.ok() || scan->manifest.size() != 2 || scan->report.unreadable.size() != 1
            || scan->report.unreadable[0].path != "a/closed/")
            ::_exit(1);
        ScanResult strict = *scan;
        const auto refused = verifyImages(strict, VerifyMode::Header, false, 1, nullptr, {});
        if (refused.ok() || !refused.error().sentence().contains(QLatin1String("a/closed")))
            ::_exit(2);
        ::_exit(verifyImages(*scan, VerifyMode::Header, true, 1, nullptr, {}).ok() ? 0 : 3);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    fs::permissions(root() / "a" / "closed", fs::perms(0700));
    if (WEXITSTATUS(status) == 50)
        QSKIP("this user cannot become another");
    QCOMPARE(WEXITSTATUS(status), 0);
}

void FolderScanTest::vanishes_data()
{
    QTest::addColumn<bool>("skip");
    QTest::newRow("skip") << true;
    QTest::newRow("fail") << false;
}

void FolderScanTest::vanishes()
{
    QFETCH(const bool, skip);
    picture("a/1.ppm");
    picture("a/2.ppm");
    auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    fs::remove(root() / "a" / "2.ppm");
    const auto outcome = verifyImages(*scan, VerifyMode::Header, skip, 2, nullptr, {});
    QCOMPARE(outcome.ok(), skip);
    if (!skip) {
        QCOMPARE(outcome.error().name, QLatin1String(errors::InvalidDataset));
        QVERIFY(outcome.error().sentence().contains(QLatin1String("a/2.ppm")));
        return;
    }
    QCOMPARE(pathsOf(scan->manifest), std::vector<std::string>{"a/1.ppm"});
    QCOMPARE(scan->report.unreadable[0].path, std::string("a/2.ppm"));
}

void FolderScanTest::manyClasses()
{
    constexpr int count = 2000;
    for (int i = 0; i < count; ++i)
        picture(std::string("c").append(std::to_string(i)).append("/1.ppm"));
    std::int64_t told = 0;
    const auto scan = scanDataset(root(), {}, nullptr, [&](std::int64_t found) {
        QVERIFY(found >= told);
        told = found;
    });
    TW_VERIFY(scan);
    QCOMPARE(told, std::int64_t(count));
    QCOMPARE(int(scan->manifest.categories.size()), count);
    QVERIFY(std::is_sorted(scan->manifest.categories.begin(), scan->manifest.categories.end()));
    for (std::size_t i = 0; i < scan->manifest.size(); ++i)
        QCOMPARE(std::string(scan->manifest.path(i)),
                 scan->manifest.categories[std::size_t(scan->manifest.category(i))] + "/1.ppm");
}

void FolderScanTest::largeFolder() // larger than one slice of asking
{
    constexpr std::size_t count = 9000;
    picture("100000.ppm");
    for (std::size_t i = 1; i < count; ++i)
        fs::create_hard_link(root() / "100000.ppm", root() / (std::to_string(100000 + i) + ".ppm"));
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QCOMPARE(scan->manifest.size(), count);
    for (std::size_t i = 0; i < count; ++i)
        QVERIFY(scan->manifest.bytes(i) > 0 && (i == 0 || scan->manifest.path(i - 1) < scan->manifest.path(i)));
}

void FolderScanTest::memoryOfAManifest()
{
    constexpr std::size_t count = 100'000;
    ImageManifest manifest;
    manifest.categories = {"a"};
    for (std::size_t i = 0; i < count; ++i) // without reserve(): also what growing leaves over
        manifest.add(
            std::string("class_of_a_usual_length/picture_").append(std::to_string(1'000'000 + i)).append(".jpeg"), 0, 1,
            1);
    manifest.setKeys(std::string(count * ImageManifest::KeyBytes, 'k'));
    QVERIFY2(manifest.memoryBytes() / count <= 200, qPrintable(QString::number(manifest.memoryBytes() / count)));
    QVERIFY(manifest.memoryBytes() / count >= 28 + 32 + 44);
    QCOMPARE(manifest.key(count - 1), std::string_view("kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"));
}

void FolderScanTest::headersAreRemembered()
{
    picture("a/1.ppm");
    const fs::path file = root() / "a" / "1.ppm", memory = root() / "files.db";
    const auto before = fs::file_time_type::clock::now() - std::chrono::hours(1);
    fs::last_write_time(file, before);
    const auto verify = [&](VerifyMode mode) {
        auto scan = scanDataset(root(), {});
        return scan.ok() && verifyImages(*scan, mode, false, 1, nullptr, {}, memory).ok();
    };
    const auto spoil = [&] { // same size, same time, same inode
        std::fstream(file, std::ios::in | std::ios::out).write("broken", 6);
        fs::last_write_time(file, before);
    };
    QVERIFY(verify(VerifyMode::Header));
    spoil();
    QVERIFY(verify(VerifyMode::Header)); // not read again
    QVERIFY(!verify(VerifyMode::Full));  // a header says nothing about the rest
    picture("a/1.ppm");
    fs::last_write_time(file, before - std::chrono::hours(1));
    QVERIFY(verify(VerifyMode::Full));
    std::fstream(file, std::ios::in | std::ios::out).write("broken", 6);
    fs::last_write_time(file, before - std::chrono::hours(1));
    QVERIFY(verify(VerifyMode::Header)); // decoded whole counts for the header too
    fs::last_write_time(file, before);   // known once, as another file
    QVERIFY(!verify(VerifyMode::Header));
}

void FolderScanTest::memoryByFolder()
{
    const FileIdentity identity{10, 20, 30};
    const std::string key(32, 'k');
    VerifiedFiles files(root() / "files.db");
    QVERIFY(files.isOpen());
    for (int i = 0; i < 50; ++i) // more than the rows that are kept apart
        files.remember({{"/set/a", {{std::to_string(i), identity, key, "facts"}, {"header", identity}}}});
    files.remember({{"/set/a", {{"0", identity}}}, {"/set/b", {{"0", {1, 1, 1}}}}});
    const VerifiedFolder known = files.recall("/set/a");
    QCOMPARE(known.size(), std::size_t(51));
    for (int i = 0; i < 50; ++i) // "0" keeps its key: the same file, read in full before
        QCOMPARE(std::string(known.find(std::to_string(i), identity).value_or(VerifiedFolder::Known{}).key), key);
    QCOMPARE(known.find("7", identity)->facts, std::string_view("facts"));
    QVERIFY(known.find("header", identity).has_value() && known.find("header", identity)->key.empty());
    QVERIFY(!known.find("0", {10, 21, 30}) && !known.find("none", identity));
    QVERIFY(!files.recall("/set/b").find("0", identity));
    QCOMPARE(files.recall("/set").size(), std::size_t(0));
}

// What `verify` = header lets through is met by the loader, which asks the manifest's policy.
void FolderScanTest::headerFineDataCut()
{
    picture("a/1.ppm");
    writeBytes(root() / "a" / "cut.ppm", ppmOf(patternImage(20, 20, 1)).chopped(300));
    auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    ScanResult full = *scan;
    TW_VERIFY(verifyImages(*scan, VerifyMode::Header, false, 1, nullptr, {}));
    QCOMPARE(scan->manifest.size(), std::size_t(2));
    const auto reader = ImageReader::open(std::make_shared<const ImageManifest>(scan->manifest));
    TW_VERIFY(reader);
    TW_VERIFY((*reader)->read(0));
    QCOMPARE((*reader)->read(1).error().name, QLatin1String(errors::InvalidImage));
    verified(full, VerifyMode::Full, {});
    QCOMPARE(pathsOf(full.manifest), std::vector<std::string>{"a/1.ppm"});
}

QTEST_GUILESS_MAIN(FolderScanTest)
#include "tst_folderscan.moc"

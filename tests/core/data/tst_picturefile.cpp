// SPDX-License-Identifier: GPL-3.0-or-later
// The file of decoded pictures and its folder: kill -9, full disks, damaged files, eviction.
#include "core/data/cachefolder.h"
#include "core/data/picturefile.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <numeric>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tw;
using namespace tw::test;

namespace {

const QByteArray plan(32, 'p');

PictureKey keyOf(unsigned number)
{
    PictureKey key{};
    key[0] = std::uint8_t(number);
    key[1] = std::uint8_t(number >> 8);
    return key;
}

QString noLimit(std::int64_t)
{
    return {};
}

/// Pictures `first` to `last` − 1, up to the first that is not kept; its reason.
QString fill(PictureFile &file, unsigned first, unsigned last, int edge = 32)
{
    QString reason;
    for (unsigned i = first; i < last && reason.isEmpty(); ++i) {
        const ImageBuffer image = patternImage(edge, edge + int(i % 5), i);
        file.append(keyOf(i), viewOf(image), noLimit, reason);
    }
    return reason;
}

/// Whether every entry is a picture of fill().
bool isSound(const PictureFile &file, int edge = 32)
{
    for (const PictureFile::Entry &entry : file.entries()) {
        const unsigned i = entry.key[0] + 256U * entry.key[1];
        const ImageBuffer image = patternImage(edge, edge + int(i % 5), i);
        if (entry.bytes() != image.pixels.size()
            || std::memcmp(file.pixels(entry), image.pixels.data(), entry.bytes()) != 0
            || entry.pixelSum != quickSum(image.pixels.data(), image.pixels.size(), 0))
            return false;
    }
    return true;
}

} // namespace

class PictureFileTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void writtenAndFoundAgain();
    void viewsWithStride();
    void killedWhileFilling_data();
    void killedWhileFilling();
    void thrownAway_data();
    void thrownAway();
    void cutFileKeepsWhatIsWhole();
    void oneWriterAtATime();
    void indexIsBounded();
    void fullDisk_data();
    void fullDisk();
    void sumSeesEveryByte();
    void leastRecentlyUsedGoesFirst();
    void filesInUseStay();
    void removedFileStaysReadable();
    void limitIsASetting_data();
    void limitIsASetting();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    fs::path file() const { return root() / "one.pictures"; }
    std::unique_ptr<PictureFile> create(const fs::path &at, std::size_t capacity = 400)
    {
        QString reason;
        return PictureFile::create(at, plan, capacity, reason);
    }
    /// Of 8 kB, last used `age` seconds ago.
    fs::path cacheItem(const char *name, int age);

    std::unique_ptr<QTemporaryDir> m_folder;
};

void PictureFileTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
}

void PictureFileTest::writtenAndFoundAgain()
{
    auto made = create(file());
    QVERIFY(made);
    QCOMPARE(fill(*made, 0, 100), QString());
    // Also while it is being written.
    QCOMPARE(PictureFile::open(file(), plan)->entries().size(), std::size_t(100));
    made.reset();
    const auto opened = PictureFile::open(file(), plan);
    QVERIFY(opened);
    QCOMPARE(opened->entries().size(), std::size_t(100));
    QVERIFY(isSound(*opened));
    QVERIFY(opened->becomeWriter());
    QCOMPARE(fill(*opened, 100, 150), QString());
    QCOMPARE(PictureFile::open(file(), plan)->entries().size(), std::size_t(150));
    QVERIFY(isSound(*PictureFile::open(file(), plan)));
}

void PictureFileTest::viewsWithStride()
{
    const ImageBuffer image = patternImage(40, 30, 3);
    const PixelView part{image.row(5) + 3 * 7, 20, 10, 3, 120};
    QString reason;
    auto made = create(file());
    const std::uint8_t *kept = made->append(keyOf(1), part, noLimit, reason);
    QVERIFY(kept);
    QVERIFY(bufferOf({kept, 20, 10, 3, 60}) == bufferOf(part));
}

void PictureFileTest::killedWhileFilling_data()
{
    QTest::addColumn<int>("after");
    for (const int after : {0, 1, 7, 60})
        QTest::newRow(QByteArray::number(after).constData()) << after;
}

void PictureFileTest::killedWhileFilling()
{
    QFETCH(const int, after);
    int pipe[2];
    QVERIFY(::pipe(pipe) == 0);
    const pid_t child = ::fork();
    QVERIFY(child >= 0);
    if (child == 0) {
        const auto made = create(file(), 100'000);
        char tick = 't';
        for (unsigned i = 0; made && ::write(pipe[1], &tick, 1) == 1; ++i)
            fill(*made, i, i + 1);
        ::_exit(1);
    }
    ::close(pipe[1]);
    std::vector<char> ticks(std::size_t(after) + 1);
    for (char &tick : ticks)
        QCOMPARE(::read(pipe[0], &tick, 1), ssize_t(1));
    ::kill(child, SIGKILL); // in the middle of whatever it does
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(pipe[0]);
    QVERIFY(WIFSIGNALED(status));
    const auto opened = PictureFile::open(file(), plan);
    QVERIFY(opened);
    const auto found = unsigned(opened->entries().size());
    QVERIFY(found >= unsigned(after));
    QVERIFY(isSound(*opened));
    QVERIFY(opened->becomeWriter()); // its lock went with the program
    QCOMPARE(fill(*opened, found, found + 10), QString());
    const auto next = PictureFile::open(file(), plan);
    QCOMPARE(next->entries().size(), std::size_t(found + 10));
    QVERIFY(isSound(*next));
}

void PictureFileTest::thrownAway_data()
{
    QTest::addColumn<int>("place");     // byte that is changed; -1: none
    QTest::addColumn<qint64>("length"); // the file is cut to this; -1: not
    QTest::newRow("no pictures file") << 0 << qint64(-1);
    QTest::newRow("newer version") << 8 << qint64(-1);
    QTest::newRow("other byte order") << 12 << qint64(-1);
    QTest::newRow("another plan") << 20 << qint64(-1);
    QTest::newRow("another capacity") << 50 << qint64(-1);
    QTest::newRow("empty") << -1 << qint64(0);
    QTest::newRow("cut in the header") << -1 << qint64(40);
    QTest::newRow("cut in the index") << -1 << qint64(9000);
}

void PictureFileTest::thrownAway()
{
    QFETCH(const int, place);
    QFETCH(const qint64, length);
    QCOMPARE(fill(*create(file()), 0, 5), QString());
    if (place >= 0) {
        std::fstream bytes(file(), std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(place);
        bytes.put('\x77');
    }
    if (length >= 0)
        fs::resize_file(file(), std::uintmax_t(length));
    {
        const int user = ::open(file().c_str(), O_RDONLY | O_CLOEXEC);
        QVERIFY(markUsed(user));
        QVERIFY(!PictureFile::open(file(), plan));
        QVERIFY(fs::exists(file())); // somebody knows what it is
        ::close(user);
    }
    QVERIFY(!PictureFile::open(file(), plan));
    QVERIFY(!fs::exists(file()));
}

void PictureFileTest::cutFileKeepsWhatIsWhole()
{
    QCOMPARE(fill(*create(file()), 0, 20), QString());
    const auto whole = fs::file_size(file());
    fs::resize_file(file(), whole - 5000);
    const auto opened = PictureFile::open(file(), plan);
    QVERIFY(opened);
    QVERIFY(opened->entries().size() >= 17 && opened->entries().size() < 20);
    QVERIFY(isSound(*opened));
    // An entry of which a byte is wrong is no entry.
    std::fstream bytes(file(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(4096 + 3 * 64 + 35);
    bytes.put('\x77');
    bytes.close();
    const auto next = PictureFile::open(file(), plan);
    QCOMPARE(next->entries().size(), opened->entries().size() - 1);
    QVERIFY(isSound(*next));
}

void PictureFileTest::oneWriterAtATime()
{
    auto first = create(file());
    const auto second = PictureFile::open(file(), plan);
    QVERIFY(!second->becomeWriter());
    QCOMPARE(fill(*first, 0, 10), QString());
    first.reset();
    QVERIFY(second->becomeWriter());
    QCOMPARE(fill(*second, 10, 20), QString()); // behind those that came after it was opened
    const auto all = PictureFile::open(file(), plan);
    QCOMPARE(all->entries().size(), std::size_t(20));
    QVERIFY(isSound(*all));
}

void PictureFileTest::indexIsBounded()
{
    auto made = create(file(), 3);
    QVERIFY(fill(*made, 0, 5).contains(QStringLiteral("index")));
    made.reset();
    const auto opened = PictureFile::open(file(), plan);
    QCOMPARE(opened->entries().size(), std::size_t(3));
    QVERIFY(!opened->becomeWriter());
}

void PictureFileTest::fullDisk_data()
{
    QTest::addColumn<bool>("mounts");
    QTest::newRow("small disk") << true;
    QTest::newRow("limit of the system") << false;
}

void PictureFileTest::fullDisk()
{
    QFETCH(const bool, mounts);
    const fs::path disk = root() / "disk";
    fs::create_directories(disk);
    struct rlimit before = {};
    if (mounts && ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0)
        QSKIP("not allowed to mount a small disk");
    ::getrlimit(RLIMIT_FSIZE, &before);
    const struct rlimit small = {256 << 10, before.rlim_max};
    if (!mounts)
        ::setrlimit(RLIMIT_FSIZE, &small);
    auto made = create(disk / "one.pictures");
    const QString reason = made ? fill(*made, 0, 400) : QString();
    const QString again = made ? fill(*made, 0, 1) : QString();
    made.reset();
    ::setrlimit(RLIMIT_FSIZE, &before);
    const auto opened = PictureFile::open(disk / "one.pictures", plan);
    const std::size_t kept = opened ? opened->entries().size() : 0;
    const bool sound = opened && isSound(*opened);
    if (mounts)
        ::umount2(disk.c_str(), MNT_DETACH);
    QVERIFY(!reason.isEmpty());
    QCOMPARE(again, QString()); // said once; nothing is tried any more
    QVERIFY(kept > 20 && kept < 80);
    QVERIFY(sound);
}

void PictureFileTest::sumSeesEveryByte()
{
    std::vector<std::uint8_t> bytes(100);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t(1));
    const std::uint64_t sum = quickSum(bytes.data(), bytes.size(), 0);
    for (std::uint8_t &byte : bytes) {
        byte ^= 1;
        QVERIFY(quickSum(bytes.data(), bytes.size(), 0) != sum);
        byte ^= 1;
    }
    QVERIFY(quickSum(bytes.data(), 99, 0) != sum);
    QVERIFY(quickSum(bytes.data(), 100, 1) != sum);
    std::swap(bytes[0], bytes[32]);
    QVERIFY(quickSum(bytes.data(), bytes.size(), 0) != sum);
    const std::vector<std::uint8_t> zeros(64);
    QVERIFY(quickSum(zeros.data(), 64, 0) != quickSum(zeros.data(), 32, 0));
}

fs::path PictureFileTest::cacheItem(const char *name, int age)
{
    const fs::path item = root() / name;
    writeBytes(item, QByteArray(8192, 'x'));
    const std::time_t now = std::time(nullptr);
    const struct timespec times[2] = {{now - age, 0}, {now, 0}};
    ::utimensat(AT_FDCWD, item.c_str(), times, 0);
    return item;
}

void PictureFileTest::leastRecentlyUsedGoesFirst()
{
    const fs::path newest = cacheItem("decoded/newest.pictures", 10);
    const fs::path oldest = cacheItem("decoded/oldest.pictures", 500);
    const fs::path archive = cacheItem("archives/abc/archive.tar", 100);
    const fs::path other = cacheItem("decoded/notes.txt", 900);
    QCOMPARE(makeRoomInCache(root(), 8192, 32768), std::int64_t(8192));
    QVERIFY(fs::exists(oldest));
    QCOMPARE(makeRoomInCache(root(), 9000, 32768), std::int64_t(16384));
    QVERIFY(!fs::exists(oldest));
    QVERIFY(fs::exists(archive) && fs::exists(newest));
    QCOMPARE(makeRoomInCache(root(), 0, 8192, archive), std::int64_t(0));
    QVERIFY(fs::exists(archive)); // the one to keep
    QVERIFY(!fs::exists(newest));
    QCOMPARE(makeRoomInCache(root(), 0, 100), std::int64_t(100));
    QVERIFY(!fs::exists(archive.parent_path()));
    QVERIFY(fs::exists(other)); // no business of the cache
}

void PictureFileTest::filesInUseStay()
{
    const fs::path used = cacheItem("decoded/used.pictures", 500), other = cacheItem("decoded/other.pictures", 10);
    const int user = ::open(used.c_str(), O_RDONLY | O_CLOEXEC);
    QVERIFY(::flock(user, LOCK_SH) == 0);
    QCOMPARE(makeRoomInCache(root(), 0, 100), std::int64_t(100 - 8192));
    QVERIFY(fs::exists(used) && !fs::exists(other));
    ::close(user);
    QCOMPARE(makeRoomInCache(root(), 0, 100), std::int64_t(100));
    QVERIFY(!fs::exists(used));
}

void PictureFileTest::removedFileStaysReadable()
{
    auto made = create(file());
    QCOMPARE(fill(*made, 0, 5), QString());
    const auto opened = PictureFile::open(file(), plan);
    fs::remove(file());
    QCOMPARE(fill(*made, 5, 10), QString());
    QVERIFY(isSound(*opened));
    QVERIFY(!PictureFile::open(file(), plan));
}

void PictureFileTest::limitIsASetting_data()
{
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<qint64>("bytes");
    QTest::newRow("default") << QByteArray() << qint64(50'000'000'000);
    QTest::newRow("number") << QByteArray("1.5") << qint64(1'500'000'000);
    QTest::newRow("nothing") << QByteArray("0") << qint64(0);
    QTest::newRow("text") << QByteArray("much") << qint64(50'000'000'000);
    QTest::newRow("negative") << QByteArray("-3") << qint64(50'000'000'000);
}

void PictureFileTest::limitIsASetting()
{
    QFETCH(const QByteArray, value);
    QFETCH(const qint64, bytes);
    const QByteArray before = qgetenv("TRAINWRIGHT_CACHE_LIMIT_GB");
    value.isNull() ? qunsetenv("TRAINWRIGHT_CACHE_LIMIT_GB") : qputenv("TRAINWRIGHT_CACHE_LIMIT_GB", value);
    const std::int64_t limit = cacheLimitBytes();
    before.isNull() ? qunsetenv("TRAINWRIGHT_CACHE_LIMIT_GB") : qputenv("TRAINWRIGHT_CACHE_LIMIT_GB", before);
    QCOMPARE(limit, bytes);
}

QTEST_GUILESS_MAIN(PictureFileTest)
#include "tst_picturefile.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/address.h"
#include "core/data/download.h"
#include "tests/core/data/datasamples.h"
#include "tests/core/data/httpserver.h"
#include "tests/support/testsupport.h"

#include <QCryptographicHash>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <thread>

#include <sys/mount.h>
#include <unistd.h>

using namespace tw;
using namespace tw::test;

/// Files from an HTTP server of this machine.
class DownloadTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void arrives_data();
    void arrives();
    void onlyOnce();
    void damagedInTheCache();
    void goesOnAfterCuts_data();
    void goesOnAfterCuts();
    void goesOnInALaterCall_data();
    void goesOnInALaterCall();
    void keepsThePartWhenCanceledAtOnce();
    void givesUp();
    void wrongHash_data();
    void wrongHash();
    void refused_data();
    void refused();
    void redirects();
    void silentServer_data();
    void silentServer();
    void cancel_data();
    void cancel();
    void noRightToWrite();
    void fullDisk();
    void twoAtOnce();
    void progressTells();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    fs::path place() const { return root() / "downloads" / hashOf(m_body).toStdString(); }
    static QByteArray hashOf(const QByteArray &bytes)
    {
        return QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex();
    }
    DownloadRequest request(const QByteArray &path = "/set.zip") const;
    static QByteArray contentOf(const fs::path &file);
    /// Nothing of the file and of its folder is left.
    bool isClean() const { return !fs::exists(place()); }
    QList<QByteArray> ranges() const;

    HttpServer m_server;
    QByteArray m_body;
    std::unique_ptr<QTemporaryDir> m_folder;
};

void DownloadTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_body.clear();
    for (int i = 0; i < 20'000; ++i)
        m_body += QByteArray::number(i) + ' ';
    m_server.forget();
    m_server.set("/set.zip", {m_body});
}

DownloadRequest DownloadTest::request(const QByteArray &path) const
{
    DownloadRequest wanted;
    const QByteArray address = m_server.address(path);
    wanted.url = parseAddress(address).value();
    wanted.fileName = addressFileName(address);
    wanted.sha256 = hashOf(m_body);
    wanted.cacheFolder = root();
    wanted.pause = std::chrono::milliseconds(1);
    return wanted;
}

QByteArray DownloadTest::contentOf(const fs::path &file)
{
    QFile in(QString::fromStdString(file.native()));
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

/// Of every request so far; empty: the whole was asked for.
QList<QByteArray> DownloadTest::ranges() const
{
    QList<QByteArray> found;
    for (const QByteArray &head : m_server.requests()) {
        const qsizetype at = head.indexOf("Range: bytes=");
        found.append(at < 0 ? QByteArray() : head.mid(at + 13, head.indexOf('-', at) - at - 13));
    }
    return found;
}

void DownloadTest::arrives_data()
{
    QTest::addColumn<bool>("saysLength");
    QTest::addColumn<int>("piece");
    QTest::addColumn<bool>("isEmpty");
    QTest::newRow("at once") << true << 0 << false;
    QTest::newRow("slowly") << true << 20'000 << false;
    QTest::newRow("chunked") << false << 0 << false;
    QTest::newRow("empty") << true << 0 << true;
}

void DownloadTest::arrives()
{
    QFETCH(const bool, saysLength);
    QFETCH(const int, piece);
    QFETCH(const bool, isEmpty);
    if (isEmpty)
        m_body.clear();
    Page page{m_body};
    page.saysLength = saysLength;
    page.pieceBytes = piece;
    m_server.set("/set.zip", page);
    const auto file = download(request());
    TW_VERIFY(file);
    QCOMPARE(file->path, place() / "set.zip");
    QCOMPARE(contentOf(file->path), m_body);
    QVERIFY(!file->wasThere);
    QVERIFY(!fs::exists(place() / ".set.zip.part"));
}

void DownloadTest::onlyOnce()
{
    TW_VERIFY(download(request()));
    m_server.set("/set.zip", {"another file"});
    m_server.forget();
    DownloadRequest again = request();
    again.sha256 = again.sha256.toUpper();
    const auto file = download(again);
    TW_VERIFY(file);
    QVERIFY(file->wasThere);
    QCOMPARE(contentOf(file->path), m_body);
    QVERIFY(m_server.requests().isEmpty());
    fs::remove(place() / ".set.zip.verified"); // then by its hash
    TW_VERIFY(download(request()));
    QVERIFY(m_server.requests().isEmpty());
    // The fingerprint of a data set holds the time of its file.
    const auto time = fs::last_write_time(file->path);
    fs::remove_all(root() / "downloads");
    m_server.set("/set.zip", {m_body});
    TW_VERIFY(download(request()));
    QVERIFY(fs::last_write_time(file->path) == time);
}

void DownloadTest::damagedInTheCache()
{
    const auto file = download(request());
    TW_VERIFY(file);
    const auto time = fs::last_write_time(file->path);
    std::fstream(file->path, std::ios::in | std::ios::out).write("wrong", 5);
    fs::last_write_time(file->path, time); // the same size and time as before
    const auto again = download(request());
    TW_VERIFY(again);
    QVERIFY(!again->wasThere);
    QCOMPARE(contentOf(again->path), m_body);
    fs::remove(file->path);
    TW_VERIFY(download(request()));
    QCOMPARE(contentOf(again->path), m_body);
}

void DownloadTest::goesOnAfterCuts_data()
{
    QTest::addColumn<bool>("saysLength");
    QTest::addColumn<bool>("hasRanges");
    QTest::addColumn<QByteArray>("tag");
    QTest::newRow("ranges and tag") << true << true << QByteArray("\"one\"");
    QTest::newRow("ranges without a tag") << true << true << QByteArray();
    QTest::newRow("weak tag") << true << true << QByteArray("W/\"one\"");
    QTest::newRow("chunked") << false << true << QByteArray("\"one\"");
    QTest::newRow("no ranges") << true << false << QByteArray();
}

void DownloadTest::goesOnAfterCuts()
{
    QFETCH(const bool, saysLength);
    QFETCH(const bool, hasRanges);
    QFETCH(const QByteArray, tag);
    Page page{m_body};
    page.saysLength = saysLength;
    page.hasRanges = hasRanges;
    page.tag = tag;
    page.cutAfter = 30'000;
    page.cuts = 2;
    m_server.set("/set.zip", page);
    const auto file = download(request());
    TW_VERIFY(file);
    QCOMPARE(contentOf(file->path), m_body);
    const QList<QByteArray> asked = ranges();
    QVERIFY(asked.size() >= 3);
    for (qsizetype i = 0; i < asked.size(); ++i) // Qt may ask the same again by itself
        QVERIFY(asked[i].isEmpty() || asked[i] == "30000" || (hasRanges && asked[i] == "60000"));
    if (!saysLength)
        return; // a cut may look like the end
    QVERIFY(std::is_sorted(asked.begin(), asked.end()) && asked.contains("30000"));
    QCOMPARE(m_server.requests().last().contains("If-Range"), tag.startsWith('"'));
}

void DownloadTest::goesOnInALaterCall_data()
{
    QTest::addColumn<QByteArray>("tag");
    QTest::addColumn<QByteArray>("begin"); // what the earlier try left, in place of the right bytes
    QTest::addColumn<QList<QByteArray>>("asked");
    QTest::newRow("the same tag") << QByteArray("\"one\"") << QByteArray() << QList<QByteArray>{"30000"};
    QTest::newRow("another tag") << QByteArray("\"two\"") << QByteArray() << QList<QByteArray>{"30000"};
    QTest::newRow("other bytes") << QByteArray("\"one\"") << QByteArray("x") << QList<QByteArray>{"30000", ""};
}

void DownloadTest::goesOnInALaterCall()
{
    QFETCH(const QByteArray, tag);
    QFETCH(const QByteArray, begin);
    QFETCH(const QList<QByteArray>, asked);
    Page page{m_body};
    page.tag = "\"one\"";
    page.cutAfter = 30'000;
    m_server.set("/set.zip", page);
    DownloadRequest once = request();
    once.tries = 1;
    page.cuts = 1;
    page.hasRanges = false; // the second try of the first call brings nothing new
    m_server.set("/set.zip", page);
    StopToken stop;
    once.stop = &stop;
    once.pause = std::chrono::milliseconds(200);
    once.progress = [&](const DownloadProgress &progress) { stop.cancel = progress.done >= 30'000; };
    QCOMPARE(download(once).error().name, QLatin1String(errors::Canceled));
    QCOMPARE(fs::file_size(place() / ".set.zip.part"), std::uintmax_t(30'000));
    if (!begin.isEmpty())
        std::fstream(place() / ".set.zip.part", std::ios::in | std::ios::out).write(begin.constData(), begin.size());
    page = Page{m_body};
    page.tag = tag;
    m_server.set("/set.zip", page);
    m_server.forget();
    const auto file = download(request());
    TW_VERIFY(file);
    QCOMPARE(contentOf(file->path), m_body);
    QCOMPARE(ranges(), asked);
}

void DownloadTest::keepsThePartWhenCanceledAtOnce()
{
    StopToken stop;
    DownloadRequest once = request();
    once.stop = &stop;
    once.progress = [&](const DownloadProgress &progress) { stop.cancel = progress.done >= 30'000; };
    Page page{m_body};
    page.silentAfter = 30'000;
    m_server.set("/set.zip", page);
    QCOMPARE(download(once).error().name, QLatin1String(errors::Canceled));
    QCOMPARE(download(once).error().name, QLatin1String(errors::Canceled));
    QCOMPARE(fs::file_size(place() / ".set.zip.part"), std::uintmax_t(30'000));
}

void DownloadTest::givesUp()
{
    Page page{m_body};
    page.cutAfter = 0;
    m_server.set("/set.zip", page);
    DownloadRequest wanted = request();
    wanted.tries = 3;
    const auto file = download(wanted);
    QVERIFY(!file.ok());
    QCOMPARE(file.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(file.error().sentence().contains(QLatin1String("/set.zip")), qPrintable(file.error().sentence()));
    QVERIFY(m_server.requests().size() >= 3);
}

void DownloadTest::wrongHash_data()
{
    QTest::addColumn<bool>("isCut");
    QTest::newRow("at once") << false;
    QTest::newRow("in pieces") << true;
}

void DownloadTest::wrongHash()
{
    QFETCH(const bool, isCut);
    QByteArray other = m_body;
    other[1234] = 'x';
    Page page{other};
    page.cutAfter = isCut ? 50'000 : -1;
    page.cuts = 1;
    m_server.set("/set.zip", page);
    const auto file = download(request());
    QVERIFY(!file.ok());
    QCOMPARE(file.error().name, QLatin1String(errors::InvalidDataset));
    const QString text = file.error().sentence();
    for (const QByteArray &hash : {hashOf(m_body), hashOf(other)})
        QVERIFY2(text.contains(QString::fromLatin1(hash)), qPrintable(text));
    QVERIFY(text.contains(QString::fromLatin1(m_server.address("/set.zip"))));
    QVERIFY(isClean());
    DownloadRequest weights = request();
    weights.errorName = errors::InvalidModelDirectory;
    QCOMPARE(download(weights).error().name, QLatin1String(errors::InvalidModelDirectory));
}

void DownloadTest::refused_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("reason");
    QTest::newRow("not found") << 404 << QByteArray("Not Found");
    QTest::newRow("forbidden") << 403 << QByteArray("Forbidden");
    QTest::newRow("login") << 401 << QByteArray("Unauthorized");
    QTest::newRow("fault") << 500 << QByteArray("Internal Server Error");
    QTest::newRow("busy") << 503 << QByteArray("Service Unavailable");
    QTest::newRow("nothing") << 204 << QByteArray("No Content");
}

void DownloadTest::refused()
{
    QFETCH(const int, status);
    QFETCH(const QByteArray, reason);
    m_server.set("/set.zip", {status == 204 ? QByteArray() : QByteArray("a page of words"), status, reason});
    const auto file = download(request());
    QVERIFY(!file.ok());
    QCOMPARE(file.error().name, QLatin1String(errors::InvalidDataset));
    const QString text = file.error().sentence();
    QVERIFY2(text.contains(QString::number(status)) && text.contains(QString::fromLatin1(reason)), qPrintable(text));
    QVERIFY(!file.error().hint.isEmpty());
    QVERIFY(isClean());
}

void DownloadTest::redirects()
{
    const auto leadTo = [&](const QByteArray &from, const QByteArray &to) {
        m_server.set(from, {"moved", 302, "Found", "Location: " + to + "\r\n"});
    };
    leadTo("/latest.zip", m_server.address("/set.zip"));
    const auto file = download(request("/latest.zip"));
    TW_VERIFY(file);
    QCOMPARE(file->path.filename(), fs::path("latest.zip")); // of the address that was given
    QCOMPARE(contentOf(file->path), m_body);
    fs::remove_all(root() / "downloads");
    leadTo("/a.zip", "/b.zip");
    leadTo("/b.zip", "/a.zip");
    const auto loop = download(request("/a.zip"));
    QVERIFY2(loop.error().sentence().contains(QLatin1String("more than 10 times")),
             qPrintable(loop.error().sentence()));
    for (const char *bad : {"file:///etc/passwd", "ftp://127.0.0.1/set.zip"}) {
        leadTo("/bad.zip", bad);
        const auto away = download(request("/bad.zip"));
        QVERIFY(!away.ok());
        QCOMPARE(away.error().name, QLatin1String(errors::InvalidDataset));
    }
    QVERIFY(isClean());
    DownloadRequest nobody = request();
    nobody.url = QUrl(QStringLiteral("http://127.0.0.1:1/set.zip"));
    const auto refused = download(nobody);
    QCOMPARE(refused.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(refused.error().sentence().contains(QLatin1String("cannot be reached")),
             qPrintable(refused.error().sentence()));
}

void DownloadTest::silentServer_data()
{
    QTest::addColumn<qint64>("after");
    QTest::newRow("from the beginning") << qint64(-1);
    QTest::newRow("in the middle") << qint64(30'000);
}

void DownloadTest::silentServer()
{
    QFETCH(const qint64, after);
    Page page{m_body};
    page.isSilent = after < 0;
    page.silentAfter = after;
    m_server.set("/set.zip", page);
    DownloadRequest wanted = request();
    wanted.silence = std::chrono::milliseconds(150);
    const auto file = download(wanted);
    QVERIFY(!file.ok());
    QCOMPARE(file.error().name, QLatin1String(errors::TimeoutOccurred));
    QVERIFY2(file.error().sentence().contains(QLatin1String("0.15 s")), qPrintable(file.error().sentence()));
    QCOMPARE(isClean(), after < 0);
    m_server.set("/set.zip", {m_body});
    TW_VERIFY(download(request()));
    QCOMPARE(ranges().last(), QByteArray(after < 0 ? "" : "30000"));
}

void DownloadTest::cancel_data()
{
    silentServer_data();
}

void DownloadTest::cancel()
{
    QFETCH(const qint64, after);
    Page page{m_body};
    page.isSilent = after < 0;
    page.silentAfter = after;
    m_server.set("/set.zip", page);
    StopToken stop;
    DownloadRequest wanted = request();
    wanted.stop = &stop;
    std::thread later([&] {
        while (m_server.requests().isEmpty())
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        stop.cancel = true;
    });
    const auto file = download(wanted);
    later.join();
    QVERIFY(!file.ok());
    QCOMPARE(file.error().name, QLatin1String(errors::Canceled));
    QVERIFY(!fs::exists(place() / "set.zip"));
}

void DownloadTest::noRightToWrite()
{
    const fs::path file = root() / "a file";
    writeBytes(file, "x");
    DownloadRequest wanted = request();
    wanted.cacheFolder = file;
    const auto failed = download(wanted);
    QVERIFY(!failed.ok());
    QCOMPARE(failed.error().name, QLatin1String(errors::FailedToWriteOutputs));
    QVERIFY(failed.error().sentence().contains(displayPath(file)));
}

void DownloadTest::fullDisk()
{
    const fs::path disk = root() / "disk";
    fs::create_directories(disk);
    if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0)
        QSKIP("not allowed to mount a small disk");
    QStringList faults;
    for (const bool saysLength : {true, false}) {
        Page page{m_body};
        page.saysLength = saysLength;
        m_server.set("/set.zip", page);
        DownloadRequest wanted = request();
        wanted.cacheFolder = disk;
        const auto failed = download(wanted);
        faults.append(failed.ok() ? QStringLiteral("none") : failed.error().toString());
        if (!fs::is_empty(disk / "downloads"))
            faults.append(QStringLiteral("something stayed"));
    }
    ::umount2(disk.c_str(), MNT_DETACH);
    QCOMPARE(faults.size(), 2);
    for (const QString &fault : faults)
        QVERIFY2(fault.startsWith(QLatin1String(errors::FailedToWriteOutputs)), qPrintable(fault));
    QVERIFY2(faults[0].contains(QString::number(m_body.size())), qPrintable(faults[0])); // before anything came
}

void DownloadTest::twoAtOnce()
{
    Page page{m_body};
    page.pieceBytes = 10'000;
    m_server.set("/set.zip", page);
    QStringList faults[4];
    std::vector<std::thread> threads;
    std::atomic<int> fetched{0};
    for (QStringList &fault : faults)
        threads.emplace_back([&] {
            const auto file = download(request());
            if (!file.ok())
                fault.append(file.error().toString());
            else
                fetched += file->wasThere ? 0 : 1;
        });
    for (std::thread &thread : threads)
        thread.join();
    for (const QStringList &fault : faults)
        QCOMPARE(fault, QStringList());
    QCOMPARE(fetched.load(), 1);
    QCOMPARE(m_server.requests().size(), 1);
    QCOMPARE(contentOf(place() / "set.zip"), m_body);
}

void DownloadTest::progressTells()
{
    DownloadRequest wanted = request();
    DownloadProgress last;
    wanted.progress = [&](const DownloadProgress &progress) { last = progress; };
    TW_VERIFY(download(wanted));
    QCOMPARE(last.done, qint64(m_body.size()));
    QCOMPARE(last.total, qint64(m_body.size()));
    QCOMPARE(downloadText({12'340'000, 100'000'000, 4.5e6}), QStringLiteral("downloaded 12.3 of 100.0 MB · 4.5 MB/s"));
    QCOMPARE(downloadText({12'340'000, -1, 0}), QStringLiteral("downloaded 12.3 MB · 0.0 MB/s"));
}

QTEST_GUILESS_MAIN(DownloadTest)
#include "tst_download.moc"

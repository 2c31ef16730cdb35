// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/pretrainedfiles.h"
#include "tests/core/data/httpserver.h"
#include "tests/support/testsupport.h"

#include <QCryptographicHash>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <thread>

using namespace tw;
using namespace tw::test;

/// Where published weights are looked for, and how they come from a server (one of this machine).
class TestPretrainedFiles : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();
    void folders_data();
    void folders();
    void firstFolderWins();
    void otherBytes_data();
    void otherBytes();
    void changedSince();
    void onlyFilesCount();
    void addresses_data();
    void addresses();
    void arrives_data();
    void arrives();
    void goesOnInALaterCall();
    void failures_data();
    void failures();
    void cancel();
    void noAddress();
    void noRightToWrite();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    fs::path hub() const { return root() / "hub-home" / "hub" / "checkpoints"; }
    fs::path own() const { return root() / "cache" / "trainwright" / "weights"; }
    fs::path setup() const { return root() / "deps" / "weights"; }
    void lay(const fs::path &folder, const QByteArray &bytes) const;
    QByteArray content(const fs::path &file) const;
    /// Nothing that looks like the file or a part of it.
    bool isClean(const fs::path &folder) const;

    HttpServer m_server;
    std::unique_ptr<QTemporaryDir> m_folder;
    QByteArray m_body;
    PretrainedWeights m_weights;
};

void TestPretrainedFiles::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_body.clear();
    for (int i = 0; i < 30'000; ++i)
        m_body += QByteArray::number(i) + ' ';
    const QByteArray hash = QCryptographicHash::hash(m_body, QCryptographicHash::Sha256).toHex();
    m_weights = {};
    m_weights.architecture = "toynet";
    m_weights.hashPrefix = hash.left(8);
    m_weights.fileName = "toynet-" + m_weights.hashPrefix + ".pth";
    m_weights.megabytes = double(m_body.size()) / 1e6;
    m_weights.address = "https://example.invalid/models/" + m_weights.fileName;
    qputenv("TORCH_HOME", QByteArray::fromStdString((root() / "hub-home").native()));
    qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((root() / "cache").native()));
    qputenv("TRAINWRIGHT_DEPS", QByteArray::fromStdString((root() / "deps").native()));
    qputenv("TRAINWRIGHT_WEIGHTS_URL", m_server.address("/models/"));
    m_server.forget();
    m_server.set("/models/" + m_weights.fileName.toLatin1(), {m_body});
}

void TestPretrainedFiles::cleanup()
{
    for (const char *name : {"TORCH_HOME", "XDG_CACHE_HOME", "TRAINWRIGHT_DEPS", "TRAINWRIGHT_WEIGHTS_URL"})
        qunsetenv(name);
}

void TestPretrainedFiles::lay(const fs::path &folder, const QByteArray &bytes) const
{
    fs::create_directories(folder);
    std::ofstream(folder / m_weights.fileName.toStdString(), std::ios::binary).write(bytes.constData(), bytes.size());
}

QByteArray TestPretrainedFiles::content(const fs::path &file) const
{
    QFile in(QString::fromStdString(file.native()));
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

bool TestPretrainedFiles::isClean(const fs::path &folder) const
{
    std::error_code absent;
    for (fs::directory_iterator entry(folder, absent), last; !absent && entry != last; ++entry)
        if (entry->path().filename().native().find("toynet") != std::string::npos)
            return false;
    return true;
}

void TestPretrainedFiles::folders_data()
{
    QTest::addColumn<QByteArray>("torchHome");
    QTest::addColumn<QByteArray>("cacheHome");
    QTest::addColumn<QByteArray>("hub");
    QTest::addColumn<QByteArray>("own");
    QTest::newRow("TORCH_HOME") << QByteArray("/t") << QByteArray("/c") << QByteArray("/t/hub/checkpoints")
                                << QByteArray("/c/trainwright/weights");
    QTest::newRow("XDG_CACHE_HOME") << QByteArray() << QByteArray("/c") << QByteArray("/c/torch/hub/checkpoints")
                                    << QByteArray("/c/trainwright/weights");
    QTest::newRow("neither") << QByteArray() << QByteArray() << QByteArray("/h/.cache/torch/hub/checkpoints")
                             << QByteArray("/h/.cache/trainwright/weights");
    QTest::newRow("home") << QByteArray("~/t") << QByteArray() << QByteArray("/h/t/hub/checkpoints")
                          << QByteArray("/h/.cache/trainwright/weights");
}

void TestPretrainedFiles::folders()
{
    QFETCH(QByteArray, torchHome);
    QFETCH(QByteArray, cacheHome);
    QFETCH(QByteArray, hub);
    QFETCH(QByteArray, own);
    const QByteArray home = qgetenv("HOME");
    qputenv("HOME", "/h");
    torchHome.isEmpty() ? qunsetenv("TORCH_HOME") : qputenv("TORCH_HOME", torchHome);
    cacheHome.isEmpty() ? qunsetenv("XDG_CACHE_HOME") : qputenv("XDG_CACHE_HOME", cacheHome);
    const std::vector<fs::path> folders = pretrainedFolders();
    qunsetenv("TRAINWRIGHT_DEPS");
    const std::vector<fs::path> usual = pretrainedFolders();
    qputenv("HOME", home);
    QCOMPARE(folders.size(), std::size_t(3));
    QCOMPARE(folders[0], fs::path(hub.toStdString()));
    QCOMPARE(folders[1], fs::path(own.toStdString()));
    QCOMPARE(folders[2], setup());
    QVERIFY(usual.size() >= 2 && usual.back().is_absolute() && usual.back().filename() == "weights");
}

void TestPretrainedFiles::firstFolderWins()
{
    const auto none = findPretrainedFile(m_weights);
    TW_VERIFY(none);
    QVERIFY(!*none);
    for (const fs::path &folder : {setup(), own(), hub()}) {
        lay(folder, m_body);
        const auto found = findPretrainedFile(m_weights);
        TW_VERIFY(found);
        QVERIFY(*found);
        QCOMPARE((*found)->path, folder / m_weights.fileName.toStdString());
        QVERIFY((*found)->sha256.startsWith(m_weights.hashPrefix) && (*found)->sha256.size() == 64);
        const auto obtained = obtainPretrainedFile(m_weights, {});
        TW_VERIFY(obtained);
        QCOMPARE(obtained->path, (*found)->path);
        QVERIFY(!obtained->isDownloaded);
    }
    QVERIFY(m_server.requests().isEmpty());
}

void TestPretrainedFiles::otherBytes_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("cut short") << QByteArray(1000, '7');
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("another page") << QByteArray("<html>please log in</html>");
}

/// Nobody's file is replaced or taken for the right one.
void TestPretrainedFiles::otherBytes()
{
    QFETCH(QByteArray, bytes);
    for (const fs::path &folder : {hub(), own()}) {
        lay(folder, bytes);
        const fs::path file = folder / m_weights.fileName.toStdString();
        const auto found = findPretrainedFile(m_weights);
        const auto obtained = obtainPretrainedFile(m_weights, {});
        QVERIFY(!found.ok() && !obtained.ok());
        for (const Error &error : {found.error(), obtained.error()}) {
            QCOMPARE(error.name, QLatin1String(errors::InvalidModelDirectory));
            QVERIFY2(error.sentence().contains(displayPath(file)), qPrintable(error.sentence()));
            QVERIFY(error.sentence().contains(QString::fromLatin1(m_weights.hashPrefix)));
            const QByteArray hash = QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex();
            QVERIFY(error.sentence().contains(QString::fromLatin1(hash)));
            QVERIFY(!error.hintSentence().isEmpty());
        }
        QCOMPARE(content(file), bytes);
        fs::remove(file);
    }
    // A right one in a later folder is taken all the same.
    lay(hub(), bytes);
    lay(setup(), m_body);
    const auto found = findPretrainedFile(m_weights);
    TW_VERIFY(found);
    QVERIFY(*found);
    QCOMPARE((*found)->path.parent_path(), setup());
    QVERIFY(m_server.requests().isEmpty());
}

/// The hash is remembered, but not that of other bytes of the same length.
void TestPretrainedFiles::changedSince()
{
    lay(hub(), m_body);
    TW_VERIFY(findPretrainedFile(m_weights));
    QByteArray other = m_body;
    other[100] = '#';
    lay(hub(), other);
    QVERIFY(!findPretrainedFile(m_weights).ok());
    lay(hub(), m_body);
    TW_VERIFY(findPretrainedFile(m_weights));
}

void TestPretrainedFiles::onlyFilesCount()
{
    fs::create_directories(hub() / m_weights.fileName.toStdString());
    lay(own(), m_body);
    const auto found = findPretrainedFile(m_weights);
    TW_VERIFY(found);
    QVERIFY(*found);
    QCOMPARE((*found)->path.parent_path(), own());
}

void TestPretrainedFiles::addresses_data()
{
    QTest::addColumn<QByteArray>("mirror");
    QTest::addColumn<QString>("address");
    QTest::newRow("published") << QByteArray() << "https://example.invalid/models/NAME";
    QTest::newRow("mirror") << QByteArray("http://10.0.0.1/w") << "http://10.0.0.1/w/NAME";
    QTest::newRow("mirror, slashes") << QByteArray("https://host/w//") << "https://host/w/NAME";
    QTest::newRow("no address") << QByteArray("/srv/weights") << "";
    QTest::newRow("another scheme") << QByteArray("ftp://host/w") << "";
}

void TestPretrainedFiles::addresses()
{
    QFETCH(QByteArray, mirror);
    QFETCH(QString, address);
    mirror.isEmpty() ? qunsetenv("TRAINWRIGHT_WEIGHTS_URL") : qputenv("TRAINWRIGHT_WEIGHTS_URL", mirror);
    const auto url = pretrainedAddress(m_weights);
    QCOMPARE(url.ok(), !address.isEmpty());
    if (url.ok()) {
        QCOMPARE(url->toString(), address.replace("NAME", m_weights.fileName));
        return;
    }
    QCOMPARE(url.error().name, QLatin1String(errors::InvalidModelDirectory));
    QVERIFY(url.error().sentence().contains("TRAINWRIGHT_WEIGHTS_URL"));
    QVERIFY(url.error().sentence().contains(QString::fromLatin1(mirror)));
}

void TestPretrainedFiles::arrives_data()
{
    QTest::addColumn<int>("piece");
    QTest::addColumn<qint64>("cutAfter");
    QTest::addColumn<int>("requests");
    QTest::newRow("at once") << 0 << qint64(-1) << 1;
    QTest::newRow("slowly") << 10'000 << qint64(-1) << 1;
    QTest::newRow("cut once") << 0 << qint64(50'000) << 2;
}

void TestPretrainedFiles::arrives()
{
    QFETCH(int, piece);
    QFETCH(qint64, cutAfter);
    QFETCH(int, requests);
    Page page{m_body};
    page.pieceBytes = piece;
    page.cutAfter = cutAfter;
    page.cuts = 1;
    page.tag = "\"one\"";
    m_server.set("/models/" + m_weights.fileName.toLatin1(), page);
    int reports = 0;
    QUrl from;
    DownloadProgress last;
    PretrainedRequest request;
    request.begins = [&](const QUrl &address) { from = address; };
    request.progress = [&](const DownloadProgress &progress) {
        ++reports;
        last = progress;
    };
    const auto file = obtainPretrainedFile(m_weights, request);
    TW_VERIFY(file);
    QVERIFY(file->isDownloaded);
    QCOMPARE(file->path, own() / m_weights.fileName.toStdString());
    QCOMPARE(content(file->path), m_body);
    QVERIFY(file->sha256.startsWith(m_weights.hashPrefix));
    QCOMPARE(from.toString().toLatin1(), m_server.address("/models/" + m_weights.fileName.toLatin1()));
    QVERIFY(reports > 0 && last.done == m_body.size() && last.total == m_body.size());
    QVERIFY(m_server.requests().size() >= requests);
    QVERIFY(!fs::exists(hub()));
    m_server.forget();
    const auto again = obtainPretrainedFile(m_weights, {});
    TW_VERIFY(again);
    QVERIFY(!again->isDownloaded && m_server.requests().isEmpty());
}

/// What came before a person stopped it is not fetched twice.
void TestPretrainedFiles::goesOnInALaterCall()
{
    Page page{m_body};
    page.tag = "\"one\"";
    page.silentAfter = 60'000;
    m_server.set("/models/" + m_weights.fileName.toLatin1(), page);
    StopToken stop;
    PretrainedRequest request;
    request.stop = &stop;
    request.progress = [&](const DownloadProgress &) { stop.cancel = true; };
    const auto stopped = obtainPretrainedFile(m_weights, request);
    QVERIFY(!stopped.ok());
    QCOMPARE(stopped.error().name, QLatin1String(errors::Canceled));
    QVERIFY(!fs::exists(own() / m_weights.fileName.toStdString()));
    m_server.forget();
    page.silentAfter = -1;
    m_server.set("/models/" + m_weights.fileName.toLatin1(), page);
    const auto file = obtainPretrainedFile(m_weights, {});
    TW_VERIFY(file);
    QCOMPARE(content(file->path), m_body);
    QCOMPARE(m_server.requests().size(), 1);
    QVERIFY(m_server.requests().first().contains("Range: bytes="));
}

void TestPretrainedFiles::failures_data()
{
    QTest::addColumn<QString>("case_");
    QTest::addColumn<QString>("said");
    QTest::newRow("not found") << "404"
                               << "404";
    QTest::newRow("fault of the server") << "500"
                                         << "500";
    QTest::newRow("other bytes") << "hash"
                                 << "should begin with";
    QTest::newRow("silent") << "silent"
                            << "has sent nothing";
    QTest::newRow("no server") << "offline"
                               << "cannot be reached";
}

/// Each says which file to put where, and leaves nothing.
void TestPretrainedFiles::failures()
{
    QFETCH(QString, case_);
    QFETCH(QString, said);
    Page page{m_body};
    if (case_ == "404" || case_ == "500")
        page.status = case_.toInt();
    if (case_ == "hash")
        page.body = "weights of another network";
    page.isSilent = case_ == "silent";
    m_server.set("/models/" + m_weights.fileName.toLatin1(), page);
    if (case_ == "offline")
        qputenv("TRAINWRIGHT_WEIGHTS_URL", "http://127.0.0.1:1/models");
    PretrainedRequest request;
    request.silence = std::chrono::milliseconds(100);
    const auto file = obtainPretrainedFile(m_weights, request);
    QVERIFY(!file.ok());
    const Error &error = file.error();
    QCOMPARE(error.name, QLatin1String(errors::InvalidModelDirectory));
    QVERIFY2(error.sentence().contains(said), qPrintable(error.sentence()));
    QVERIFY(error.sentence().contains("toynet"));
    for (const QString &needed : {m_weights.fileName, displayPath(own()), displayPath(hub()), m_weights.address})
        QVERIFY2(error.hintSentence().contains(needed), qPrintable(error.hintSentence()));
    QVERIFY(isClean(own()));
}

void TestPretrainedFiles::cancel()
{
    Page page{m_body};
    page.isSilent = true;
    m_server.set("/models/" + m_weights.fileName.toLatin1(), page);
    StopToken stop;
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        stop.cancel = true;
    });
    PretrainedRequest request;
    request.stop = &stop;
    const auto file = obtainPretrainedFile(m_weights, request);
    later.join();
    QVERIFY(!file.ok());
    QCOMPARE(file.error().name, QLatin1String(errors::Canceled));
    QVERIFY(isClean(own()));
}

void TestPretrainedFiles::noAddress()
{
    m_weights.address.clear();
    m_weights.package = "toynet-model";
    qunsetenv("TRAINWRIGHT_WEIGHTS_URL");
    const auto file = obtainPretrainedFile(m_weights, {});
    QVERIFY(!file.ok());
    QCOMPARE(file.error().name, QLatin1String(errors::InvalidModelDirectory));
    QVERIFY(file.error().sentence().contains(m_weights.fileName));
    for (const QString &needed : {m_weights.fileName, displayPath(own()), m_weights.package})
        QVERIFY2(file.error().hintSentence().contains(needed), qPrintable(file.error().hintSentence()));
    // A mirror may have what nobody publishes.
    qputenv("TRAINWRIGHT_WEIGHTS_URL", m_server.address("/models"));
    TW_VERIFY(obtainPretrainedFile(m_weights, {}));
}

void TestPretrainedFiles::noRightToWrite()
{
    std::ofstream(root() / "cache") << "a file where the cache folder should be";
    const auto file = obtainPretrainedFile(m_weights, {});
    QVERIFY(!file.ok());
    QCOMPARE(file.error().name, QLatin1String(errors::FailedToWriteOutputs));
}

QTEST_GUILESS_MAIN(TestPretrainedFiles)
#include "tst_pretrainedfiles.moc"

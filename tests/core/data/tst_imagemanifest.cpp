// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/imagemanifest.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

using namespace tw;
using namespace tw::test;

namespace {

ImageManifest sample()
{
    ImageManifest manifest;
    manifest.root = "/data/set";
    manifest.categories = {"a", "quote\"q", "bad\xff"};
    manifest.add("a/1.png", 0, 10, 1'700'000'000'123'456'789);
    manifest.add("quote\"q/back\\slash.png", 1, 20, -5);
    manifest.add("bad\xff/x.png", 2, 0, 0);
    manifest.add("\xc3\xa9/new\nline.png", -1, 30, 7);
    manifest.computeFingerprint();
    return manifest;
}

void compare(const ImageManifest &found, const ImageManifest &expected)
{
    QCOMPARE(found.size(), expected.size());
    QCOMPARE(found.root.native(), expected.root.native());
    QVERIFY(found.storage == expected.storage);
    QVERIFY(found.categories == expected.categories);
    QVERIFY(found.transforms == expected.transforms);
    QCOMPARE(found.transformsForTraining, expected.transformsForTraining);
    QCOMPARE(found.skipUnreadable, expected.skipUnreadable);
    QCOMPARE(found.fingerprint, expected.fingerprint);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        QCOMPARE(std::string(found.path(i)), std::string(expected.path(i)));
        QCOMPARE(found.category(i), expected.category(i));
        QCOMPARE(found.bytes(i), expected.bytes(i));
        QCOMPARE(found.mtimeNs(i), expected.mtimeNs(i));
    }
}

QList<QByteArray> linesOf(const fs::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    return QByteArray::fromStdString(text).split('\n');
}

} // namespace

class ImageManifestTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void roundTrip();
    void roundTripIdx();
    void linesAreTheContract();
    void membersAndKeys();
    void readsOtherJson();
    void unreadablePolicy();
    void imagesOfAJobMoveWithIt();
    void refusesBrokenFiles_data();
    void refusesBrokenFiles();
    void fingerprintIgnoresOrder();
    void subsetKeepsOrderAndNames();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()) / "port"; }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void ImageManifestTest::roundTrip()
{
    ImageManifest manifest = sample();
    manifest.transforms = TransformList{{TransformOp::Kind::Resize, 256}, {TransformOp::Kind::RandomHorizontalFlip}};
    manifest.transformsForTraining = true;
    manifest.skipUnreadable = false;
    TW_VERIFY(manifest.write(root()));
    const auto found = ImageManifest::read(root());
    TW_VERIFY(found);
    compare(*found, manifest);
}

void ImageManifestTest::roundTripIdx()
{
    ImageManifest manifest;
    manifest.storage = ImageManifest::Storage::Idx;
    manifest.root = "/data/train-images-idx3-ubyte.gz";
    manifest.categories = {"0", "1"};
    for (int i = 0; i < 1000; ++i)
        manifest.add(std::to_string(i), i % 2, 784, 3);
    manifest.computeFingerprint();
    TW_VERIFY(manifest.write(root()));
    const auto found = ImageManifest::read(root());
    TW_VERIFY(found);
    compare(*found, manifest);
    QCOMPARE(found->displayName(12), std::string("/data/train-images-idx3-ubyte.gz#12"));
}

void ImageManifestTest::linesAreTheContract()
{
    TW_VERIFY(sample().write(root()));
    const QList<QByteArray> lines = linesOf(root() / "images.jsonl");
    QCOMPARE(lines[0],
             QByteArray(R"({"path":"a/1.png","category":0,"bytes":10,"mtime_ns":1700000000123456789,"key":null})"));
    for (int i = 0; i < 4; ++i)
        QVERIFY(QJsonDocument::fromJson(lines[i]).isObject());
    QVERIFY(QJsonDocument::fromJson(lines[2])
                .object()
                .value(QStringLiteral("path"))
                .toObject()
                .value(QStringLiteral("raw"))
                .toBool());
    QVERIFY(QJsonDocument::fromJson(lines[3]).object().value(QStringLiteral("category")).isNull());
    const QJsonObject head = QJsonDocument::fromJson(linesOf(root() / "image_directory.json")[0]).object();
    for (const char *key : {"format", "version", "root", "categories", "transforms", "count", "fingerprint"})
        QVERIFY2(head.contains(QLatin1String(key)), key);
    QCOMPARE(head.value(QStringLiteral("count")).toInt(), 4);
}

void ImageManifestTest::membersAndKeys()
{
    ImageManifest manifest;
    manifest.storage = ImageManifest::Storage::Zip;
    manifest.root = "/data/set.zip";
    manifest.unpacked = "/cache/x/archive.tar";
    manifest.categories = {"a"};
    manifest.add("set/a/1.png", 0, 10, 5);
    manifest.add("set/a/\xff.png", 0, 11, 5);
    manifest.setKey(0, std::string(ImageManifest::KeyBytes, '\x5a'));
    manifest.computeFingerprint();
    TW_VERIFY(manifest.write(root()));
    const QList<QByteArray> lines = linesOf(root() / "images.jsonl");
    QCOMPARE(lines[0], R"({"path":"set.zip","member":"set/a/1.png","category":0,"bytes":10,"mtime_ns":5,"key":")"
                           + QByteArray("5a").repeated(32) + "\"}");
    const auto found = ImageManifest::read(root());
    TW_VERIFY(found);
    compare(*found, manifest);
    QCOMPARE(found->unpacked, manifest.unpacked);
    QCOMPARE(std::string(found->key(0)), std::string(32, '\x5a'));
    QVERIFY(found->key(1).empty());
    QCOMPARE(found->subset({1, 0}).key(1), found->key(0));
    QCOMPARE(found->displayName(0), std::string("/data/set.zip/set/a/1.png"));
}

void ImageManifestTest::readsOtherJson()
{
    TW_VERIFY(sample().write(root()));
    QList<QByteArray> lines = linesOf(root() / "images.jsonl");
    lines[0] =
        R"({ "category": 0, "key": "k", "mtime_ns": 1700000000123456789, "bytes": 10, "path": "a\/1.png", "new": 1 })";
    writeBytes(root() / "images.jsonl", lines.join('\n'));
    const auto found = ImageManifest::read(root());
    TW_VERIFY(found);
    compare(*found, sample());
}

void ImageManifestTest::unreadablePolicy()
{
    ImageManifest manifest = sample();
    manifest.skipUnreadable = false;
    QVERIFY(!manifest.subset({0}).skipUnreadable);
    TW_VERIFY(manifest.write(root()));
    const fs::path head = root() / "image_directory.json";
    const QByteArray text = linesOf(head)[0], key = "\"on_unreadable\":\"fail\",";
    QVERIFY2(text.contains(key), text.constData());
    writeBytes(head, QByteArray(text).replace(key, QByteArray())); // as before the key
    const auto older = ImageManifest::read(root());
    TW_VERIFY(older);
    QVERIFY(older->skipUnreadable);
    writeBytes(head, QByteArray(text).replace("\"fail\"", "\"perhaps\""));
    const auto odd = ImageManifest::read(root());
    QVERIFY(!odd.ok());
    QVERIFY(odd.error().sentence().contains(QStringLiteral("perhaps")));
}

// Another job takes over the outputs of a node; then the first one is deleted.
void ImageManifestTest::imagesOfAJobMoveWithIt()
{
    const fs::path base = root().parent_path(), first = base / "one", second = base / "two";
    const fs::path images = "nodes/apply/outputs/image_directory", part = "nodes/split/outputs/image_directory1";
    fs::create_directories(first / images / "a");
    ImageManifest manifest = sample();
    manifest.root = first / images;
    TW_VERIFY(manifest.write(first / part));
    TW_VERIFY(manifest.write(first / images));
    fs::copy(first, second, fs::copy_options::recursive);
    fs::copy(first / part, base / "exported");
    QCOMPARE(ImageManifest::read(first / part)->root, first / images);
    QCOMPARE(ImageManifest::read(second / part)->root, second / images);
    QCOMPARE(ImageManifest::read(second / images)->root, second / images);
    QCOMPARE(ImageManifest::read(base / "exported")->root, first / images);
    fs::remove_all(first);
    QCOMPARE(ImageManifest::read(second / part)->root, second / images);
    // Images of a person's own folder stay where they are.
    manifest.root = base / "data";
    TW_VERIFY(manifest.write(second / part));
    fs::rename(second, base / "three");
    QCOMPARE(ImageManifest::read(base / "three" / part)->root, base / "data");
}

void ImageManifestTest::refusesBrokenFiles_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QString>("named");
    QTest::newRow("no json") << QByteArray("garbage") << QStringLiteral("Line 2");
    QTest::newRow("unknown category") << QByteArray(
        R"({"path":"a/2.png","category":3,"bytes":1,"mtime_ns":1,"key":null})")
                                      << QStringLiteral("Line 2");
    QTest::newRow("negative category") << QByteArray(
        R"({"path":"a/2.png","category":-2,"bytes":1,"mtime_ns":1,"key":null})")
                                       << QStringLiteral("Line 2");
    QTest::newRow("index in a folder") << QByteArray(
        R"({"path":"a/2.png","index":3,"category":0,"bytes":1,"mtime_ns":1,"key":null})")
                                       << QStringLiteral("Line 2");
    QTest::newRow("no path") << QByteArray(R"({"category":0,"bytes":1,"mtime_ns":1})") << QStringLiteral("Line 2");
    QTest::newRow("number too large") << QByteArray(
        R"({"path":"a","category":99999999999999999999,"bytes":1,"mtime_ns":1,"key":null})")
                                      << QStringLiteral("Line 2");
    QTest::newRow("one line less") << QByteArray() << QStringLiteral("images.jsonl");
}

void ImageManifestTest::refusesBrokenFiles()
{
    QFETCH(const QByteArray, line);
    QFETCH(const QString, named);
    TW_VERIFY(sample().write(root()));
    QList<QByteArray> lines = linesOf(root() / "images.jsonl");
    if (line.isEmpty())
        lines.removeAt(1);
    else
        lines[1] = line;
    writeBytes(root() / "images.jsonl", lines.join('\n'));
    const auto found = ImageManifest::read(root());
    QVERIFY(!found.ok());
    QCOMPARE(found.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(found.error().sentence().contains(named), qPrintable(found.error().sentence()));
}

void ImageManifestTest::fingerprintIgnoresOrder()
{
    const ImageManifest manifest = sample();
    QCOMPARE(manifest.subset({3, 1, 0, 2}).fingerprint, manifest.fingerprint);
    QVERIFY(manifest.subset({3, 1, 0}).fingerprint != manifest.fingerprint);
    ImageManifest changed;
    changed.categories = manifest.categories;
    for (std::size_t i = 0; i < manifest.size(); ++i)
        changed.add(manifest.path(i), manifest.category(i), manifest.bytes(i), manifest.mtimeNs(i) + (i == 2 ? 1 : 0));
    changed.computeFingerprint();
    QVERIFY(changed.fingerprint != manifest.fingerprint);
}

void ImageManifestTest::subsetKeepsOrderAndNames()
{
    const ImageManifest part = sample().subset({2, 0});
    QCOMPARE(part.size(), std::size_t(2));
    QCOMPARE(std::string(part.path(1)), std::string("a/1.png"));
    QCOMPARE(part.displayName(1), std::string("/data/set/a/1.png"));
    QVERIFY(part.counts() == (std::vector<std::int64_t>{1, 0, 1}));
    QVERIFY(part.isLabelled());
    QVERIFY(!sample().isLabelled());
}

QTEST_GUILESS_MAIN(ImageManifestTest)
#include "tst_imagemanifest.moc"

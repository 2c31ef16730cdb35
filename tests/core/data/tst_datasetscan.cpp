// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/data/datasetscan.h"
#include "core/data/imagereader.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

#include <sys/stat.h>
#include <zlib.h>

using namespace tw;
using namespace tw::test;

namespace {

QStringList samplesOf(const ImageManifest &manifest)
{
    QStringList out;
    for (std::size_t i = 0; i < manifest.size(); ++i)
        out.append(QStringLiteral("%1 %2")
                       .arg(QString::fromStdString(std::string(manifest.path(i))))
                       .arg(manifest.category(i)));
    return out;
}

QStringList namesOf(const std::vector<std::string> &names)
{
    QStringList out;
    for (const std::string &name : names)
        out.append(QString::fromStdString(name));
    return out;
}

QStringList textsOf(const QJsonValue &array)
{
    QStringList out;
    for (const QJsonValue &value : array.toArray())
        out.append(value.toString());
    return out;
}

bool mentions(const std::vector<std::string> &texts, const std::string &part)
{
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string &text) { return text.find(part) != std::string::npos; });
}

QByteArray gzip(const QByteArray &bytes)
{
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    QByteArray out(bytes.size() + 1000, '\0');
    QByteArray in = bytes;
    stream.next_in = reinterpret_cast<Bytef *>(in.data());
    stream.avail_in = uInt(in.size());
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = uInt(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(qsizetype(stream.total_out));
    deflateEnd(&stream);
    return out;
}

QByteArray contentOf(const fs::path &file)
{
    return readFile(file, errors::InvalidDataset).value();
}

} // namespace

class DatasetScanTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void cleanup() { fs::remove_all(root()); } // Qt cannot remove names that are not UTF-8
    void sharedCases_data();
    void sharedCases();
    void rules();
    void linksAndPipes();
    void unlabelled();
    void splitsLookLikeSplits();
    void nothingThere();
    void namesThatAreNotUtf8();
    void stops();
    void idxPair();
    void idxPacked();
    void idxProblems_data();
    void idxProblems();
    void idxClassNames();
    void fashionMnist();
    void verifyListsAndSkips();
    void verifyFails();
    void copiesAreNamed_data();
    void copiesAreNamed();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    void picture(const std::string &path) { writeBytes(root() / path, ppmOf(patternImage(2, 2, 1))); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void DatasetScanTest::sharedCases_data()
{
    const auto folder = casesFolder();
    if (!folder)
        QSKIP("not found: the shared cases");
    QTest::addColumn<QJsonObject>("item");
    const auto text = readFile(*folder / "expected.json", errors::InvalidDataset);
    TW_VERIFY(text);
    for (const QJsonValue &value : QJsonDocument::fromJson(*text).object()[QStringLiteral("cases")].toArray()) {
        const QJsonObject item = value.toObject();
        const bool hasSamples = item[QStringLiteral("expect")].toObject().contains(QStringLiteral("samples"));
        if (item[QStringLiteral("kind")].toString() == QLatin1String("data") && hasSamples)
            QTest::newRow(qPrintable(item[QStringLiteral("id")].toString())) << item;
    }
}

void DatasetScanTest::sharedCases()
{
    QFETCH(const QJsonObject, item);
    const fs::path source = *casesFolder() / item[QStringLiteral("path")].toString().toStdString();
    if (!fs::exists(source))
        QSKIP("not found: the case's folder");
    const fs::path copy = root() / "copy";
    fs::copy(source, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    for (const QString &name : textsOf(item[QStringLiteral("empty_folders")]))
        fs::create_directories(copy / name.toStdString());
    for (const QJsonValue &link : item[QStringLiteral("links")].toArray()) {
        const fs::path at = copy / link[0].toString().toStdString();
        fs::remove_all(at); // some copies of the cases hold files in place of links
        fs::create_symlink(link[1].toString().toStdString(), at);
    }
    const QJsonObject expect = item[QStringLiteral("expect")].toObject();
    const QStringList classes = textsOf(expect[QStringLiteral("classes")]);
    const QStringList empty = textsOf(expect[QStringLiteral("empty_classes")]);
    if (!empty.isEmpty()) {
        const auto refused = scanDataset(copy, {});
        QVERIFY(!refused.ok());
        for (const QString &name : empty)
            QVERIFY(refused.error().sentence().contains(name));
    }
    const auto scan = scanDataset(copy, {!empty.isEmpty(), {}});
    TW_VERIFY(scan);
    QCOMPARE(namesOf(scan->manifest.categories), classes);
    QCOMPARE(namesOf(scan->report.emptyClasses), empty);
    QStringList samples;
    for (const QJsonValue &sample : expect[QStringLiteral("samples")].toArray())
        samples.append(QStringLiteral("%1 %2").arg(sample[0].toString()).arg(sample[1].toInt()));
    const bool chosenWrong = classes.isEmpty();
    if (chosenWrong) {
        QVERIFY(!scan->manifest.isLabelled());
        QCOMPARE(int(scan->manifest.size()), expect[QStringLiteral("stray_root_files")].toInt());
        QVERIFY(mentions(scan->report.warnings, "no class folders"));
        return;
    }
    QCOMPARE(samplesOf(scan->manifest), samples);
    const auto stray = std::count_if(scan->report.ignoredFiles.begin(), scan->report.ignoredFiles.end(),
                                     [](const std::string &name) { return name.find('/') == std::string::npos; });
    QCOMPARE(int(stray), expect[QStringLiteral("stray_root_files")].toInt());
    if (expect[QStringLiteral("must_warn")].toBool()
        || expect[QStringLiteral("outcome")] == QLatin1String("warn_or_ask"))
        QVERIFY(!scan->report.warnings.empty());
    if (!expect.contains(QStringLiteral("usable")))
        return;
    auto verified = *scan;
    TW_VERIFY(verifyImages(verified, VerifyMode::Full, true, 2, nullptr, {}));
    QCOMPARE(int(verified.manifest.size()), expect[QStringLiteral("usable")].toInt());
    QStringList unreadable;
    for (const UnreadableImage &image : verified.report.unreadable)
        unreadable.append(QString::fromStdString(image.path));
    QCOMPARE(unreadable, textsOf(expect[QStringLiteral("unreadable")]));
}

void DatasetScanTest::rules()
{
    for (const char *path :
         {"b/2.PPM", "b/10.ppm", "b/deep/er/1.ppm", "B/1.ppm", "a.b/1.ppm", "a/1.ppm", "a/.hidden.ppm", "a/.git/x.ppm",
          "a/@eaDir/x.ppm", "__MACOSX/x.ppm", ".cache/x.ppm", "loose.ppm"})
        picture(path);
    writeBytes(root() / "a" / "Thumbs.db", "x");
    writeBytes(root() / "readme.txt", "x");
    fs::create_directories(root() / "a" / "folder.png");
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QCOMPARE(namesOf(scan->manifest.categories),
             (QStringList{QStringLiteral("B"), QStringLiteral("a"), QStringLiteral("a.b"), QStringLiteral("b")}));
    QCOMPARE(
        samplesOf(scan->manifest),
        (QStringList{QStringLiteral("B/1.ppm 0"), QStringLiteral("a/1.ppm 1"), QStringLiteral("a.b/1.ppm 2"),
                     QStringLiteral("b/10.ppm 3"), QStringLiteral("b/2.PPM 3"), QStringLiteral("b/deep/er/1.ppm 3")}));
    QCOMPARE(namesOf(scan->report.ignoredFiles),
             (QStringList{QStringLiteral("a/.hidden.ppm"), QStringLiteral("a/Thumbs.db"), QStringLiteral("loose.ppm"),
                          QStringLiteral("readme.txt")}));
    QCOMPARE(scan->report.skippedFolders.size(), std::size_t(4));
    QVERIFY(mentions(scan->report.warnings, "\"B\" and \"b\""));
    QVERIFY(scan->manifest.bytes(0) > 0 && scan->manifest.mtimeNs(0) > 0);
}

void DatasetScanTest::linksAndPipes()
{
    picture("a/1.ppm");
    picture("b/1.ppm");
    fs::create_symlink("..", root() / "a" / "up");
    fs::create_symlink("../b", root() / "a" / "other");
    fs::create_symlink("nowhere.ppm", root() / "b" / "gone.ppm");
    fs::create_symlink(".", root() / "self");
    QCOMPARE(::mkfifo((root() / "b" / "pipe.ppm").c_str(), 0600), 0);
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QCOMPARE(samplesOf(scan->manifest), (QStringList{QStringLiteral("a/1.ppm 0"), QStringLiteral("a/other/1.ppm 0"),
                                                     QStringLiteral("b/1.ppm 1")}));
    QVERIFY(mentions(scan->report.warnings, "b/gone.ppm"));
    QVERIFY(mentions(scan->report.ignoredFiles, "b/pipe.ppm"));
}

void DatasetScanTest::unlabelled()
{
    picture("1.ppm");
    picture("2.ppm");
    fs::create_directories(root() / ".thumbs");
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QCOMPARE(samplesOf(scan->manifest), (QStringList{QStringLiteral("1.ppm -1"), QStringLiteral("2.ppm -1")}));
    QVERIFY(!scan->manifest.isLabelled());
    QVERIFY(mentions(scan->report.warnings, "no class folders"));
}

void DatasetScanTest::splitsLookLikeSplits()
{
    picture("train/cat/1.ppm");
    picture("val/cat/1.ppm");
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QVERIFY(mentions(scan->report.warnings, "look like splits"));
    picture("other/cat/1.ppm");
    QVERIFY(!mentions(scanDataset(root(), {})->report.warnings, "look like splits"));
}

void DatasetScanTest::nothingThere()
{
    const auto isDatasetError = [](const Result<ScanResult> &scan, const QString &part) {
        return !scan.ok() && scan.error().name == QLatin1String(errors::InvalidDataset)
               && scan.error().sentence().contains(part);
    };
    QVERIFY(isDatasetError(scanDataset(root(), {}), QStringLiteral("No image")));
    QVERIFY(isDatasetError(scanDataset(root() / "gone", {}), QStringLiteral("gone")));
    writeBytes(root() / "a.zip", "PK");
    QVERIFY(isDatasetError(scanDataset(root() / "a.zip", {}), QStringLiteral("a.zip")));
    fs::create_directories(root() / "empty class");
    QVERIFY(isDatasetError(scanDataset(root(), {}), QStringLiteral("No image")));
    picture("full/1.ppm");
    QVERIFY(isDatasetError(scanDataset(root(), {}), QStringLiteral("empty class")));
    const auto allowed = scanDataset(root(), {true, {}});
    TW_VERIFY(allowed);
    QVERIFY(allowed->manifest.counts() == (std::vector<std::int64_t>{0, 1}));
}

void DatasetScanTest::namesThatAreNotUtf8()
{
    picture("bad\xff/1.ppm");
    picture("good/1.ppm");
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QCOMPARE(scan->manifest.categories.front(), std::string("bad\xff"));
    TW_VERIFY(scan->manifest.write(root() / "out"));
    const auto again = ImageManifest::read(root() / "out");
    TW_VERIFY(again);
    QCOMPARE(std::string(again->path(0)), std::string("bad\xff/1.ppm"));
}

void DatasetScanTest::stops()
{
    picture("a/1.ppm");
    StopToken stop;
    stop.cancel = true;
    QCOMPARE(scanDataset(root(), {}, &stop).error().name, QLatin1String(errors::Canceled));
    auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    QCOMPARE(verifyImages(*scan, VerifyMode::Full, true, 2, &stop, {}).error().name, QLatin1String(errors::Canceled));
}

void DatasetScanTest::idxPair()
{
    const fs::path images = writeIdxPair(root(), 7, 5, 4);
    for (const fs::path &path : {images, root()}) {
        auto scan = scanDataset(path, {});
        TW_VERIFY(scan);
        QCOMPARE(scan->manifest.size(), std::size_t(7));
        QCOMPARE(scan->manifest.root.native(), images.native());
        QCOMPARE(namesOf(scan->manifest.categories),
                 (QStringList{QStringLiteral("0"), QStringLiteral("1"), QStringLiteral("2")}));
        QCOMPARE(scan->manifest.category(4), 1);
        QCOMPARE(scan->manifest.bytes(4), std::int64_t(20));
        TW_VERIFY(verifyImages(*scan, VerifyMode::Full, true, 2, nullptr, {}));
        const auto reader = ImageReader::open(std::make_shared<const ImageManifest>(scan->manifest));
        TW_VERIFY(reader);
        const auto image = (*reader)->read(6);
        TW_VERIFY(image);
        QCOMPARE(image->width, 4);
        QCOMPARE(image->height, 5);
        QCOMPARE(image->pixels[3], patternImage(4, 5, 6).pixels[3]);
        QCOMPARE(image->pixels[5], image->pixels[3]);
    }
    writeBytes(root() / "more-images-idx3-ubyte", "x");
    const auto two = scanDataset(root(), {});
    QVERIFY(!two.ok());
    QVERIFY(two.error().sentence().contains(QStringLiteral("small-images"))
            && two.error().sentence().contains(QStringLiteral("more-images")));
}

void DatasetScanTest::idxPacked()
{
    const fs::path images = writeIdxPair(root(), 9, 3, 3);
    for (const char *name : {"small-images-idx3-ubyte", "small-labels-idx1-ubyte"}) {
        writeBytes(root() / (std::string(name) + ".gz"), gzip(contentOf(root() / name)));
        fs::remove(root() / name);
    }
    const auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    const auto manifest = std::make_shared<const ImageManifest>(scan->manifest);
    const auto reader = ImageReader::open(manifest), second = ImageReader::open(manifest);
    TW_VERIFY(reader);
    TW_VERIFY(second);
    ReadScratch scratch;
    const auto view = (*reader)->view(8, scratch), shared = (*second)->view(8, scratch);
    TW_VERIFY(view);
    QCOMPARE(view->data[1], patternImage(3, 3, 8).pixels[3]);
    QCOMPARE(shared->data, view->data);
    QByteArray packed = contentOf(manifest->root);
    packed[packed.size() - 6] = char(packed[packed.size() - 6] ^ 0x55);
    writeBytes(root() / "bad-images-idx3-ubyte.gz", packed);
    ImageManifest broken = scan->manifest;
    broken.root = root() / "bad-images-idx3-ubyte.gz";
    QCOMPARE(ImageReader::open(std::make_shared<const ImageManifest>(broken)).error().name,
             QLatin1String(errors::InvalidDataset));
}

void DatasetScanTest::idxProblems_data()
{
    QTest::addColumn<int>("place"); // byte of the images file to change; -1: cut, -2: no labels, -3: fewer labels
    QTest::addColumn<QString>("reason");
    QTest::newRow("magic") << 2 << QStringLiteral("does not start");
    QTest::newRow("dimensions") << 3 << QStringLiteral("dimensions");
    QTest::newRow("count") << 7 << QStringLiteral("header asks for");
    QTest::newRow("size") << 8 << QStringLiteral("impossible");
    QTest::newRow("cut") << -1 << QStringLiteral("header asks for");
    QTest::newRow("labels gone") << -2 << QStringLiteral("no labels file");
    QTest::newRow("labels short") << -3 << QStringLiteral("5 images");
}

void DatasetScanTest::idxProblems()
{
    QFETCH(const int, place);
    QFETCH(const QString, reason);
    const fs::path images = writeIdxPair(root(), 5, 4, 4);
    const fs::path labels = root() / "small-labels-idx1-ubyte";
    QByteArray bytes = contentOf(images);
    if (place >= 0)
        bytes[place] = char(bytes[place] + 2);
    else if (place == -1)
        bytes.chop(1);
    writeBytes(images, bytes);
    if (place == -2)
        fs::remove(labels);
    if (place == -3)
        writeBytes(labels, QByteArray::fromHex("0000080100000002"
                                               "0001"));
    const auto scan = scanDataset(images, {});
    QVERIFY(!scan.ok());
    QCOMPARE(scan.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(scan.error().sentence().contains(reason), qPrintable(scan.error().sentence()));
}

void DatasetScanTest::idxClassNames()
{
    const fs::path images = writeIdxPair(root(), 6, 4, 4);
    const auto named = scanDataset(images, {false, {"shoe", "coat", "bag", "hat"}});
    TW_VERIFY(named);
    QCOMPARE(named->manifest.categories.size(), std::size_t(4));
    QVERIFY(mentions(named->report.warnings, "hat"));
    QCOMPARE(scanDataset(images, {false, {"shoe", "coat"}}).error().name, QLatin1String(errors::InvalidDataset));
    QCOMPARE(scanDataset(images, {false, {"shoe", "coat", "shoe"}}).error().name, QLatin1String(errors::DuplicateName));
}

void DatasetScanTest::fashionMnist()
{
    const fs::path images = "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz";
    if (!fs::exists(images))
        QSKIP("not found: the Debian package dataset-fashion-mnist");
    const auto scan = scanDataset(images, {});
    TW_VERIFY(scan);
    QCOMPARE(scan->manifest.size(), std::size_t(60000));
    QVERIFY(scan->manifest.counts() == std::vector<std::int64_t>(10, 6000));
    const auto reader = ImageReader::open(std::make_shared<const ImageManifest>(scan->manifest));
    TW_VERIFY(reader);
    const auto last = (*reader)->read(59999);
    TW_VERIFY(last);
    QCOMPARE(last->width, 28);
    const auto pairs = scanDataset(images.parent_path(), {});
    QVERIFY(!pairs.ok());
    QVERIFY(pairs.error().sentence().contains(QStringLiteral("t10k-images-idx3-ubyte.gz")));
}

void DatasetScanTest::verifyListsAndSkips()
{
    for (const char *path : {"a/1.ppm", "a/2.ppm", "b/1.ppm"})
        picture(path);
    writeBytes(root() / "a" / "0.jpg", "");
    writeBytes(root() / "b" / "9.png", "not a picture");
    for (const VerifyMode mode : {VerifyMode::Full, VerifyMode::Header})
        for (const int workers : {1, 3}) {
            auto scan = scanDataset(root(), {});
            TW_VERIFY(scan);
            std::int64_t last = 0, total = 0;
            TW_VERIFY(verifyImages(*scan, mode, true, workers, nullptr, [&](std::int64_t done, std::int64_t all) {
                last = done;
                total = all;
            }));
            QCOMPARE(last, std::int64_t(5));
            QCOMPARE(total, std::int64_t(5));
            QCOMPARE(samplesOf(scan->manifest), (QStringList{QStringLiteral("a/1.ppm 0"), QStringLiteral("a/2.ppm 0"),
                                                             QStringLiteral("b/1.ppm 1")}));
            QCOMPARE(scan->report.unreadable.size(), std::size_t(2));
            QCOMPARE(scan->report.unreadable[0].path, std::string("a/0.jpg"));
            QCOMPARE(scan->report.unreadable[0].reason, std::string("the file is empty"));
        }
}

void DatasetScanTest::verifyFails()
{
    picture("a/1.ppm");
    writeBytes(root() / "b" / "1.png", "no");
    auto scan = scanDataset(root(), {});
    TW_VERIFY(scan);
    const auto failed = verifyImages(*scan, VerifyMode::Full, false, 2, nullptr, {});
    QCOMPARE(failed.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY(failed.error().sentence().contains(QStringLiteral("b/1.png")));
    writeBytes(root() / "a" / "1.ppm", "no");
    auto none = scanDataset(root(), {});
    TW_VERIFY(none);
    const auto nothing = verifyImages(*none, VerifyMode::Full, true, 2, nullptr, {});
    QCOMPARE(nothing.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY(nothing.error().sentence().contains(QStringLiteral("None of the 2 images")));
}

void DatasetScanTest::copiesAreNamed_data()
{
    const auto folder = casesFolder();
    if (!folder)
        QSKIP("not found: the shared cases");
    QTest::addColumn<QJsonObject>("item");
    const auto text = readFile(*folder / "expected.json", errors::InvalidDataset);
    TW_VERIFY(text);
    for (const QJsonValue &value : QJsonDocument::fromJson(*text).object()[QStringLiteral("cases")].toArray())
        if (value[QStringLiteral("expect")].toObject().contains(QStringLiteral("identical_bytes")))
            QTest::newRow(qPrintable(value[QStringLiteral("id")].toString())) << value.toObject();
}

void DatasetScanTest::copiesAreNamed()
{
    QFETCH(const QJsonObject, item);
    const QJsonObject expect = item[QStringLiteral("expect")].toObject();
    auto scan = scanDataset(*casesFolder() / item[QStringLiteral("path")].toString().toStdString(), {});
    TW_VERIFY(scan);
    TW_VERIFY(verifyImages(*scan, VerifyMode::Full, true, 2, nullptr, {}));
    for (const QJsonValue &group : expect[QStringLiteral("identical_bytes")].toArray()) {
        QStringList names;
        for (const QString &name : textsOf(group))
            names.append(QLatin1Char('"') + name + QLatin1Char('"'));
        QVERIFY2(mentions(scan->report.warnings, names.join(QStringLiteral(", ")).toStdString()), qPrintable(names[0]));
    }
    for (const QJsonValue &group : expect[QStringLiteral("identical_pixels_only")].toArray())
        QVERIFY(!mentions(scan->report.warnings, '"' + textsOf(group)[0].toStdString() + '"'));
}

QTEST_GUILESS_MAIN(DatasetScanTest)
#include "tst_datasetscan.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetscan.h"
#include "core/data/decode.h"
#include "core/data/imagereader.h"
#include "core/data/materialize.h"
#include "core/data/pngwriter.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <fstream>
#include <memory>

#include <sys/resource.h>

using namespace tw;
using namespace tw::test;
using Kind = TransformOp::Kind;

namespace {

/// No file of this program grows beyond a few bytes: what a full disk is to a writer.
class FullDisk
{
public:
    explicit FullDisk(rlim_t bytes)
    {
        m_handler = std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit small{bytes, m_before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    ~FullDisk()
    {
        setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_handler);
    }

private:
    rlimit m_before{};
    void (*m_handler)(int) = nullptr;
};

ImageManifest scanned(const fs::path &path)
{
    auto scan = scanDataset(path, {});
    if (!scan.ok())
        qFatal("%s", qPrintable(scan.error().toString()));
    return std::move(scan->manifest);
}

TransformOp sized(Kind kind, int size)
{
    TransformOp op = defaultOp(kind);
    op.size = size;
    return op;
}

MaterializeOptions with(const TransformList &list, int workers = 2)
{
    MaterializeOptions options;
    options.transforms = list;
    options.workers = workers;
    return options;
}

} // namespace

/// Pictures written as PNG files in class folders.
class MaterializeTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void pngRoundTrip_data();
    void pngRoundTrip();
    void pngsHoldThePixels_data();
    void pngsHoldThePixels();
    void seedsGiveVariants();
    void classFolders_data();
    void classFolders();
    void fullDiskLeavesNothing();
    void fileThatIsThereStays();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    fs::path out() const { return folder() / "out"; }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void MaterializeTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    fs::create_directories(out());
}

void MaterializeTest::pngRoundTrip_data()
{
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("channels");
    for (const int channels : {1, 3})
        for (const QSize size : {QSize(1, 1), QSize(40, 30), QSize(1, 500), QSize(700, 1)})
            QTest::addRow("%d x %d, %d", size.width(), size.height(), channels) << size << channels;
}

void MaterializeTest::pngRoundTrip()
{
    QFETCH(const QSize, size);
    QFETCH(const int, channels);
    const ImageBuffer image = patternImage(size.width() + 2, size.height(), 3);
    // A view whose rows lie further apart than they are long.
    const PixelView view{image.pixels.data(), size.width(), size.height(), channels,
                         std::size_t(size.width() + 2) * std::size_t(channels)};
    std::vector<std::uint8_t> bytes;
    TW_VERIFY(encodePng(view, bytes));
    const auto decoded = decodeImage(bytes, "x.png");
    TW_VERIFY(decoded);
    QVERIFY(*decoded == bufferOf(view));
}

void MaterializeTest::pngsHoldThePixels_data()
{
    QTest::addColumn<int>("workers");
    for (const int workers : {1, 4})
        QTest::addRow("%d workers", workers) << workers;
}

void MaterializeTest::pngsHoldThePixels()
{
    QFETCH(const int, workers);
    writeClassFolders(folder() / "set", 20, 31, 22);
    const auto manifest = std::make_shared<const ImageManifest>(scanned(folder() / "set"));
    TransformList list{sized(Kind::Resize, 16), defaultOp(Kind::ColorJitter), defaultOp(Kind::RandomAffine)};
    list.front().interpolation = Interpolation::Bicubic;
    const auto images = materializeImages(manifest, out(), with(list, workers));
    TW_VERIFY(images);
    QCOMPARE(images->manifest.size(), std::size_t(20));
    const auto written = std::make_shared<const ImageManifest>(images->manifest);
    const auto before = ImageReader::open(manifest), after = ImageReader::open(written);
    for (std::size_t i = 0; i < 20; ++i) {
        SampleRandom random(1, RandomPurpose::Augment, 0, std::uint32_t(i));
        const auto expected = applyTransforms(*(*before)->read(i), list, random, "x");
        TW_VERIFY(expected);
        QVERIFY(*(*after)->read(i) == *expected);
        QCOMPARE(written->category(i), manifest->category(i));
        const QByteArray name(written->path(i).data(), qsizetype(written->path(i).size()));
        QVERIFY2(name.endsWith(".png") && fs::file_size(out() / name.toStdString()) == std::size_t(written->bytes(i)),
                 name.constData());
    }
}

void MaterializeTest::classFolders_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("expected");
    const auto row = [](const char *tag, const QByteArray &name, const QByteArray &folderName) {
        QTest::newRow(tag) << name << folderName;
    };
    row("plain", "great white", "great white");
    row("slash", "a/b", "a%2Fb");
    row("percent", "50%", "50%25");
    row("dot", ".", "%2E");
    row("hidden", ".git", "%2Egit");
    row("line", "a\nb\x7f", "a%0Ab%7F");
    row("not UTF-8", "a\xE9", "a\xE9");
    row("empty", "", "%");
    row("our own file", "images.jsonl", "%69mages.jsonl");
}

void MaterializeTest::classFolders()
{
    QFETCH(const QByteArray, name);
    QFETCH(const QByteArray, expected);
    QCOMPARE(QByteArray::fromStdString(classFolderName(name.toStdString())), expected);
}

void MaterializeTest::fullDiskLeavesNothing()
{
    writeClassFolders(folder() / "set", 12, 40, 40);
    const auto manifest = std::make_shared<const ImageManifest>(scanned(folder() / "set"));
    const auto images = [&] {
        const FullDisk full(1000);
        return materializeImages(manifest, out(), with({}));
    }();
    QVERIFY(!images.ok());
    QCOMPARE(images.error().name, QLatin1String(errors::FailedToWriteOutputs));
    QVERIFY2(images.error().sentence().contains(QString::fromStdString(out().native())),
             qPrintable(images.error().sentence()));
    QVERIFY(fs::is_empty(out()));
}

void MaterializeTest::seedsGiveVariants()
{
    writeClassFolders(folder() / "set", 3, 31, 22);
    const auto manifest = std::make_shared<const ImageManifest>(scanned(folder() / "set"));
    std::vector<ImageBuffer> first;
    for (const std::uint64_t seed : {1U, 1U, 2U}) {
        const fs::path target = out() / std::to_string(first.size());
        fs::create_directories(target);
        MaterializeOptions options = with({defaultOp(Kind::RandomAffine)});
        options.seed = seed;
        const auto images = materializeImages(manifest, target, options);
        TW_VERIFY(images);
        const auto reader = ImageReader::open(std::make_shared<const ImageManifest>(images->manifest));
        first.push_back(*(*reader)->read(0));
    }
    QVERIFY(first[0] == first[1]);
    QVERIFY(!(first[0] == first[2]));
}

void MaterializeTest::fileThatIsThereStays()
{
    std::ofstream(out() / "x.png") << "mine";
    std::vector<std::uint8_t> scratch;
    const auto outcome = writePng(out() / "x.png", viewOf(patternImage(4, 4, 1)), scratch);
    QVERIFY(!outcome.ok());
    QCOMPARE(outcome.error().name, QLatin1String(errors::FailedToWriteOutputs));
    QVERIFY(outcome.error().sentence().contains(QStringLiteral("x.png")));
    QCOMPARE(fs::file_size(out() / "x.png"), std::uintmax_t(4));
}

QTEST_GUILESS_MAIN(MaterializeTest)
#include "tst_materialize.moc"
